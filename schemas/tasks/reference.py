"""A task's reference: the ordinary actions that do it, each on something that the page shows by name.

A reference proves that a task can be done, and makes trajectories of it: the policy `scripted` carries it
out by pixels and keys, as any policy acts. It names things as a person would, by the words on them or
beside them, so it needs neither positions nor selectors, and holds for every size of the page.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, TypeAdapter, model_validator

from schemas.base import Record


class Do(StrEnum):
    """What a step of a reference does."""

    CLICK = "click"
    """Click what `on` names."""
    TYPE = "type"
    """Put `text` into the field that `on` names, in place of what is in it."""
    SELECT = "select"
    """Choose the option `text` of the list that `on` names."""
    PRESS = "press"
    """Press the key or chord `text`, as `Enter`."""
    DRAG = "drag"
    """Drag what `on` names to the middle of what the words `text` name, and let it go there."""
    LOOK = "look"
    """Scroll until all of what `on` names is in sight; nothing, if it is."""
    OPEN = "open"
    """Go to the address `text`, which may be a path of the task's site."""
    ANSWER = "answer"
    """End the task with the answer `text`."""


_NAMES_A_THING = {Do.CLICK, Do.TYPE, Do.SELECT, Do.DRAG, Do.LOOK}
_HAS_NO_TEXT = {Do.CLICK, Do.LOOK}


class ReferenceStep(Record):
    """One step of a reference."""

    do: Do
    """What it does."""
    on: str | None = Field(default=None, min_length=1)
    """The words on a thing or beside it: its text, label, placeholder, title, alternative text or name; or `#` and
    its id or `.` and its class, where words do not tell things apart. None where the step is on nothing."""
    within: str | None = Field(default=None, min_length=1)
    """Words that the same row, item, form or section has, where several things have the same name; None: the first
    such thing of the page."""
    text: str | None = None
    """What is typed, chosen, pressed, opened or answered, or where it is dragged; None for a click and a look."""
    why: str | None = Field(default=None, min_length=1, max_length=1_000)
    """What somebody thinks before it: what is in sight, and why this is next; None: the attempt states no thought."""

    @model_validator(mode="after")
    def _check(self) -> "ReferenceStep":
        if (self.on is None) is (self.do in _NAMES_A_THING):
            needs = "needs 'on', the name of a thing" if self.on is None else "is on nothing"
            raise ValueError(f"'{self.do.value}' {needs}")
        if (self.text is None) is not (self.do in _HAS_NO_TEXT):
            raise ValueError(
                f"'{self.do.value}' " + ("needs 'text'" if self.text is None else "has no 'text'")
            )
        if self.within is not None and self.on is None:
            raise ValueError(f"'{self.do.value}' is within nothing")
        return self


MAX_STEPS = 200
"""The steps of a reference at most."""

Reference = Annotated[tuple[ReferenceStep, ...], Field(min_length=1, max_length=MAX_STEPS)]
"""The steps of a reference, in their order."""

REFERENCE: TypeAdapter[tuple[ReferenceStep, ...]] = TypeAdapter(Reference)
"""Reads a reference."""
