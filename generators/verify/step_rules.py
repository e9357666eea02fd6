"""What a rule about a step says: its label, and the reason for it."""

from dataclasses import dataclass

from schemas.verdicts.step_label import Label


@dataclass(frozen=True, slots=True)
class Found:
    """The label of a step, and the reason for it."""

    label: Label | None
    because: str


Rule = tuple[bool, Label | None, str]
"""Whether the rule holds, the label, and the reason."""


def first(*rules: Rule) -> Found:
    """Return the label of the first rule that holds."""
    return next(Found(label, because) for holds, label, because in rules if holds)
