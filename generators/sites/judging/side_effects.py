"""Side effects: differences between two states that the task's expectation does not cover.

A rule covers a fitting row that was added or removed as a whole, and of a fitting changed row the members
in its `set`. A mere reordering of rows in a table that a rule names is not a side effect. Places that the
task leaves unchecked, and those of its `values`, may differ.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from generators.sites.judging.rules import (
    Parts,
    changed_as_told,
    differences,
    field_parts,
    fits_where,
    row_name,
    starts,
)
from generators.sites.judging.tables import Place, table_rows
from schemas.base import canonical_json
from schemas.episodes.state_delta import Change, ChangeOf, Delta
from schemas.json_pointer import WILDCARD, covers, find, split_pointer
from schemas.tasks.expectation import Expectation, RowRule


class SideEffect(NamedTuple):
    """A difference that no rule covers."""

    text: str
    """It in words."""
    verb: str
    """`added`, `changed` or `removed`."""
    change: Change
    """The change that it is a part of."""
    fields: tuple[Parts, ...] = ()
    """For a changed row: the places in it that no rule covers; else empty."""


def side_effects(
    expectation: Expectation, tables: Mapping[str, Place], *, delta: Delta, after: JsonValue
) -> Iterator[SideEffect]:
    """Yield each difference that no rule covers and that the task checks.

    Args:
        expectation: the task's expectation.
        tables: the table of each name in it.
        delta: the differences.
        after: the later state.
    """
    free = Free((*expectation.unchecked, *expectation.values), after)
    touched = {table.at for table in tables.values()}
    parts: Sequence[tuple[str, Iterable[Change], Sequence[RowRule]]] = (
        ("added", delta.added, expectation.added),
        ("changed", delta.changed, expectation.changed),
        ("removed", delta.removed, expectation.removed),
    )
    for verb, changes, rules in parts:
        for change in changes:
            if change.of is ChangeOf.ROW:
                fits = changed_as_told if verb == "changed" else fits_where
                meant = [
                    rule
                    for rule in rules
                    if tables[rule.table].at == change.at and fits(rule, change)
                ]
                yield from _row_effects(verb, change, meant, free)
            elif _counts(change, touched) and not free.has(split_pointer(change.at)):
                what = "the order of " if change.of is ChangeOf.ORDER else ""
                yield SideEffect(f"{what}{change.at or 'the state'} {verb}", verb, change)


def _counts(change: Change, touched: Collection[str]) -> bool:
    """Return whether a change other than a row's is more than a consequence of changed rows."""
    return change.of is ChangeOf.VALUE or (change.of is ChangeOf.ORDER and change.at not in touched)


def _row_effects(
    verb: str, change: Change, meant: Sequence[RowRule], free: "Free"
) -> Iterator[SideEffect]:
    row = free.row_place(change)
    name = f"row {row_name(change)} of {change.at or 'the state'}"
    if verb != "changed":
        if not meant and not free.has(row):
            yield SideEffect(f"{name} {verb}", verb, change)
        return
    told = [field_parts(field) for rule in meant for field in rule.set]
    untold = [
        path
        for path in differences(change)
        if not any(starts(path, field) for field in told) and not free.has((*row, *path))
    ]
    if untold:
        what = ", ".join("/".join(path) for path in untold)
        yield SideEffect(f"{what} of {name} changed", verb, change, tuple(untold))


class Free:
    """The places that may differ freely."""

    def __init__(self, patterns: Iterable[str], after: JsonValue) -> None:
        self._patterns = [split_pointer(pattern) for pattern in patterns]
        self._after = after
        self._positions: dict[str, dict[str, int]] = {}

    def has(self, place: Parts) -> bool:
        """Return whether a place may differ."""
        return any(covers(pattern, place) for pattern in self._patterns)

    def row_place(self, change: Change) -> Parts:
        """Return the place of a row; for an array in the later state, unless only the earlier one has the row."""
        table = split_pointer(change.at)
        if change.position is None:
            return (*table, str(change.key))
        position = change.position
        if change.before is not None and change.after is not None and self._names_rows_of(table):
            positions = self._positions_in(change.at)
            position = positions.get(canonical_json(change.after), position)
        return (*table, str(position))

    def _names_rows_of(self, table: Parts) -> bool:
        depth = len(table)
        return any(
            len(pattern) > depth and pattern[depth] != WILDCARD and covers(pattern[:depth], table)
            for pattern in self._patterns
        )

    def _positions_in(self, at: str) -> dict[str, int]:
        if at not in self._positions:
            rows = table_rows(find(self._after, at))
            self._positions[at] = {canonical_json(row): n for n, row in enumerate(rows)}
        return self._positions[at]
