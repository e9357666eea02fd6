"""Each gate finds the task that only it rejects, and a whole task passes all of them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.inputs.broken_tasks import BROKEN, ROPE
from support.inputs.offered_parts import installed, offer
from support.servers.ledger_site import ledger_task

from generators.sites.gates import (
    Attempted,
    Failing,
    Gate,
    expectation_gates,
    leak_gates,
    untried_gates,
)
from generators.sites.state import ServerState
from schemas.tasks.reference import REFERENCE

BEFORE = ServerState({"seed": "1", "entries": [{"id": 1, "text": "Tar"}, {"id": 2, "text": "Oar"}]})
AFTER = ServerState(
    {
        "seed": "1",
        "entries": [
            {"id": 1, "text": "Tar"},
            {"id": 2, "text": "Oar"},
            {"id": 3, "text": "Rope"},
        ],
    }
)


def found(
    expect: Any, *, answer: str | None = "", changed: bool = True, most: int | None = None
) -> list[Failing]:
    """Return the gates that are not passed; no more is tried when there are as many as `most`."""
    attempted = Attempted(BEFORE, AFTER if changed else BEFORE, answer)

    async def failing() -> list[Failing]:
        gates = expectation_gates(ledger_task(expect=expect), attempted)
        out: list[Failing] = []
        while len(out) != most and (one := await anext(gates, None)) is not None:
            out.append(one)
        return out

    return asyncio.run(failing())


def test_an_expectation_that_tells_success_from_all_else_passes() -> None:
    assert found(ROPE) == []
    assert found({"answer": {"number": 4_711}}, answer="4,711", changed=False) == []
    assert found({"answer": "Bremen"}, answer="Bremen", changed=False) == []


@pytest.mark.parametrize(
    "name",
    [
        "always pays",
        "already true at the start",
        "speaks of a table that is not there",
        "does not see a side effect",
        "takes any entry",
    ],
)
def test_what_is_wrong_with_an_expectation_is_found(name: str) -> None:
    row, gate, because = BROKEN[name]

    failing = found(row["expect"])

    assert {one.gate.value for one in failing} == {gate}
    assert any(because in one.because for one in failing), failing


@pytest.mark.parametrize("name", ["is answered by anybody", "can be given up"])
def test_an_answer_that_costs_nothing_is_found(name: str) -> None:
    row, gate, because = BROKEN[name]
    reference = row["reference"]
    assert isinstance(reference, list)
    answer = reference[-1]["text"]  # type: ignore[index,call-overload]

    failing = found(row["expect"], answer=str(answer), changed=False)

    assert (Gate(gate), because) in failing


def test_a_task_that_cannot_be_done_may_expect_to_be_given_up() -> None:
    assert found({"answer": "impossible"}, answer="impossible", changed=False) == []


def test_a_task_that_cannot_be_done_may_take_whatever_says_so_and_nothing_else() -> None:
    refusal, answer = "(?i).*(impossible|no such thing).*", "There is no such thing."

    assert found({"answer": {"matches": refusal}}, answer=answer, changed=False) == []
    failing = found({"answer": {"matches": "(?s).*"}}, answer=answer, changed=False)
    assert Gate.CANARY_FLOOR in {one.gate for one in failing}


def test_an_answer_that_is_accepted_in_one_spelling_alone_is_found() -> None:
    failing = found({"answer": {"matches": "Bremen"}}, answer="Bremen", changed=False)

    assert {one.gate for one in failing} == {Gate.SPELLINGS}
    assert any("'bremen'" in one.because for one in failing)


PROBES = """
from generators.sites.judging.protocol import Judgement

stepmill_api = 1

def pays(given):
    return Judgement(reward=1)

def rope(given):
    added = [one.after["text"] for one in given.delta.added]
    return Judgement(reward=added == ["Rope"])

def strict(given):
    added = [one.after["text"] for one in given.delta.added]
    return Judgement(reward=added == ["Rope"] and given.answer == "Bremen")

