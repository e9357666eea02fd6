"""The shipped run over fossil and MediaWiki, and whether its task files are those that are drawn."""

from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import stepmill

from stepmill_applications.__main__ import main as draw

pytestmark = [pytest.mark.browser, pytest.mark.timeout(3_000)]

SEEDS = 4


@pytest.mark.parametrize("name", ["fossil", "mediawiki"])
def test_the_shipped_tasks_are_those_that_are_drawn(name: str, tmp_path: Path) -> None:
    out = tmp_path / "tasks.jsonl"

    assert draw([name, f"--seeds={SEEDS}", f"--out={out}"]) == 0
    assert out.read_text() == (ROOT / "configs" / "apps" / f"{name}.jsonl").read_text()


@pytest.mark.parametrize("name", ["fossil", "mediawiki"])
def test_an_application_is_fit_for_runs(name: str) -> None:
    said = stepmill("sites", "check", name, "--config=configs/apps.toml")

    assert said.code == 0, said.out


def test_references_are_accepted_and_replayed(tmp_path: Path) -> None:
    said = stepmill(
        "generate",
        "--config=configs/apps.toml",
        f"--run={tmp_path}/run",
        "--no-prefect",
        "--json",
        seconds=2_400,  # 150 episodes
    )

    assert said.code == 0, said.err
    answer = {key: value for key, value in said.answer.items() if isinstance(value, int | float)}
    assert answer["episodes"] >= 2 * 12 * SEEDS
    assert answer["accepted"] >= 60
    assert answer["reproduced"] >= 0.95 * answer["episodes"]
