"""Compares two states of a server and returns the additions, changes and removals between them.

Tables are compared row by row and everything else value by value, so the delta of two large states is no
larger than the changes. Numbers are equal if their JSON texts are: 1 and 1.0 differ, as they do in the
state's digest, and a delta is empty exactly if the digests are equal.
"""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pydantic import JsonValue

from generators.sites.judging.tables import (
    Place,
    PlaceKind,
    RowKey,
    places,
    rows_by_key,
    table_rows,
)
from schemas.base import canonical_json
from schemas.episodes.state_delta import MAX_DELTA_BYTES, Change, ChangeOf, Delta
from schemas.errors import BadState
from schemas.json_pointer import ABSENT, Found

_NO_KEYS: Mapping[str, str] = MappingProxyType({})


class _Changes:
    """The changes found so far, within the size limit of a delta."""

    def __init__(self) -> None:
        self.added: list[Change] = []
        self.changed: list[Change] = []
        self.removed: list[Change] = []
        self._bytes = len("{}")

    def add(self, kind: list[Change], change: Change) -> None:
        """Add a change to one of the three lists.

        Raises:
            BadState: the changes are too large together.
        """
        text = canonical_json(change.model_dump(mode="json", exclude_defaults=True))
        self._bytes += len(text.encode()) + 1
        if self._bytes > MAX_DELTA_BYTES:
            raise BadState(
                f"the states differ by more than {MAX_DELTA_BYTES:,} bytes, the last of them at {change.at!r}:"
                " mask what differs between equal visits, or leave out what no task is about"
            )
        kind.append(change)

    def add_by_sides(self, at: str, of: ChangeOf, *, before: Found, after: Found) -> None:
        """Add a change that is not a row's to the list for the side that lacks it."""
        change = Change(
            of=of,
            at=at,
            before=None if before is ABSENT else before,
            after=None if after is ABSENT else after,
        )
        kind = self.added if before is ABSENT else self.removed if after is ABSENT else self.changed
        self.add(kind, change)


def compare_states(
    before: JsonValue, after: JsonValue, *, keys: Mapping[str, str] = _NO_KEYS
) -> Delta:
    """Return the differences between two states.

    Args:
        before: the earlier state.
        after: the later state.
        keys: the member that identifies the rows of an array, by the table's pointer or bare name; several
            members with commas. Undeclared keys are inferred: see `KEY_FIELDS`.

    Raises:
        BadState: a declared key does not identify its table's rows, or the states differ too much.
    """
    changes = _Changes()
    for place in places(before, after):
        if place.kind is PlaceKind.VALUE:
            if not same(place.before, place.after):
                changes.add_by_sides(
                    place.at, ChangeOf.VALUE, before=place.before, after=place.after
                )
            continue
        _compare_containers(place, changes)
        if place.kind is PlaceKind.OBJECT or place.kind is PlaceKind.ARRAY:
            _compare_rows(place, keys, changes)
    return Delta.of(added=changes.added, changed=changes.changed, removed=changes.removed)


def same(first: Found, second: Found) -> bool:
    """Return whether two values have the same canonical JSON text, or both are absent."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            same(value, second[name]) for name, value in first.items()
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second and (not isinstance(first, float) or repr(first) == repr(second))


def _compare_containers(place: Place, changes: _Changes) -> None:
    sides = [_empty(place.before), _empty(place.after)]
    if not same(*sides):
        changes.add_by_sides(place.at, ChangeOf.CONTAINER, before=sides[0], after=sides[1])


def _empty(value: Found) -> Found:
    if isinstance(value, dict):
        return {}
    return [] if isinstance(value, list) else value


def _compare_rows(place: Place, keys: Mapping[str, str], changes: _Changes) -> None:
    rows = rows_by_key(place, keys)
    if rows is None:
        _compare_keyless(place, changes)
        return
    is_array = place.kind is PlaceKind.ARRAY

    def row_change(key: RowKey, position: int, before: JsonValue, after: JsonValue) -> Change:
        differ = changed_fields(before, after) if before is not None and after is not None else ()
        return Change(
            at=place.at,
            key=list(key) if isinstance(key, tuple) else key,
            position=position if is_array else None,
            before=before,
            after=after,
            fields=differ,
        )

    for position, (key, row) in enumerate(rows.before.items()):
        if key not in rows.after:
            changes.add(changes.removed, row_change(key, position, row, None))
        elif not same(row, rows.after[key]):
            changes.add(changes.changed, row_change(key, position, row, rows.after[key]))
    for position, (key, row) in enumerate(rows.after.items()):
        if key not in rows.before:
            changes.add(changes.added, row_change(key, position, None, row))
    if is_array:
        before = [_plain(key) for key in rows.before if key in rows.after]
        after = [_plain(key) for key in rows.after if key in rows.before]
        _compare_order(place.at, before, after, changes)


def _plain(key: RowKey) -> JsonValue:
    return list(key) if isinstance(key, tuple) else key


def _compare_order(
    at: str, before: Sequence[JsonValue], after: Sequence[JsonValue], changes: _Changes
) -> None:
    if before != after:
        order = Change(of=ChangeOf.ORDER, at=at, before=list(before), after=list(after))
        changes.add(changes.changed, order)


def changed_fields(before: JsonValue, after: JsonValue) -> tuple[str, ...]:
    """Return the names of the members in which two rows differ, sorted."""
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    names = sorted(old.keys() | new.keys())
    return tuple(n for n in names if not same(old.get(n, ABSENT), new.get(n, ABSENT)))


def _compare_keyless(place: Place, changes: _Changes) -> None:
    """Compare rows without a key by their whole content; equal rows are paired in order."""
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    old = table_rows(place.before)
    for index, row in enumerate(old):
        waiting[canonical_json(row)].append(index)
    kept: list[JsonValue] = []
    for position, row in enumerate(table_rows(place.after)):
        indices = waiting[canonical_json(row)]
        if indices:
            kept.append(indices.popleft())
        else:
            changes.add(changes.added, Change(at=place.at, position=position, after=row))
    for index in sorted(index for indices in waiting.values() for index in indices):
        changes.add(changes.removed, Change(at=place.at, position=index, before=old[index]))
    _compare_order(
        place.at, sorted(kept, key=lambda n: n if isinstance(n, int) else 0), kept, changes
    )