def yes(given):
    return Judgement(reward=given.answer in ("yes", "Bremen", "bremen"))

def breaks(given):
    return Judgement(reward=given.after["orders"])
"""


@pytest.fixture
def _probed(tmp_path: Path) -> Iterator[None]:
    names = ("pays", "rope", "strict", "yes", "breaks")
    parts = {f"stepmill.probes:{name}": f"gate_probes:{name}" for name in names}
    with installed(tmp_path):
        offer(tmp_path, "gate-probes", parts, modules={"gate_probes": PROBES})
        yield


@pytest.mark.usefixtures("_probed")
def test_a_task_that_a_probe_judges_is_held_to_all_gates_but_near_misses() -> None:
    task = ledger_task(expect={"probe": "rope"})

    assert list(untried_gates(task)) == [Failing(Gate.NEAR_MISSES, "a probe judges")]
    assert list(untried_gates(ledger_task())) == []


@pytest.mark.full
@pytest.mark.usefixtures("_probed")
def test_a_probe_that_tells_success_from_all_else_passes_all_gates() -> None:
    assert found({"probe": "rope"}) == []


@pytest.mark.usefixtures("_probed")
@pytest.mark.parametrize(
    ("probe", "answer", "gate", "because"),
    [
        ("pays", "", Gate.FLOOR_GAP, "what is expected is so before anything is done"),
        pytest.param(
            *("yes", "Bremen", Gate.CANARY_FLOOR, "the answer 'yes' at once is rewarded"),
            marks=pytest.mark.full,
        ),
        ("strict", "Bremen", Gate.SPELLINGS, "the answer '  Bremen ' is not accepted"),
        ("breaks", "", Gate.ORACLE_MAX, "the probe 'breaks' of gate-probes 1.0"),
    ],
)
def test_what_is_wrong_with_a_probe_is_found(
    probe: str, answer: str, gate: Gate, because: str
) -> None:
    (first,) = found(
        {"probe": probe}, answer=answer, most=1
    )  # a process for each end that is tried

    assert first.gate is gate
    assert because in first.because


def leaks(
    instruction: str, page: str, *, reference: Any = None, kind: str | None = None
) -> list[Failing]:
    task = ledger_task(expect={"answer": "Bremen"}).model_copy(
        update={
            "instruction": instruction,
            "reference": None if reference is None else REFERENCE.validate_python(reference),
            "answer_kind": kind,
        }
    )
    return list(leak_gates(task, page))


READS = [{"do": "answer", "text": "Bremen"}]
LOOKS = [{"do": "click", "on": "Harbours"}, *READS]


@pytest.mark.parametrize(
    ("given", "because"),
    [
        (leaks("Say Bremen.", ""), "the instruction contains 'Bremen'"),
        (
            leaks("Whose is Bremen? Should it be gone, or nobody's, say so.", ""),
            "the instruction contains 'Bremen'",
        ),
        (leaks("Which harbour?", "Bremen and others", reference=LOOKS), "the start page shows"),
        (leaks("Which harbour?", "BREMEN", reference=READS, kind="computed"), "the start page"),
    ],
)
def test_an_answer_that_is_given_away_is_found(given: list[Failing], because: str) -> None:
    ((gate, reason),) = given

    assert gate is Gate.NO_SOLUTION_LEAKAGE
    assert because in reason


@pytest.mark.parametrize(
    "given",
    [
        leaks("Which harbour?", "Hamburg", reference=LOOKS),
        leaks("Which harbour?", "Bremerhaven", reference=LOOKS),
        leaks("Is it Bremen or Hamburg?", "", reference=LOOKS),
        leaks("Which harbour is on this page?", "Bremen", reference=READS, kind="verbatim"),
    ],
)
def test_an_answer_that_has_to_be_found_is_no_leak(given: list[Failing]) -> None:
    assert given == []
