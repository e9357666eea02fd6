"""What the values of a goal are for: they describe a row, or are what it is to have."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.tokens import STOPS
from generators.tasks.resolver.vocabulary import Sort
from generators.tasks.resolver.words import Cue


class Role(StrEnum):
    """What a value is for."""

    COND = "cond"
    """It describes the row."""
    SET = "set"
    """It is the new value."""
    EITHER = "either"
    """The words do not tell."""


class Pair(NamedTuple):
    """A value with the fields that it may belong to."""

    item: Item
    """The value."""
    label: Item | None
    """The field's name; None: the goal does not name it."""
    role: Role
    """What it is for."""
    over: Cue | None = None
    """`above` or `below`, if it is a bound."""
    negated: bool = False
    """Whether it is said not to hold."""


def roles_of(items: Sequence[Item]) -> Iterator[Role]:
    """Yield for each mention what a value there is for, by the cues and marks before it."""
    role, told = Role.EITHER, -1
    for item in items:
        mark = _by_mark(items, item, role, is_told=told == item.number - 1)
        role = _by_cue(item) or mark
        if item.cues & {Cue.SET, Cue.ELSE, Cue.COND, Cue.IF}:
            told = item.number
        yield role


def _by_cue(item: Item) -> Role | None:
    if item.cues & {Cue.SET, Cue.ELSE}:
        return Role.SET
    if Cue.PLAIN in item.cues:
        return Role.EITHER
    return Role.COND if item.cues & {Cue.COND, Cue.IF} else None


def _by_mark(items: Sequence[Item], item: Item, role: Role, *, is_told: bool) -> Role:
    """Return the role behind a mark; `is_told`: a cue stands right before it."""
    if item.mark in STOPS and item.mark != ";":
        return Role.EITHER
    if item.mark == ":":
        is_name = item.number > 0 and items[item.number - 1].has(Sort.LABEL)
        return role if is_name or is_told else Role.SET
    return Role.EITHER if item.mark == "," and role is Role.COND else role
