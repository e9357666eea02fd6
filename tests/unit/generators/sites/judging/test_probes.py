"""A probe of a plug-in judges in a process of its own, and whatever it does costs its own task alone."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from pydantic import JsonValue
from source_tree import ROOT
from support.inputs.offered_parts import installed, offer
from support.runs.commands import until

from generators.sites.judging import probes
from generators.sites.judging.probe_process import MAX_REASONS, ask
from generators.sites.judging.probes import ask_probe, check_probes
from generators.sites.judging.protocol import REASON_BYTES, ProbeInput
from registries.entry_points import Group, find_plugins
from schemas.episodes.state_delta import Change, Delta
from schemas.errors import BadConfig, FailureKind, NotFound, RolloutFailure

CODE = """
import json, os, subprocess, sys
from generators.sites.judging.protocol import Judgement, ProbeInput

stepmill_api = 1
asked = []

def told(given):
    asked.append(given)
    print("asked", flush=True)
    about = json.loads(given.model_dump_json()) | {"times": len(asked)}
    return Judgement(reward=0.5, reasons=(json.dumps(about),))

def environment(given):
    return Judgement(reward=1, reasons=sorted(os.environ))

def long(given):
    return Judgement(reward=1, reasons=["é\\0" * 1000] * 1000)

def hangs(given):
    import re
    sleeping = subprocess.Popen(["sleep", "300"], start_new_session=True)
    with open(given.options["note"], "w") as file:
        file.write(f"{os.getpid()} {sleeping.pid} begun")
    re.match("(a+)+$", "a" * 60 + "b")  # for ever, and no other thread runs meanwhile

def true(given):
    return True

def lines(given):
    return "done\\nand done" + "!" * 1000

def nothing(given):
    pass

async def later(given):
    return Judgement(reward=1)

def much(given):
    return Judgement(reward=2.0)

def no_number(given):
    return Judgement(reward=float("nan"))

def unchecked(given):
    return Judgement.model_construct(reward=-1.0, reasons=())

def raises(given):
    raise KeyError("orders\\nand more")

def exits(given):
    sys.exit("enough")

def dies(given):
    os._exit(7)
