"""What the values of a goal are for: they describe a row, or are what it is to have."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.tokens import STOPS
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
    role, told, clauses = Role.EITHER, -1, {*clauses_of(items)}
    for item in items:
        if item.number - 1 in clauses and item.number not in clauses:
            role = Role.EITHER
        mark = _by_mark(items, item, role, is_told=told == item.number - 1)
        role = _by_cue(item) or mark
        if item.cues & {Cue.SET, Cue.ELSE, Cue.COND, Cue.IF}:
            told = item.number
        yield role


_BOUNDS = frozenset({Cue.ABOVE, Cue.BELOW})


def roles_behind(items: Sequence[Item]) -> Iterator[Role]:
    """Yield the same where what is said of a value stands behind it, by the particle right there."""
    for item in items:
        behind = next(
            (one for one in items[item.number + 1 :] if not one.cues & {Cue.FIELD, *_BOUNDS}), None
        )
        yield Role.EITHER if behind is None else _by_particle(items, item, behind)


def _by_particle(items: Sequence[Item], item: Item, behind: Item) -> Role:
    """Return the role by what stands behind a value: `に` makes it new, `の` describes a row by it."""
    inside = items[item.number + 1 : behind.number]
    if behind.place > item.end + sum(one.end - one.place for one in inside):
        return Role.EITHER
    if behind.cues & {Cue.TO, Cue.SET, Cue.ELSE}:
        return Role.SET
    return Role.COND if behind.cues & {Cue.OF, Cue.COND, Cue.IF} or inside else Role.EITHER


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


_JOINTS = frozenset({Cue.AS, Cue.UNDER, Cue.OF})
_ACTS = frozenset({Cue.SET, Cue.DELETE, Cue.ELSE})
_OPENS = frozenset({Sort.ONE, Sort.MANY})


def clauses_of(items: Sequence[Item]) -> Iterator[int]:
    """Yield the numbers of mentions that stand in what describes rows right behind their noun: `orders with …`."""
    inside, is_listed = "", False
    for item in items:
        before = items[item.number - 1] if item.number else None
        if inside and (item.mark == inside or _ends_clause(items, item)):
            inside = ""
        elif inside:
            yield item.number
        is_noun = before is not None and (before.has(*_OPENS) or Cue.ALL in before.cues)
        if before is not None and is_noun and before.end == item.place:
            inside = ")" if item.mark == "(" else "." if Cue.COND in item.cues else inside
        elif is_listed and Cue.COND in item.cues and not inside:
            inside = "."
        is_listed = item.has(Sort.MANY) or (is_listed and _is_of_list(item))


def _is_of_list(item: Item) -> bool:
    """Return whether a mention goes on with what describes rows: a value, a field, `and` or `of`."""
    is_word = item.cues & {Cue.AND, Cue.OF, Cue.TO, Cue.IN, Cue.COND} and not item.cues & _ACTS
    return bool(is_word) or item.is_value or item.has(Sort.LABEL)


def _is_told(items: Sequence[Item], item: Item) -> bool:
    """Return whether a value stands at a mention, or a field behind its value."""
    joints = frozenset({Cue.AS, Cue.UNDER})
    is_behind = item.number > 0 and not items[item.number - 1].cues.isdisjoint(joints)
    return item.is_value or (item.has(Sort.LABEL) and is_behind)


def _ends_clause(items: Sequence[Item], item: Item) -> bool:
    """Return whether what describes rows ends: at a mark, at what is to be done, or at what they are to become."""
    behind = items[item.number + 1] if item.number + 1 < len(items) else None
    if item.mark == ",":
        return behind is None or not (behind.cues & {Cue.COND, Cue.AND} or behind.has(Sort.LABEL))
    before = items[item.number - 1]
    if item.mark == ":" and before.has(Sort.LABEL) and before.end == item.place:
        return False
    if item.mark in STOPS | {":"} and item.mark:
        return True
    is_apart = item.place > before.end and item.has(Sort.LABEL)
    if _is_told(items, before) and (is_apart or Cue.PLAIN in item.cues):
        return True
    if item.cues & _ACTS and not item.cues & {Cue.AS, Cue.COND}:
        return True
    is_aim = Cue.TO in item.cues and _is_told(items, before) and Cue.AS not in item.cues
    return is_aim and (not item.cues & _JOINTS or (behind is not None and behind.is_value))
