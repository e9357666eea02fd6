"""A template with a continuous score: its threshold in the run, on every published row, on the card."""

import json
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from support.runs.commands import called
from support.runs.library import PAIRED, Kept, RunLibrary
from support.runs.locations import Place

from generators.sites.miniwob import THRESHOLDS

pytestmark = pytest.mark.browser


def test_every_row_and_the_card_say_what_counted_as_success_and_why(
    run_library: RunLibrary, tmp_path: Path
) -> None:
    kept = run_library.read(Kept.PAIRS)
    run, to = kept.run, kept.dataset

    assert (
        "accept.min_reward = 0.5 does not hold for bisect-angle (0.95), circle-center"
        in kept.said.err
    )
    other = "--set=accept.min_reward=0.99"
    for command in (
        ("show", str(run)),
        ("publish", str(run), f"--to={tmp_path / 'other'}", "--no-prefect"),
        ("export", str(run), "--format=atif", f"--to={tmp_path / 'atif'}"),
    ):
        assert (
            "accept.min_reward = 0.99 does not hold for bisect-angle" in called(*command, other).err
        )
    tasks = {row["task_id"]: row["template_id"] for row in _rows(to, "tasks")}
    own = {name: THRESHOLDS[name] for name in ("bisect-angle", "circle-center")}
    rows = [
        (tasks[row["task_id"]], (row["min_reward"], row["min_reward_reason"]))
        for row in _rows(to, "trajectories")
    ]
    assert len(rows) == 2 * len(tasks)
    assert {*rows} == {
        *((name, (0.5, None)) for name in {*PAIRED} - own.keys()),
        *((name, (one.reward, one.reason)) for name, one in own.items()),
    }
    card = (to / "README.md").read_text(encoding="utf-8")
    assert "a raw reward of 0.5 or more counts as success." in card
    for name, one in own.items():
        assert f"| {name} | {one.reward:g} | {one.reason.partition(';')[0][:20]}" in card
    found = Place(str(run)).rows("verdicts", "verifier", "evidence")
    told = [json.loads(row["evidence"]) for row in found if row["verifier"] == "outcome"]
    assert {(one["min_reward"], one["min_reward_reason"]) for one in told} == {
        (None, None),
        *((one.reward, one.reason) for one in own.values()),
    }


def _rows(to: Path, config: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = ds.dataset(to / "data" / config).to_table().to_pylist()
    return read
