"""Whole commands towards a Hub that refuses: clear words, nothing written there, nothing lost here.

The client is told in this process where the local Hub is: it reads that when it is imported.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import CopyRun
from hub.faults import Fault
from hub.publishing import DATASET, TO
from hub.server import TOKEN, LocalHub
from hub.state import Account
from huggingface_hub import HfApi
from source_tree import ROOT
from support.runs.chaos import assert_whole
from support.runs.commands import SECONDS, SMALL, Said, called, environment
from support.runs.kill_at import Doom
from support.runs.small_runs import scripted_trial
from support.stores.faulty_lake import fingerprint

from schemas.backoff import Backoff
from storage.publish.destinations.hub import errors

OTHER = "hf_anothertokenofthetests"


@pytest.fixture(autouse=True)
def _here(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "storage.publish.destinations.hub.client.HfApi",
        lambda endpoint: HfApi(endpoint=endpoint or hub.url),
    )
    monkeypatch.setattr(errors, "_BACKOFF", Backoff(first_seconds=0.01, max_seconds=0.01, tries=4))


@pytest.fixture(scope="module")
def run(copy_run: CopyRun, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    at: Path = tmp_path_factory.mktemp("run") / "run"
    copy_run(at)
    before = fingerprint(at)
    yield at
    now = fingerprint(at)
    assert {path: now[path] for path in before} == before


def published(run: Path, to: str = TO, *, token: str = TOKEN) -> Said:
    return called(
        "publish",
        str(run),
        f"--to={to}",
        "--set=accept.passed=['outcome']",
        "--no-prefect",
        "--json",
        env={"HF_TOKEN": token},
    )


class Bad(NamedTuple):
    """What is done to the Hub, with which token it is asked, for which place."""

    make: Callable[[LocalHub], None]
    words: str
    token: str = TOKEN
    to: str = TO


def nothing(_: LocalHub) -> None:
    """Do nothing to the Hub."""


def owned_by(account: Account) -> Callable[[LocalHub], None]:
    def make(hub: LocalHub) -> None:
        hub.state.accounts[OTHER] = account

    return make


def holding(path: str, data: bytes, *, private: bool = True) -> Callable[[LocalHub], None]:
    def make(hub: LocalHub) -> None:
        hub.state.create(DATASET, hub.state.accounts[TOKEN], private=private)
        hub.edit(DATASET, path, data)

    return make


def of_somebody_else(hub: LocalHub) -> None:
    hub.state.accounts["theirs"] = Account("else", orgs=("other",))
    hub.state.create("other/data", hub.state.accounts["theirs"], private=True)


def gated(hub: LocalHub) -> None:
    holding("README.md", b"theirs")(hub)
    no = (("X-Error-Code", "GatedRepo"), ("X-Error-Message", "Access to it is restricted"))
    hub.faults.append(Fault("/resolve/", status=403, headers=no, times=99))


def unwell(hub: LocalHub) -> None:
    hub.faults.append(Fault("/api/", status=503, times=99))


def silent(hub: LocalHub) -> None:
    hub.faults.append(Fault("/api/", times=99))


def busy(hub: LocalHub) -> None:
    hub.faults.append(Fault("/api/", status=429, headers=(("Retry-After", "3600"),), times=99))


READER = Account("tester", orgs=("org",), role="read")
FINE = Account("tester", orgs=("org",), role="fineGrained", writes=("other",))
BAD: Mapping[str, Bad] = {
    "no token": Bad(nothing, "there is no token; set HF_TOKEN, or run `hf auth login`", ""),
    "unknown token": Bad(nothing, "the Hub does not know the token", OTHER),
    "reading token": Bad(owned_by(READER), "the token can only read; set HF_TOKEN", OTHER),
    "token for elsewhere": Bad(owned_by(FINE), "grant it write access to the contents", OTHER),
    "somebody else's": Bad(
        of_somebody_else,
        "the token is tester's, who does not belong to other; give a token of somebody who does",
        to="hf://datasets/other/data",
    ),
    "a name it does not allow": Bad(
        nothing, "the Hub does not allow the name org/da--ta: letters", to=f"{TO[:-4]}da--ta"
    ),
    "no name": Bad(nothing, "write hf://datasets/ORG/NAME", to="hf://org"),
    "public": Bad(
        holding("README.md", b"", private=False), "is public, and publish.private is true; make"
    ),
    "something else": Bad(holding("thesis.txt", b"precious"), "is not empty"),
    "gated": Bad(gated, "is gated, and the token's owner may not read it; ask for access"),
    "unwell": Bad(unwell, "the Hub is not well (503)"),
    "silent": Bad(silent, "the Hub does not answer"),
    "busy": Bad(busy, "it asks for a pause of 3600 s: run the same command again then"),
}


def state(hub: LocalHub) -> dict[str, list[str]]:
    """Return the commits of every repository there is."""
    return {name: [c.oid for c in repo.commits] for name, repo in hub.state.repos.items()}


def assert_refused(said: Said, bad: Bad) -> None:
    assert said.code == 2, said.err
    assert said.out == ""
    assert said.err.startswith(f"stepmill: {bad.to}: "), said.err
    assert said.err.count("\n") == 1
    assert bad.words in said.err, said.err
    assert TOKEN not in said.err
    assert OTHER not in said.err


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
def test_no_run_is_begun_that_could_not_be_published(
    hub: LocalHub, tmp_path: Path, bad: Bad
) -> None:
    bad.make(hub)
    before = state(hub)
    at = tmp_path / "run"

    said = called(
        "generate",
        "--no-prefect",
        *SMALL,
        f"--run={at}",
        f"--set=publish.to=['{bad.to}']",
        env={"HF_TOKEN": bad.token},
    )

    assert_refused(said, bad)
    assert not at.exists()
    assert state(hub) == before


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
def test_nothing_is_published_there(hub: LocalHub, run: Path, bad: Bad) -> None:
    bad.make(hub)
    before = state(hub)

    assert_refused(published(run, bad.to, token=bad.token), bad)

    assert state(hub) == before
    assert not hub.requests["POST create"]


def test_a_name_that_the_hub_keeps_for_itself_is_told_in_its_words(
    hub: LocalHub, run: Path
) -> None:
    words = (("X-Error-Message", "this name is reserved"),)
    hub.faults.append(Fault("/repos/create", status=400, headers=words))

    said = published(run)

    assert said.code == 2
    assert f"{TO}: the Hub refuses this (400): this name is reserved" in said.err
    assert state(hub) == {}


MIDWAY: Mapping[str, tuple[Fault, str]] = {
    "rights taken": (Fault("/commit/", status=403), "does not allow it (403)"),
    "token taken": (Fault("/commit/", status=401), "the Hub does not know the token"),
    "gone on by somebody else": (Fault("/commit/", status=412), "changed README.md meanwhile"),
    "quota": (
        Fault("/commit/", status=429, headers=(("Retry-After", "3600"),)),
        "it asks for a pause of 3600 s",
    ),
    "unwell": (Fault("/commit/", status=503, times=9), "is not well (503)"),
    "cut": (Fault("/commit/", times=9), "the Hub does not answer"),
    "upload refused": (Fault("/preupload/", status=403), "does not allow it (403)"),
}


def _meddle(hub: LocalHub) -> None:
    hub.edit(DATASET, "README.md", b"theirs")


FULL = {"rights taken", "token taken", "unwell", "cut", "upload refused"}
"""Of which `test_publish_hub` has the like, without a command."""


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(*one, id=name, marks=pytest.mark.full if name in FULL else ())
        for name, one in MIDWAY.items()
    ],
)
def test_what_is_refused_midway_is_said_and_published_later(
    hub: LocalHub, run: Path, fault: Fault, words: str
) -> None:
    meddled = words.startswith("changed")
    if meddled:
        fault.call = partial(_meddle, hub)
    hub.faults.append(fault)

    said = published(run)

    assert said.code == (2 if "token" in words else 1), said.err
    assert said.err.startswith(f"stepmill: {TO}: ")
    assert words in said.err, said.err
    assert "manifest.json" not in hub.files(DATASET)
    assert hub.repo(DATASET).tags == {}
    hub.faults.clear()
    if meddled:
        hub.edit(DATASET, "README.md", None)
    again = published(run)
    assert again.code == 0, again.err
    assert again.answer["accepted"] == 8
    assert "manifest.json" in hub.files(DATASET)
    assert list(hub.repo(DATASET).tags) == ["v1"]


def lived(doom: Doom, environ: Mapping[str, str]) -> Said:
    """Carry out a command over stand-ins where the Hub's client is told of the local one in time."""
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "tests" / "support" / "runs" / "kill_at.py"),
            doom.model_dump_json(),
        ],
        env=environment({**environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        start_new_session=True,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.full
def test_a_run_whose_publication_fails_at_its_end_is_whole_and_published_by_the_next_command(
    hub: LocalHub, tmp_path: Path
) -> None:
    trial = scripted_trial(tmp_path / "trial", episodes=2, verifiers=("structure", "outcome"))
    argv = (*trial.argv, f"--set=publish.to=['{trial.to}','{TO}']")
    doom = trial.command(argv)
    environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    hub.faults.append(Fault("/commit/", status=429, headers=(("Retry-After", "3600"),)))

    said = lived(doom, environ)

    assert said.code == 1, said.err
    assert f"{TO}: the Hub has had enough requests or commits for now (429)" in said.err
    assert said.answer["accepted"] == 2
    assert len(trial.committed()) == 2
    again = lived(doom, environ)
    assert (again.code, again.answer["rolled_out"]) == (0, 0), again.err
    assert "manifest.json" in hub.files(DATASET)
    asyncio.run(assert_whole(trial))
