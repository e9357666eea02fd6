"""`stepmill tasks export` of a run at rest: what is written, left alone and refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from source_tree import ROOT
from support.runs.commands import contents

from flows.cli.main import main

GOLDEN = ROOT / "tests" / "golden" / "run"
"""A run of six tasks, two of which no accepted episode did."""

RULE = ("--set", "accept.passed=['outcome']")
"""What the verdicts of the copied run suffice for."""


@pytest.fixture
def run(copy_run: Callable[..., Any], tmp_path: Path) -> str:
    copy_run(tmp_path / "run")
    return str(tmp_path / "run")


def export(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    assert main(["tasks", "export", *argv, *RULE]) == code
    said = capsys.readouterr()
    return said.err if code else said.out


def test_each_task_that_was_done_is_a_directory(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(export(capsys, run, "--to", str(tmp_path / "to"), "--json"))
    there = sorted(path.name for path in (tmp_path / "to").iterdir())
    assert told["tasks"] == len(there) > 0
    assert told["written"]
    for name in there:
        assert (tmp_path / "to" / name / "tests" / "test.sh").stat().st_mode & 0o111
    again = json.loads(export(capsys, run, "--to", str(tmp_path / "to"), "--json"))
    assert again == told | {"written": False}
    assert "there already, unchanged" in export(capsys, run, "--to", str(tmp_path / "to"))


def test_a_task_that_no_accepted_episode_did_is_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tasks", "export", str(GOLDEN), "--to", str(tmp_path / "to"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["tasks"], told["left_out"]) == (4, 2)
    for oracle in (tmp_path / "to").glob("*/solution/oracle.json"):
        assert json.loads(oracle.read_text())["actions"]


def test_what_a_killed_call_left_is_gone_on_from(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(capsys, run, "--to", str(tmp_path / "to"))
    whole = contents(tmp_path / "to")
    for path in sorted((tmp_path / "to").rglob("*.sh")):
        path.unlink()
    export(capsys, run, "--to", str(tmp_path / "to"))
    assert contents(tmp_path / "to") == whole


@pytest.mark.parametrize("change", ["other", "altered", "link", "folder"])
def test_a_folder_with_anything_else_is_refused_and_stays_as_it_is(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    to = tmp_path / "to"
    export(capsys, run, "--to", str(to))
    wrong = next(to.rglob("instruction.md"))
    match change:
        case "other":
            wrong = to / "notes.txt"
            wrong.write_text("mine")
        case "altered":
            wrong.write_text("Do something else.")
        case "folder":
            wrong = wrong.parent
            wrong.rename(tmp_path / "elsewhere")
            wrong.symlink_to(tmp_path / "elsewhere")
        case _:
            (tmp_path / "elsewhere").write_bytes(wrong.read_bytes())
            wrong.unlink()
            wrong.symlink_to(tmp_path / "elsewhere")
    next(to.rglob("solve.sh")).unlink()
    before = contents(to)
    said = export(capsys, run, "--to", str(to), code=2)
    assert f"holds {wrong.relative_to(to)}, which is none of these tasks' files" in said
    assert contents(to) == before


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["zoom-*"], "has no accepted episode that did a task which is asked for"),
        (["--split", "test"], "has no accepted episode that did a task which is asked for"),
        (["--set", "accept.min_reward=1.5"], "has no accepted episode"),
    ],
)
def test_nothing_that_fits_is_refused_and_nothing_is_written(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str], told: str
) -> None:
    assert told in export(capsys, run, *argv, "--to", str(tmp_path / "to"), code=2)
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("to", ["s3://bucket/tasks", "hf://datasets/me/tasks"])
def test_no_folder_is_refused(run: str, capsys: pytest.CaptureFixture[str], to: str) -> None:
    assert "tasks are written to a folder" in export(capsys, run, "--to", to, code=2)


def test_a_run_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = export(capsys, str(tmp_path / "no"), "--to", str(tmp_path / "to"), code=2)
    assert "no" in said
    assert not (tmp_path / "to").exists()
