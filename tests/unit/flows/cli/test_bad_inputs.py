"""Hundreds of wrong inputs, one rule: one line that says what, where and what to do; nothing else happens."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.inputs.bad_answers import ENGINES, STORES
from support.inputs.bad_configurations import APPLICATIONS, FILES, SCRIPTS, SETTINGS
from support.inputs.bad_input import BadInput
from support.inputs.bad_places import DESTINATIONS, RUNS
from support.inputs.bad_task_files import TASK_FILES
from support.inputs.bad_usage import USAGE
from support.inputs.refusals import empty_folder, harmless, put
from support.servers.raw_server import RawServer
from support.servers.seaweedfs import credentials

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


@pytest.fixture
def here() -> Iterator[Path]:
    """Be in an empty folder."""
    with empty_folder() as folder:
        yield folder


def assert_refused(bad: BadInput, here: Path) -> None:
    """Run a command on a wrong input, which it has to refuse in one line."""
    put(here, bad.files)

    said = harmless(*bad.argv, here=here, env=bad.environ)

    assert (said.code, said.out) == (2, ""), said
    assert said.err.startswith("stepmill: ")
    assert said.err.count("\n") == 1, said.err
    assert bad.told in said.err


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
