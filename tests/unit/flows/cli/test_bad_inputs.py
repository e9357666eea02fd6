"""Hundreds of wrong inputs, one rule: one line that says what, where and what to do; nothing else happens."""

from collections.abc import Iterator

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
    "usage": USAGE,
    "runs": RUNS,
    "destinations": DESTINATIONS,
    "files": FILES,
    "settings": SETTINGS,
    "scripts": SCRIPTS,
    "applications": APPLICATIONS,
    "task files": TASK_FILES,
}
"""Wrong inputs by what they are of, each by what is wrong with it."""


def assert_refused(bad: BadInput) -> None:
    """Run a command on a wrong input in an empty folder; it has to refuse it in one line."""
    with empty_folder() as here:
        put(here, bad.files)
        said = harmless(*bad.argv, here=here, env=bad.environ)

    assert (said.code, said.out) == (2, ""), said
    assert said.err.startswith("stepmill: ")
    assert said.err.count("\n") == 1, said.err
    assert bad.told in said.err


@pytest.mark.parametrize("group", INPUTS)
def test_a_wrong_input_is_refused_in_one_line_and_nothing_is_written(
    group: str, subtests: pytest.Subtests
) -> None:
    for name, bad in INPUTS[group].items():
        with subtests.test(name):
            assert_refused(bad)


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    """What is asked instead of an engine or a store."""
    with RawServer() as server:
        yield server


def test_an_engine_that_answers_nonsense_is_refused(
    server: RawServer, subtests: pytest.Subtests
) -> None:
    for name, (answer, told) in ENGINES.items():
        server.answer = answer
        with subtests.test(name):
            assert_refused(BadInput(("engine", "check", server.url), told))


def test_a_store_that_answers_nonsense_is_refused(
    server: RawServer, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    hurry = Backoff(first_seconds=0.01, max_seconds=0.01, tries=2)
    monkeypatch.setattr("storage.objects.s3.retry.BACKOFF", hurry)
    store = credentials(server.url)
    for name, (answer, told) in STORES.items():
        server.answer = answer
        with subtests.test(name):
            assert_refused(BadInput(("show", "s3://bucket/run"), told, environ=store))


def test_there_are_hundreds() -> None:
    assert sum(map(len, (*INPUTS.values(), ENGINES, STORES))) >= 300
