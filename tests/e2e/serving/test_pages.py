"""The files of the pages about seats in this process run as they stand there, and their episodes are in the run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import files_of_the_page
from source_tree import ROOT
from support.runs.served_seats import rows

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]


def test_the_files_of_gymnasiums_page_run(tmp_path: Path) -> None:
    files = files_of_the_page("trainers/gymnasium.md")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    told = {name: _run(tmp_path, name) for name in files if name.endswith(".py")}
    assert told["one_seat.py"].count("(320, 320, 3)") == 3
    assert "(4, 320, 320, 3) (4,)" in told["several_seats.py"]
    assert told["in_process.py"].splitlines()[-1].endswith("0.0 None")
    kinds = rows(tmp_path / "runs" / "seats", "episodes", "policy_kind")
    assert len(kinds) >= 8
    assert set(kinds) == {("external",)}


def test_the_file_about_seats_in_the_same_process_runs(tmp_path: Path) -> None:
    name = "in_process.py"
    (tmp_path / name).write_text(files_of_the_page("seats.md")[name], encoding="utf-8")
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    reward, failure = _run(tmp_path, name).split()
    assert (float(reward), failure) == (0.0, "None"), "it does not look where it clicks"
    kept = rows(tmp_path / "runs" / "seats", "episodes", "policy_kind", "reward", "seed")
    assert kept == [("external", 0.0, 7)]


def _run(folder: Path, name: str) -> str:
    done = subprocess.run(
        [sys.executable, name], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{name}:\n{done.stderr}"
    return done.stdout
