"""Tables: which parts of two states are tables, and which members identify their rows.

A table is an array of objects, or an object whose values are objects with at least one plain member each,
anywhere outside other tables. Both states are considered together, so an application need not have a row at
the start. Everything else is a container (an object whose members are places) or a value (compared as a
whole). A place that is missing or null in one state counts as empty there.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from pydantic import JsonValue

from schemas.errors import BadState
from schemas.json_pointer import ABSENT, Found, join_pointer, split_pointer

KEY_FIELDS = ("id", "key", "_id", "uuid", "rowid", "slug", "name")
"""Members that may identify rows without a declaration: the first that every row has with unique values."""


class PlaceKind(StrEnum):
    """The kind of a place."""

    ARRAY = "array"
    """A table that is an array of objects."""
    OBJECT = "object"
    """A table that is an object of objects."""
    CONTAINER = "container"
    """An object whose members are places of their own."""
    VALUE = "value"
    """Anything else."""


class Place(NamedTuple):
    """One place of two states."""

    at: str
    """Its JSON pointer."""
    kind: PlaceKind
    """The kind of the place."""
    before: Found
    """Its content in the earlier state."""
    after: Found
    """Its content in the later state."""

    @property
    def is_table(self) -> bool:
        """Whether it has rows."""
        return self.kind in (PlaceKind.ARRAY, PlaceKind.OBJECT)


def places(before: Found, after: Found, at: str = "") -> Iterator[Place]:
    """Yield every place of two states, outer places first; rows have no places inside."""
    kind = _kind(before, after, is_root=not at)
    yield Place(at, kind, before, after)
    if kind is PlaceKind.CONTAINER:
        old = before if isinstance(before, dict) else {}
        new = after if isinstance(after, dict) else {}
        for name in sorted(old.keys() | new.keys()):
            yield from places(old.get(name, ABSENT), new.get(name, ABSENT), join_pointer(at, name))


def _kind(before: Found, after: Found, *, is_root: bool) -> PlaceKind:
    sides = [each for each in (before, after) if each is not ABSENT and each is not None]
    if not sides:
        return PlaceKind.VALUE
    if all(isinstance(side, list) for side in sides):
        rows = [row for side in sides if isinstance(side, list) for row in side]
        are_rows = all(isinstance(row, dict) for row in rows)
        return PlaceKind.ARRAY if are_rows else PlaceKind.VALUE
    if not all(isinstance(side, dict) for side in sides):
        return PlaceKind.VALUE
    rows = [row for side in sides if isinstance(side, dict) for row in side.values()]
    are_rows = not is_root and all(map(_is_row, rows))
    return PlaceKind.OBJECT if are_rows else PlaceKind.CONTAINER


def _is_row(value: JsonValue) -> bool:
    """Return whether a value looks like a row: an object with a member that is neither object nor array."""
    return isinstance(value, dict) and any(
        not isinstance(item, dict | list) for item in value.values()
    )


RowKey = str | int | tuple[str | int, ...]
"""A row's identity: a name, a number, or several of them."""


class Rows(NamedTuple):
    """A table's rows in two states by their keys, in the tables' order."""

    before: Mapping[RowKey, JsonValue]
    """The rows of the earlier state."""
    after: Mapping[RowKey, JsonValue]
    """The rows of the later state."""
    key_fields: tuple[str, ...]
    """The members that form the keys of an array's rows; empty for an object."""


def rows_by_key(place: Place, keys: Mapping[str, str]) -> Rows | None:
    """Return a table's rows by their keys; None for an array in which no key is unique in both states.

    Args:
        place: a table.
        keys: the declared key of each table: by its pointer or bare name, several members with commas.

    Raises:
        BadState: a declared key is missing in a row of its table, or two rows share one.
    """
    if place.kind is PlaceKind.OBJECT:
        return Rows(_by_name(place.before), _by_name(place.after), ())
    before, after = table_rows(place.before), table_rows(place.after)
    name = (split_pointer(place.at) or ("",))[-1]
    declared = keys.get(place.at, keys.get(name))
    if declared is not None:
        fields = tuple(field.strip() for field in declared.split(","))
        for side in (before, after):
            _check_key(side, fields, place.at)
        return Rows(_by_key(before, fields), _by_key(after, fields), fields)
    for candidate in (*KEY_FIELDS, f"{name}_id", f"{name.removesuffix('s')}_id"):
        old, new = _by_key(before, (candidate,)), _by_key(after, (candidate,))
        if len(old) == len(before) and len(new) == len(after):
            return Rows(old, new, (candidate,))
    return None


def _by_name(table: Found) -> dict[RowKey, JsonValue]:
    return dict(table.items()) if isinstance(table, dict) else {}


def _by_key(rows: Sequence[JsonValue], fields: Sequence[str]) -> dict[RowKey, JsonValue]:
    """Return rows by their keys. Rows without a key are left out; of rows with equal keys the last is kept."""
    return {key: row for row in rows if (key := _key_of(row, fields)) is not None}


def _key_of(row: JsonValue, fields: Sequence[str]) -> RowKey | None:
    parts = tuple(
        part
        for field in fields
        if isinstance(row, dict)
        and isinstance(part := row.get(field), str | int)
        and not isinstance(part, bool)
    )
    if len(parts) < len(fields):
        return None
    return parts[0] if len(fields) == 1 else parts


def _check_key(rows: Sequence[JsonValue], fields: Sequence[str], at: str) -> None:
    seen: set[RowKey] = set()
    for index, row in enumerate(rows):
        key = _key_of(row, fields)
        what = f"the key {','.join(fields)!r} of table {at!r}"
        if key is None:
            raise BadState(f"{what} is no text or whole number in row {index}: declare another")
        if key in seen:
            raise BadState(f"{what} is {key!r} in two rows: declare another")
        seen.add(key)


def table_rows(table: Found) -> list[JsonValue]:
    """Return the rows of one state's side of an array; empty if it is missing or null."""
    return table if isinstance(table, list) else []