"""

NAMES = (
    *("told", "environment", "long", "hangs", "true", "lines", "nothing", "later", "much"),
    *("no_number", "unchecked", "raises", "exits", "dies"),
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path) -> Iterator[Path]:
    """Return the folder in which the probes are installed."""
    parts = {f"stepmill.probes:{name}": f"own_probes:{name}" for name in NAMES}
    with installed(tmp_path / "home"):
        offer(tmp_path / "home", "own-probes", parts, modules={"own_probes": CODE})
        yield tmp_path / "home"


def given(**options: JsonValue) -> ProbeInput:
    return ProbeInput(
        before={"orders": []},
        after={"orders": [{"id": 1, "price": 0.1, "name": "Ä"}]},
        delta=Delta(added=(Change(at="/orders", key=1, after={"id": 1}),)),
        answer="4,711",
        options=options,
        seed=2**63 - 1,
        parameters={"city": "Oslo"},
    )


async def refused(name: str, **options: JsonValue) -> str:
    """Return why a probe gave no judgement, in a line."""
    with pytest.raises(RolloutFailure) as caught:
        await ask_probe(name, given(**options))
    assert caught.value.kind is FailureKind.SITE
    assert "\n" not in caught.value.message
    return caught.value.message


async def test_a_probe_is_given_the_whole_end_and_says_what_it_is_worth() -> None:
    judgement = await ask_probe("told", given(wanted=[1, None]))

    assert judgement.reward == 0.5
    about = json.loads(judgement.reasons[0])
    assert about.pop("times") == 1
    assert ProbeInput.model_validate(about) == given(wanted=[1, None])


async def test_a_probe_remembers_nothing_of_other_attempts() -> None:
    reasons = [(await ask_probe("told", given())).reasons[0] for _ in range(2)]

    assert [json.loads(reason)["times"] for reason in reasons] == [1, 1]


async def test_a_probe_gets_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("HF_TOKEN", "x")
    judgement = await ask_probe("environment", given())

    assert "PATH" in judgement.reasons
    assert not {"AWS_SECRET_ACCESS_KEY", "HF_TOKEN"} & set(judgement.reasons)


async def test_what_a_probe_says_is_bounded() -> None:
    judgement = await ask_probe("long", given())

    assert len(judgement.reasons) == MAX_REASONS
    assert all(len(reason.encode()) <= REASON_BYTES for reason in judgement.reasons)


WRONG = {
    "true": "returns True, and not a Judgement",
    "lines": "returns 'done\\nand done!!!",
    "nothing": "returns None, and not a Judgement",
    "later": "returns <coroutine object later",
    "much": "makes no valid Judgement: reward = 2.0: Input should be less than or equal to 1",
    "no_number": "makes no valid Judgement: reward = nan: Input should be a finite number",
    "unchecked": "makes no valid Judgement: reward = -1.0: Input should be greater than",
    "raises": "fails: KeyError: 'orders\\nand more'",
    "exits": "ends the program, with 'enough'",
}
"""By its name, what a probe does that it should not."""


@pytest.mark.filterwarnings("ignore:coroutine 'later' was never awaited:RuntimeWarning")
def test_a_probe_that_gives_no_judgement_is_told_what_is_wrong(subtests: pytest.Subtests) -> None:
    for name, said in WRONG.items():
        with subtests.test(msg=name):
            reply = ask(
                f"the probe '{name}' of own-probes 1.0 (own_probes:{name})",
                given().model_dump_json().encode(),
            )
            assert reply.judgement is None
            assert reply.wrong.startswith(said)
            assert "\n" not in reply.wrong
            assert len(reply.wrong) < 200


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exits", WRONG["exits"]),
        ("dies", "ends its process, with code 7, before it has returned"),
    ],
)
async def test_a_probe_that_gives_no_judgement_is_named_with_what_to_do(
    name: str, said: str
) -> None:
    told = await refused(name)

    assert told.startswith(f"the probe '{name}' of own-probes 1.0 (own_probes:{name}) {said}")
    assert told.endswith("; mend the probe, or leave out the tasks that name it")
    assert len(told) < 250


async def test_a_probe_that_does_not_return_in_time_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(RolloutFailure) as caught:
        await ask_probe("hangs", given(note=str(tmp_path / "note")), seconds=0.1)

    assert caught.value.kind is FailureKind.SITE
    assert caught.value.message == (
        "the probe 'hangs' of own-probes 1.0 (own_probes:hangs) does not return within 0.1 s; mend the "
        "probe, or leave out the tasks that name it"
    )


async def test_a_probe_that_is_given_up_ends_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "note"
    asking = asyncio.create_task(ask_probe("hangs", given(note=str(note))))
    await asyncio.to_thread(until, lambda: bool(noted(note)))
    pids = noted(note)

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


def noted(note: Path) -> list[int]:
    """Return the ids of the probe's process and of what it started; none before it began."""
    text = note.read_text() if note.exists() else ""
    return [int(pid) for pid in text.split()[:2]] if text.endswith("begun") else []


ASKING = """
import asyncio, sys
from generators.sites.judging.probes import ask_probe
from generators.sites.judging.protocol import ProbeInput
asyncio.run(ask_probe("hangs", ProbeInput.model_validate_json(sys.argv[1]), seconds=300))
"""


def test_a_probe_ends_with_the_program_that_asked_it(place: Path, tmp_path: Path) -> None:
    note = tmp_path / "note"
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKING, given(note=str(note)).model_dump_json()],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{place}"},
    )
    until(lambda: bool(noted(note)))
    processes = [psutil.Process(pid) for pid in noted(note)]

    asking.kill()
    asking.wait()

    _, alive = psutil.wait_procs(processes, timeout=60)
    assert alive == []


async def test_a_probe_that_was_replaced_meanwhile_does_not_judge(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = [one for one in find_plugins(Group.PROBES) if one.name == "told"]
    (place / "own_probes-1.0.dist-info").rename(tmp_path / "old")
    monkeypatch.setattr(type(probes.PROBES), "plugin", lambda *_: old)

    assert "was replaced or uninstalled meanwhile; run the command again" in await refused("told")


async def test_a_probe_that_is_not_there_fails_the_attempt() -> None:
    assert await refused("unheard") == (
        "there is no probe 'unheard': install the package that has it, and run the command again"
    )


def test_a_probe_that_cannot_be_used_is_refused_by_name(place: Path) -> None:
    parts = {"stepmill.probes:three": "three:probe"}
    offer(place, "three-probes", parts, modules={"three": "stepmill_api = 1\nprobe = 3"})
    check_probes(["told"])

    with pytest.raises(NotFound, match=r"^expect\.probe: there is no probe 'tld'; did you mean"):
        check_probes(["told", "tld"])
    with pytest.raises(
        BadConfig, match=r"^expect\.probe: the probe 'three' of .* is no probe: a cl"
    ):
        check_probes(["three"])
