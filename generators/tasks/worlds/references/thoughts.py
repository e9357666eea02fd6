"""Thoughts of references: before each step, the visible evidence and the reason for the step.

A thought quotes only the goal, the step's element and text, and elements of earlier steps, so that it needs no
knowledge beyond the pictures. Each purpose of a step has several thoughts (`generators/policy/sentences/steps.toml`).
Conclusions from values are stated by the kind of task itself (`kinds.toml`), with the values as pages display them.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random

from generators.policy.sentences.vary import sentence, vary
from schemas.tasks.reference import Do, Purpose, ReferenceStep

_CHANGES_ROW = {Purpose.EDIT, Purpose.DELETE, Purpose.STEP}
"""The purposes that change a row on its page."""

_MENUS = {Purpose.MENU, Purpose.HOVER_MENU, Purpose.CONTEXT}
"""The purposes that open a menu, in which what is done next may be."""

_CHANGES = {Purpose.SAVE, Purpose.SURE, Purpose.STEP}
"""The purposes after which a row's page shows what was changed."""

_ELSEWHERE = {Purpose.VIEW, Purpose.ROW, Purpose.TWICE}
"""The purposes that lead to another page."""

_READS = {
    *(Purpose.VIEW, Purpose.MENU, Purpose.ROW, Purpose.PART, Purpose.LOOK),
    *(Purpose.HOVER_MENU, Purpose.TWICE, Purpose.SHEET, Purpose.WAIT),
    *(Purpose.BACK, Purpose.CLOSE_TAB, Purpose.SWITCH_TAB),
    *("again", "named", "list"),
}
"""The keys of steps that change nothing."""

_SAYS_NO = {"impossible", Purpose.REFUSE}
"""The keys of answers that something cannot be done."""

_MISSING = "missing"
"""The key of those that name what there is not."""

_UNNAMED = (Do.LOOK, Do.FIND, Do.READ, Do.WAIT)
"""What does not visit the thing that it names."""

_UNSAID = {Do.CLICK: "click", Do.SELECT: Purpose.CHOOSE, Do.PRESS: Purpose.KEY}
"""The keys of steps without a purpose."""


def think(
    steps: Sequence[ReferenceStep], goal: str, answer_kind: str, random: Random
) -> tuple[ReferenceStep, ...]:
    """Return a reference with a thought for each step that lacks one; `goal` is the task's instruction."""

    def why(step: ReferenceStep, key: str) -> str:
        on = step.by[0].of if key == _MISSING else step.on
        told = sentence(f"steps.{key}", on=on, text=step.text, within=step.within)
        return vary(step.why or told, random)

    keys = _keys(steps, goal, answer_kind)
    return tuple(
        step.model_copy(update={"why": why(step, key)})
        for step, key in zip(steps, keys, strict=True)
    )


def _keys(steps: Sequence[ReferenceStep], goal: str, answer_kind: str) -> Iterator[str]:
    """Yield the key of each step's thoughts: its purpose, adjusted by the goal and the steps before it."""
    visited, last, is_changed = set[str | None](), "", False
    for at, step in enumerate(steps):
        then = next((one for one in steps[at + 1 :] if one.purpose not in _MENUS), steps[-1])
        text, key = step.text or "", _key(step)
        match key:
            case Purpose.VIEW if step.on in visited:
                key = "again"
            case Purpose.ROW:
                key = _row_key(step, then, goal)
            case Purpose.PART | Purpose.SHEET if is_changed:
                key = "check_part"
            case Purpose.TYPE if not text:
                key = "empty"
            case Purpose.TYPE:
                key = "fill" if _has_words(goal, text) else "carry"
            case Purpose.ANSWER:
                key = _ending(text, answer_kind, last)
            case _:
                pass
        key = _MISSING if step.by and key in _SAYS_NO else key
        if step.do not in _UNNAMED:
            visited.add(step.on)
        if step.purpose in _CHANGES | _ELSEWHERE:
            is_changed = step.purpose in _CHANGES
        last = key
        yield key


def _key(step: ReferenceStep) -> str:
    """Return the key of a step's thoughts, as far as the step itself says it."""
    is_read = step.do is Do.READ and step.purpose is Purpose.LOOK
    return "list" if is_read else step.purpose or _UNSAID.get(step.do, Purpose.TYPE)


def _has_words(goal: str, text: str) -> bool:
    """Return whether a goal has a text as words of its own: a 4 is not in 14."""
    return text in goal and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", goal) is not None


def _row_key(step: ReferenceStep, then: ReferenceStep, goal: str) -> str:
    """Return the key of the thoughts before a row is opened; `then` is what is done next."""
    if (step.on or "") in goal:
        return "named"
    return "meant" if then.purpose in _CHANGES_ROW else Purpose.ROW


def _ending(text: str, answer_kind: str, last: str) -> str:
    """Return the key of an answer's thoughts."""
    if not text:
        return "nothing_left" if last in _READS else "done"
    if text == "impossible":
        return "impossible"
    return "computed" if answer_kind == "computed" else "read"
