"""Gates: the checks that a task passes before it may give a reward, so that only success is rewarded.

The gates have the names that environment hubs use. Those here need no browser. They judge the states of the
reference's attempt, trivial answers and near misses, and search the instruction and start page for the
answer. Gates that need an attempt (the reference itself, a random clicker, a second visit) are in
`flows/checks/tasks.py`.
"""

import re
from collections.abc import AsyncIterator, Iterator
from enum import StrEnum
from typing import NamedTuple

from generators.sites.judging.answers import answer_matches, normalise, other_spellings
from generators.sites.judging.near_misses import near_misses
from generators.sites.judging.whole_words import has_words
from generators.sites.state import ServerState, judge_states
from schemas.errors import BadExpectation, BadState, RolloutFailure
from schemas.tasks.expectation import Expectation, Matches
from schemas.tasks.reference import Do
from schemas.tasks.task import Task

CANARIES = (
    "",
    "impossible",
    "This task is impossible.",
    "yes",
    "no",
    "0",
    "1",
    "done",
    "N/A",
    "OK",
)
"""Trivial answers, tried at once."""

IMPOSSIBLE = frozenset(CANARIES[1:3])
"""The trivial answers that an infeasible task may expect."""

MIN_LEAK_CHARS = 3
"""Shorter answers may be on a page by chance."""


_OFFERS = re.compile(" (or|oder|ou|o) ")
"""The words between the answers that a sentence of an instruction offers."""

_SENTENCE = re.compile(r"(?<=[.?!])\s+")


class Gate(StrEnum):
    """A property that a task must have."""

    ORACLE_MAX = "oracle_max"
    """The reference gets the maximum reward."""
    FLOOR_GAP = "floor_gap"
    """Doing nothing gets no reward: the expectation does not hold already."""
    CANARY_FLOOR = "canary_floor"
    """Neither trivial answers at once nor random clicks get a reward."""
    NEAR_MISSES = "near_misses"
    """Near misses of success are rejected."""
    SPELLINGS = "spellings"
    """Other spellings of the expected answer are accepted."""
    NO_SOLUTION_LEAKAGE = "no_solution_leakage"
    """Neither the instruction nor the start page has the answer."""
    EPISODE_DETERMINISM = "episode_determinism"
    """Two visits with one seed, on two servers, begin alike."""
    REPLAYABILITY = "replayability"
    """A replay reproduces the reference's attempt."""


class Failing(NamedTuple):
    """A gate that a task does not pass."""

    gate: Gate
    """Which gate."""
    because: str
    """The finding, in a sentence."""


class Attempted(NamedTuple):
    """The reference's attempt at a task."""

    before: ServerState
    """The state before the first action."""
    after: ServerState
    """The state after the last action."""
    answer: str | None
    """The reference's answer; None: it gave none."""


async def expectation_gates(task: Task, attempted: Attempted) -> AsyncIterator[Failing]:
    """Yield the gates that a task's expectation fails, given the states of the reference's attempt.

    If the reference's own end gets no reward, near misses and spellings are not judged.

    Raises:
        ValueError: the task has no expectation.
    """
    try:
        async for one in _floors(task, attempted):
            yield one
        if not await _is_paid(task, attempted, attempted.after, attempted.answer):
            return
        async for one in _near_misses(task, attempted):
            yield one
        for spelling in _spellings(task, attempted.answer):
            if not await _is_paid(task, attempted, attempted.after, spelling):
                yield Failing(Gate.SPELLINGS, f"the answer {spelling!r} is not accepted")
    except (BadExpectation, BadState, RolloutFailure) as error:
        yield Failing(Gate.ORACLE_MAX, str(error))


def untried_gates(task: Task) -> Iterator[Failing]:
    """Yield the gates that cannot be tried on a task, each with the reason."""
    if _is_probed(task):
        yield Failing(Gate.NEAR_MISSES, "a probe judges")


def _is_probed(task: Task) -> bool:
    return task.expect is not None and task.expect.probe is not None


async def _near_misses(task: Task, attempted: Attempted) -> AsyncIterator[Failing]:
    expectation = task.expect
    if expectation is None or _is_probed(task):
        return
    misses = near_misses(
        expectation,
        before=attempted.before.value,
        after=attempted.after.value,
        answer=attempted.answer,
        keys=attempted.before.keys,
    )
    for miss in misses:
        if await _is_paid(task, attempted, ServerState(miss.state), miss.answer):
            yield Failing(Gate.NEAR_MISSES, f"{miss.kind.value}: {miss.what} is accepted")
    if not expectation.nothing_else:
        yield Failing(
            Gate.NEAR_MISSES,
            "side_effect: nothing_else is false, so whatever else is changed is accepted; name what may "
            "differ in unchecked",
        )


def _spellings(task: Task, answer: str | None) -> list[str]:
    """Return other spellings of the expected answer and of the reference's answer."""
    expectation = task.expect
    if expectation is None or not answer:
        return []
    if expectation.answer is None and expectation.probe is None:
        return []
    return [*other_spellings(expectation), *other_spellings(Expectation(answer=answer))]


def _expects_impossible(task: Task, answer: str | None) -> bool:
    """Return whether a task is one that cannot be done: its reference says so, or its pattern takes whatever says so."""
    expected = None if task.expect is None else task.expect.answer
    if isinstance(expected, Matches):
        return all(answer_matches(expected, text) for text in IMPOSSIBLE)
    return answer is not None and normalise(answer) in {normalise(text) for text in IMPOSSIBLE}


async def _floors(task: Task, attempted: Attempted) -> AsyncIterator[Failing]:
    before = attempted.before
    if attempted.answer in {None, ""} and await _is_paid(task, attempted, before, attempted.answer):
        yield Failing(Gate.FLOOR_GAP, "what is expected is so before anything is done")
        return
    expects_impossible = _expects_impossible(task, attempted.answer)
    for text in CANARIES:
        if text in IMPOSSIBLE and expects_impossible:
            continue
        if await _is_paid(task, attempted, before, text):
            yield Failing(Gate.CANARY_FLOOR, f"the answer {text!r} at once is rewarded")


async def _is_paid(
    task: Task, attempted: Attempted, state: ServerState, answer: str | None
) -> bool:
    said = await judge_states(task, before=attempted.before, after=state, answer=answer)
    return said.reward > 0


def leak_gates(task: Task, start_text: str) -> Iterator[Failing]:
    """Yield a failure if the instruction or the start page, whose text is `start_text`, has the answer.

    A sentence of the instruction may offer a choice of answers. A start page may show the answer if the
    task is only to read it there.
    """
    if task.expect is None or task.expect.answer is None:
        return
    reads_at_once = task.reference is not None and all(
        step.do is Do.ANSWER for step in task.reference
    )
    stated = plain_part(task.instruction)
    for spelling in other_spellings(task.expect):
        if has_words(stated, spelling):
            yield Failing(Gate.NO_SOLUTION_LEAKAGE, f"the instruction contains {spelling!r}")
            return
        shown = len(spelling) >= MIN_LEAK_CHARS and has_words(start_text, spelling)
        if shown and (not reads_at_once or task.answer_kind == "computed"):
            yield Failing(Gate.NO_SOLUTION_LEAKAGE, f"the start page shows {spelling!r}")
            return


def plain_part(instruction: str) -> str:
    """Return an instruction without the sentences that offer a choice of answers."""
    return " ".join(each for each in _SENTENCE.split(instruction) if not _OFFERS.search(each))
