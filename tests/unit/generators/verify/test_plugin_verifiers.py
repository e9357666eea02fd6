"""Verifiers of plug-ins: made with the run's sites and sessions, and held to what they say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browsers.scripted_session import ScriptedSessions
from support.inputs.offered_parts import installed, offer

from generators.verify.protocol import Verifier
from generators.verify.registry import VERIFIER_NAMES, VERIFIERS, make_verifiers
from schemas.errors import BadConfig

CODE = """
stepmill_api = 1

class Short:
    name, version = "short", "1"
    def __init__(self, sites, sessions):
        self.given = sites, sessions

def broken(sites, sessions):
    raise KeyError("a")
"""


@pytest.fixture(autouse=True)
def _offered(tmp_path: Path) -> Iterator[None]:
    places = {"short": "Short", "other": "Short", "broken": "broken"}
    parts = {f"stepmill.verifiers:{name}": f"own_verifiers:{at}" for name, at in places.items()}
    with installed(tmp_path):
        offer(tmp_path, "own-verifiers", parts, modules={"own_verifiers": CODE})
        yield


def made(name: str, sessions: ScriptedSessions) -> Verifier:
    (one,) = make_verifiers([name], sites={}, sessions=sessions)
    return one


def test_every_verifier_that_ships_is_in_the_registry() -> None:
    assert tuple(VERIFIERS.built_in) == VERIFIER_NAMES


def test_a_verifier_of_a_plugin_is_made_with_the_runs_sites_and_sessions() -> None:
    sessions = ScriptedSessions([])

    assert vars(made("short", sessions))["given"] == ({}, sessions)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("other", "^the verifier 'other' calls itself 'short': its name should be 'other'$"),
        ("broken", "^the verifier 'broken' cannot be used: it is not made: KeyError: 'a'$"),
    ],
)
def test_a_verifier_that_is_not_what_it_says_is_refused(name: str, said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        made(name, ScriptedSessions([]))
