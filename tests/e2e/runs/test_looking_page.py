"""The commands of docs/looking.md run as they stand there, on a run at `runs/demo`; the id alone is that of this run."""

import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import called
from support.runs.library import Kept, RunLibrary

PAGE = ROOT / "docs" / "looking.md"
ID = "3f2a9c0d"
"""The id that the page writes."""

COMMANDS = re.findall(r"^stepmill (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


WINDOWS = [line for line in COMMANDS if line.startswith("view runs")]
"""Those that go on until they are interrupted."""


@pytest.fixture(scope="module")
def folder(run_library: RunLibrary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    run_library.copy(Kept.PAIRS, folder / "runs")
    (folder / "runs" / "run").rename(folder / "runs" / "demo")
    (folder / "runs" / "dataset").rename(folder / "demo-dataset")
    return folder


def test_the_page_shows_every_form() -> None:
    assert len(COMMANDS) >= 12


@pytest.mark.parametrize("line", WINDOWS)
def test_a_window_of_the_page_opens_and_closes(line: str, folder: Path, tmp_path: Path) -> None:
    command = [str(ROOT / ".venv" / "bin" / "stepmill"), *shlex.split(line, comments=True)]
    environ = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode()
        process.send_signal(signal.SIGINT)

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?enter=\S{32,}\n", address)
    assert process.returncode == 0


@pytest.mark.parametrize("line", [line for line in COMMANDS if line not in WINDOWS])
def test_a_command_of_the_page_does_what_it_says(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = shlex.split(line, comments=True)
    if ID in words:
        [one] = _episodes("show", "runs/demo", "--failed=1")
        words = [str(one["episode_id"])[: len(ID)] if word == ID else word for word in words]

    said = called(*words)

    assert said.code == 0, said.err
    assert said.out
    for word in words:
        if re.fullmatch(r"\w+\.(html|png|gif|mp4)", word):
            assert (folder / word).stat().st_size > 1_000


def _episodes(*words: str) -> list[dict[str, object]]:
    found = called(*words, "--json").answer["episodes"]
    assert isinstance(found, list)
    return [dict(one) for one in found if isinstance(one, dict)]
