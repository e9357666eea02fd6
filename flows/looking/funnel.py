"""How many attempts of a run are left after each thing that may go wrong, from attempted to accepted.

Each attempt that was not accepted is lost at one stage: the one of the reason that decided. So the losses add up, and an
attempt that an early verifier rejects is not counted as one that a later one has not judged.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from flows.looking.places import Head
from schemas.configuration.sections import AcceptSection
from schemas.verdicts.acceptance import AcceptanceStatus

STAGES = (
    ("finished", "did not break"),
    ("rewarded", "the site found the task done"),
    ("replayed", "the same actions gave the same again"),
    ("seen", "relied on nothing unseen"),
    ("novel", "repeats no other accepted attempt"),
    ("accepted", "every other part of the rule is met"),
)
"""The stages after the first, each with what it says of the attempts that reach it."""

_STAGE_OF = {"outcome": "rewarded", "replay": "replayed", "seen": "seen", "novelty": "novel"}


class Stage(NamedTuple):
    """A stage of the funnel."""

    name: str
    """`attempted`, or one of `STAGES`."""
    about: str
    """What it says of the attempts that reach it."""
    attempts: int
    """The number of these."""
    lost: int
    """How many of the stage before did not reach it."""
    asked: bool
    """Whether the rule asks for it; what it does not ask for loses no attempt."""
    why: tuple[tuple[str, int], ...]
    """The reasons of those, by verifier and status, with their numbers, the commonest first."""


def funnel(heads: Iterable[Head], rule: AcceptSection) -> tuple[Stage, ...]:
    """Return the stages, from all attempts to the accepted ones; `rule` is the one that they were judged by."""
    heads = list(heads)
    lost = {name: Counter[str]() for name, _ in STAGES}
    for one in heads:
        if one.status is not AcceptanceStatus.ACCEPTED:
            lost[_stage(one)][_why(one)] += 1
    stages = [Stage("attempted", "all that were made", len(heads), 0, asked=True, why=())]
    unasked = {
        stage
        for verifier, stage in _STAGE_OF.items()
        if verifier not in rule.passed and verifier not in rule.min_scores
    }
    for name, about in STAGES:
        gone = lost[name].total()
        why = tuple(sorted(lost[name].items(), key=lambda one: (-one[1], one[0])))
        stages.append(
            Stage(name, about, stages[-1].attempts - gone, gone, name not in unasked, why)
        )
    return tuple(stages)


def _stage(head: Head) -> str:
    """Return the stage at which an attempt was lost."""
    if head.broke:
        return "finished"
    verifier = (head.reason or "").partition(":")[0]
    if head.status is AcceptanceStatus.UNJUDGED:
        return "accepted"
    return _STAGE_OF.get(verifier, "accepted")


def _why(head: Head) -> str:
    if head.broke:
        return "broke before its end"
    return ": ".join((head.reason or str(head.status)).split(": ")[:2])
