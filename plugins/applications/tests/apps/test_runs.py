"""The shipped run over each application, and whether task files that are drawn are those that ship."""

from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import stepmill

from stepmill_applications.__main__ import main as draw

pytestmark = [pytest.mark.browser, pytest.mark.timeout(3_000)]

SEEDS = 4

SHARE = 0.95
"""How many of an application's references are to be rewarded, and of these replayed."""


def test_the_shipped_tasks_are_those_that_are_drawn(drawn: str, tmp_path: Path) -> None:
    out = tmp_path / "tasks.jsonl"

    assert draw([drawn, f"--seeds={SEEDS}", f"--out={out}"]) == 0
    assert out.read_text() == (ROOT / "configs" / "apps" / f"{drawn}.jsonl").read_text()


def test_an_application_is_fit_for_runs(shipped: str) -> None:
    said = stepmill("sites", "check", shipped, "--config=configs/apps.toml")

    assert said.code == 0, said.out


def test_references_are_rewarded_and_replayed(shipped: str, tmp_path: Path) -> None:
    tasks = f"configs/apps/{shipped}.jsonl"
    said = stepmill(
        "generate",
        "--config=configs/apps.toml",
        f"--set=tasks.sources=[{tasks!r}]",
        "--set=browser.sessions=2",  # more of them are in each other's way on two cores
        f"--run={tmp_path}/run",
        "--no-prefect",
        "--json",
        seconds=2_400,
    )

    assert said.code == 0, said.err
    answer = {key: value for key, value in said.answer.items() if isinstance(value, int | float)}
    assert answer["episodes"] == len((ROOT / tasks).read_text().splitlines())
    assert answer["accepted"] >= SHARE * answer["episodes"], said.err
    assert answer["reproduced"] >= SHARE * answer["accepted"], said.err
