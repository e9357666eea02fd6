"""The delta: the differences between two states of a site's server, by rows, so that a verifier can judge it.

A state is any JSON value. Its tables are its arrays of objects and its objects of objects; their rows
are compared one by one, and all else is compared as values at their places. A delta holds enough to make
the later state from the earlier one (`apply_delta`), and has one canonical text, which is stored with
the episode. The comparison finds tables and keys, not the delta.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Self

from pydantic import JsonValue, ValidationError

from schemas.base import Record, canonical_json
from schemas.errors import Damaged
from schemas.json_pointer import Pointer, find, split_pointer

MAX_DELTA_BYTES = 1_000_000
"""The bound of a delta's canonical text, in bytes of UTF-8."""


class ChangeOf(StrEnum):
    """The kind of place that a change is at."""

    ROW = "row"
    """A row of a table."""
    VALUE = "value"
    """A value that is in no table."""
    ORDER = "order"
    """The order of those rows of an array that are in both states."""
    CONTAINER = "container"
    """An empty object or array; its contents are changes of their own."""


class Change(Record):
    """One difference between two states."""

    of: ChangeOf = ChangeOf.ROW
    """The kind of place that differs."""
    at: Pointer
    """The place: of the table for a row or an order, else of the value itself."""
    key: JsonValue = None
    """The row's key in its table: a text, a whole number, or a list of them; None if rows are distinguished
    by all their values, or the change is not of a row."""
    position: int | None = None
    """For a row of an array its index: in the later state if it was added, else in the earlier one. None if
    the table is an object, or the change is not of a row."""
    before: JsonValue = None
    """The earlier value; for an order the keys in it, or the indices of rows without keys. None if absent
    or null."""
    after: JsonValue = None
    """The later value, likewise. None if absent or null."""
    fields: tuple[str, ...] = ()
    """The names of the members in which a changed row differs, sorted; empty for all else."""


class Delta(Record):
    """All differences between two states, in canonical order: by place, kind, then key."""

    added: tuple[Change, ...] = ()
    """The changes that the later state alone has."""
    changed: tuple[Change, ...] = ()
    """The changes of values that both states have."""
    removed: tuple[Change, ...] = ()
    """The changes that the earlier state alone has."""

    @classmethod
    def of(
        cls, *, added: Iterable[Change], changed: Iterable[Change], removed: Iterable[Change]
    ) -> Self:
        """Return the delta of these changes, in canonical order."""
        return cls(
            added=tuple(sorted(added, key=_rank)),
            changed=tuple(sorted(changed, key=_rank)),
            removed=tuple(sorted(removed, key=_rank)),
        )

    @property
    def is_empty(self) -> bool:
        """Whether the states are equal."""
        return not (self.added or self.changed or self.removed)

    def to_json(self) -> str:
        """Return the canonical text; what equals its default is left out."""
        return canonical_json(self.model_dump(mode="json", exclude_defaults=True))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the delta of a text that `to_json` gave.

        Raises:
            Damaged: it is the text of no delta.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise Damaged(
                f"not the text of a delta: {place or 'all of it'}: {first['msg']}"
            ) from None


def _rank(change: Change) -> tuple[str, str, int, str]:
    position = -1 if change.position is None else change.position
    return change.at, change.of.value, position, canonical_json(change.key)


def apply_delta(delta: Delta, before: JsonValue) -> JsonValue:
    """Return the later state of a delta, given the earlier one, which is not changed.

    Equal parts of both states, and the rows of the delta, are shared and not copied.

    Raises:
        Damaged: the delta is of another state.
    """
    changes = (*delta.added, *delta.changed, *delta.removed)
    root: dict[str, JsonValue] = {"": _copy_along(before, [split_pointer(c.at) for c in changes])}
    outer_first = [c for c in (*delta.added, *delta.changed) if c.of is ChangeOf.CONTAINER]
    for change in sorted(outer_first, key=lambda each: each.at.count("/")):
        if change.after is not None:
            _put(root, change)
    _apply_rows(delta, root)
    for change in (*delta.added, *delta.changed):
        if change.of is ChangeOf.VALUE:
            _put(root, change)
    for change in delta.removed:
        if change.of is ChangeOf.VALUE:
            _drop(root, change.at)
    emptied = [c for c in (*delta.changed, *delta.removed) if c.of is ChangeOf.CONTAINER]
    gone = {change.at for change in delta.removed if change.of is ChangeOf.CONTAINER}
    for change in sorted(emptied, key=lambda each: -each.at.count("/")):
        if change.at in gone:
            _drop(root, change.at)
        elif change.after is None:
            _put(root, change)
    return root[""]


