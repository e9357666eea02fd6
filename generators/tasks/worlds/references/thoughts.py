"""Thoughts of references: before each step, what is in sight and why this is next.

A thought quotes nothing but what the goal says, what the step acts on or types, and what an earlier step named, so
that nobody has to know more than the pictures show. Each purpose of a step has several thoughts (`thoughts.toml`).
Where something follows from what was read, the kind of task says so itself, with the values as pages write them.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

from schemas.tasks.reference import Do, Purpose, ReferenceStep

_CHANGES_ROW = {Purpose.EDIT, Purpose.DELETE, Purpose.STEP}
"""What is done on a row's page that changes it."""

_READS = {
    *(Purpose.VIEW, Purpose.MENU, Purpose.ROW, Purpose.PART, Purpose.LOOK),
    *("again", "named"),
}
"""What a page shows no change after: purposes, and what they are called where they come again or are expected."""

_UNSAID = {Do.CLICK: "click", Do.SELECT: Purpose.CHOOSE, Do.PRESS: Purpose.KEY}
"""What a step is for of which nobody has said it."""


@cache
def thoughts() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the thoughts of `thoughts.toml` by table and key; those of steps are in the table `steps`."""
    told = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, dict[str, list[str]]]).validate_python(told)


def think(
    steps: Sequence[ReferenceStep], goal: str, answer_kind: str, random: Random
) -> tuple[ReferenceStep, ...]:
    """Return steps with a thought for each that has none yet.

    Args:
        steps: a whole reference.
        goal: the task's instruction.
        answer_kind: the task's: `none`, `verbatim` or `computed`.
        random: what the words are drawn from.
    """
    known = thoughts()["steps"]
    return tuple(
        step
        if step.why is not None
        else step.model_copy(
            update={
                "why": random.choice(known[key]).format(
                    on=step.on, text=step.text, within=step.within
                )
            }
        )
        for step, key in zip(steps, _keys(steps, goal, answer_kind), strict=True)
    )


def _keys(steps: Sequence[ReferenceStep], goal: str, answer_kind: str) -> Iterator[str]:
    """Yield the key of each step's thoughts: its purpose, as far as what came before changes nothing about it."""
    said, visited, last = goal, set[str | None](), ""
    for step, then in zip(steps, (*steps[1:], steps[-1]), strict=True):
        text, key = step.text or "", step.purpose or _UNSAID.get(step.do, Purpose.TYPE)
        match key:
            case Purpose.VIEW if step.on in visited:
                key = "again"
            case Purpose.ROW if (step.on or "") in goal:
                key = "named"
            case Purpose.ROW if then.purpose in _CHANGES_ROW:
                key = "meant"
            case Purpose.TYPE if not text:
                key = "empty"
            case Purpose.TYPE:
                key = "fill" if text in said else "carry"
            case Purpose.ANSWER:
                key = _ending(text, answer_kind, last)
        if step.do is not Do.LOOK:
            visited.add(step.on)
        said, last = f"{said}\n{step.on or ''}\n{step.text}", key
        yield key


def _ending(text: str, answer_kind: str, last: str) -> str:
    """Return what an answer says: what was read, what follows from it, that it cannot be done, or that all is done."""
    if not text:
        return "nothing_left" if last in _READS else "done"
    if text == "impossible":
        return "impossible"
    return "computed" if answer_kind == "computed" else "read"
