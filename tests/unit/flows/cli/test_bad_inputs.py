"""Hundreds of wrong inputs, one rule: one line that says what, where and what to do; nothing else happens."""

import os
import time
from pathlib import Path

import pytest
from bad_configurations import APPLICATIONS, FILES, SCRIPTS, SETTINGS
from bad_input import BadInput
from bad_places import DESTINATIONS, RUNS
from bad_task_files import TASK_FILES
from bad_usage import USAGE
from commands import called

from flows.terminal import strip_control_chars

INPUTS = {
    **USAGE,
    **RUNS,
    **DESTINATIONS,
    **FILES,
    **SETTINGS,
    **SCRIPTS,
    **APPLICATIONS,
    **TASK_FILES,
}
CPU_SECONDS = 10.0
"""What a refusal may cost; the first ones load libraries."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder, with no browser and no home to be had."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STEPMILL_CHROMIUM", "/bin/false")
    return tmp_path


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return everything below `folder`, folders too."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else None
    return found


@pytest.mark.parametrize("bad", INPUTS.values(), ids=INPUTS)
def test_a_wrong_input_is_refused_in_one_line_and_nothing_is_written(
    bad: BadInput, here: Path
) -> None:
    for name, data in bad.files.items():
        path = here / "here" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    before, began = tree(here), time.process_time()

    said = called(*bad.argv, env=bad.environ)

    assert (said.code, said.out) == (2, ""), said
    assert said.err.startswith("stepmill: ")
    assert said.err.count("\n") == 1, said.err
    assert said.err[:-1] == strip_control_chars(said.err[:-1])
    assert len(said.err) < 1_500
    assert bad.told in said.err
    assert tree(here) == before
    assert time.process_time() - began < CPU_SECONDS


def test_there_are_enough_of_them() -> None:
    assert len(INPUTS) >= 200
    assert os.environ.get("STEPMILL_CHROMIUM") != "/bin/false"