def _copy_along(value: JsonValue, places: Iterable[Sequence[str]]) -> JsonValue:
    """Copy the objects and arrays on the way to some places, and no others."""
    if isinstance(value, list):
        return list(value)
    if not isinstance(value, dict):
        return value
    inside: defaultdict[str, list[Sequence[str]]] = defaultdict(list)
    for place in places:
        if place and place[0] in value:
            inside[place[0]].append(place[1:])
    return value | {name: _copy_along(value[name], rest) for name, rest in inside.items()}


def _parent(root: dict[str, JsonValue], at: str) -> tuple[dict[str, JsonValue], str]:
    """Return the object that has the place as a member, and the member's name."""
    above, _, _ = at.rpartition("/")
    parent = find(root[""], above) if at else root
    if not isinstance(parent, dict):
        raise Damaged(f"the state has no object at {above!r}: the delta is of another state")
    return parent, (split_pointer(at) or ("",))[-1]


def _put(root: dict[str, JsonValue], change: Change) -> None:
    parent, name = _parent(root, change.at)
    parent[name] = change.after


def _drop(root: dict[str, JsonValue], at: str) -> None:
    parent, name = _parent(root, at)
    if name not in parent:
        raise Damaged(f"the state has nothing at {at!r}: the delta is of another state")
    del parent[name]


def _apply_rows(delta: Delta, root: dict[str, JsonValue]) -> None:
    parts: Sequence[tuple[str, Iterable[Change]]] = (
        ("added", delta.added),
        ("changed", delta.changed),
        ("removed", delta.removed),
    )
    told = ((change.at, part, change) for part, changes in parts for change in changes)
    about_rows = [each for each in told if each[2].of in (ChangeOf.ROW, ChangeOf.ORDER)]
    for at, group in groupby(
        sorted(about_rows, key=lambda each: each[0]), key=lambda each: each[0]
    ):
        changes = [(part, change) for _, part, change in group]
        table = find(root[""], at)
        if isinstance(table, dict):
            _apply_to_object(table, changes)
        elif isinstance(table, list):
            table[:] = _apply_to_array(table, changes)
        else:
            raise Damaged(f"the state has no table at {at!r}: the delta is of another state")


def _apply_to_object(table: dict[str, JsonValue], changes: Sequence[tuple[str, Change]]) -> None:
    for part, change in changes:
        name = str(change.key)
        if (name in table) == (part == "added"):
            raise Damaged(f"row {name!r} of {change.at!r}: the delta is of another state")
        if part == "removed":
            del table[name]
        else:
            table[name] = change.after


def _apply_to_array(
    table: Sequence[JsonValue], changes: Sequence[tuple[str, Change]]
) -> list[JsonValue]:
    rows = dict(enumerate(table))
    for part, change in _rows_of(changes):
        if part != "added":
            if change.position not in rows:
                raise Damaged(
                    f"row {change.position} of {change.at!r}: the delta is of another state"
                )
            if part == "removed":
                del rows[change.position]
            else:
                rows[change.position] = change.after
    kept = list(rows.values())
    for _, change in changes:
        if change.of is ChangeOf.ORDER:
            kept = _reorder(kept, change)
    for part, change in _rows_of(changes):
        if part == "added":
            kept.insert(change.position or 0, change.after)
    return kept


def _rows_of(changes: Iterable[tuple[str, Change]]) -> Iterator[tuple[str, Change]]:
    return (each for each in changes if each[1].of is ChangeOf.ROW)


def _reorder(rows: Sequence[JsonValue], change: Change) -> list[JsonValue]:
    before, after = change.before, change.after
    if not isinstance(before, list) or not isinstance(after, list) or len(before) != len(rows):
        raise Damaged(f"the order of {change.at!r}: the delta is of another state")
    by_key = dict(zip(map(canonical_json, before), rows, strict=True))
    return [by_key[canonical_json(key)] for key in after]
