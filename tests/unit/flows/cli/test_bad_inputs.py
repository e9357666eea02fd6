"""Hundreds of wrong inputs, one rule: one line that says what, where and what to do; nothing else happens."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bad_answers import ENGINES, STORES
from bad_configurations import APPLICATIONS, FILES, SCRIPTS, SETTINGS
from bad_input import BadInput
from bad_places import DESTINATIONS, RUNS
from bad_task_files import TASK_FILES
from bad_usage import USAGE
from commands import called
from raw_server import RawServer
from seaweedfs import credentials

from flows.terminal import strip_control_chars
from schemas.backoff import Backoff

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


def assert_refused(bad: BadInput, here: Path) -> None:
    """Run a command on a wrong input, and hold what it does to the rule."""
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


@pytest.mark.parametrize("bad", INPUTS.values(), ids=INPUTS)
def test_a_wrong_input_is_refused_in_one_line_and_nothing_is_written(
    bad: BadInput, here: Path
) -> None:
    assert_refused(bad, here)


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    """What is asked instead of an engine or a store."""
    with RawServer() as server:
        yield server


@pytest.mark.parametrize(("answer", "told"), ENGINES.values(), ids=ENGINES)
def test_an_engine_that_answers_nonsense_is_refused(
    answer: bytes, told: str, server: RawServer, here: Path
) -> None:
    server.answer = answer

    assert_refused(BadInput(("engine", "check", server.url), told), here)


@pytest.mark.parametrize(("answer", "told"), STORES.values(), ids=STORES)
def test_a_store_that_answers_nonsense_is_refused(
    answer: bytes, told: str, server: RawServer, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = answer
    hurry = Backoff(first_seconds=0.01, max_seconds=0.01, tries=2)
    monkeypatch.setattr("storage.objects.s3.retry.BACKOFF", hurry)

    assert_refused(
        BadInput(("show", "s3://bucket/run"), told, environ=credentials(server.url)), here
    )


def test_there_are_hundreds() -> None:
    assert len(INPUTS) + len(ENGINES) + len(STORES) >= 300
