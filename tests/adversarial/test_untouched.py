"""What nobody touched is accepted: real episodes of teacher and clumsy, made by the shipped command.

`make test-full` makes more than 1,000 of them, over all templates.
"""

from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from effort import THOROUGH, TIMEOUT
from support.runs.commands import called

from generators.sites.miniwob import THRESHOLDS, template_paths

pytestmark = [pytest.mark.browser, pytest.mark.full, pytest.mark.timeout(TIMEOUT)]

TEMPLATES = (
    sorted(template_paths())
    if THOROUGH
    else ["click-checkboxes", "circle-center", "enter-text", "click-dialog-2"]
)
SEEDS = 8 if THOROUGH else 1

RUN = """
[[policies]]
name = "teacher"
share = 3.0

[[policies]]
name = "clumsy"
share = 1.0
"""
"""The policies of the demo."""


def _rows(dataset: Path, config: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = ds.dataset(dataset / "data" / config).to_table().to_pylist()
    return read


def test_untouched_episodes_that_the_site_calls_successful_are_accepted(tmp_path: Path) -> None:
    config, to = tmp_path / "run.toml", tmp_path / "to"
    config.write_text(RUN, encoding="utf-8")
    said = called(
        *("generate", "--json", "--no-prefect", f"--config={config}", f"--run={tmp_path / 'run'}"),
        *(f"--set=tasks.include={TEMPLATES}", f"--set=tasks.seeds=[0,{SEEDS - 1}]"),
        *(f"--set=publish.to=['{to}']", "--set=publish.include_rejected=true"),
    )
    assert said.code == 0, said.err
    tasks = {row["task_id"]: row["template_id"] for row in _rows(to, "tasks")}
    won, rejected = 0, []
    for row in _rows(to, "trajectories"):
        template = tasks[row["task_id"]]
        own = THRESHOLDS.get(template)
        least = 1.0 if own is None else own.reward
        if row["failure_kind"] is None and row["done"] and row["reward"] >= least:
            won += 1
            if not row["accepted"]:
                rejected.append(f"{template} {row['seed']}: {row['rejected_because']}")

    assert said.answer["episodes"] == len(TEMPLATES) * SEEDS
    assert won >= len(TEMPLATES) * SEEDS // 2
    assert len(rejected) <= won // 100, rejected
