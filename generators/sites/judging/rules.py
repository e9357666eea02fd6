"""Rules over rows: the table that a rule names, the rows that it covers, and how a row misses it.

A rule of `added` covers later rows, one of `changed` or `removed` earlier ones. The judge combines the
results of the rules.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pydantic import JsonValue

from generators.sites.judging.compare import same
from generators.sites.judging.matching import describe, value_matches
from generators.sites.judging.tables import Place, places
from schemas.base import canonical_json
from schemas.episodes.state_delta import Change, ChangeOf, Delta
from schemas.errors import BadExpectation
from schemas.json_pointer import ABSENT, Found, find, split_pointer
from schemas.tasks.expectation import Expectation, Matcher, RowRule
from schemas.truncation import truncate

_MAX_SHOWN_BYTES = 160
_MAX_TABLES_SHOWN = 20
_MAX_COMPARED = 200

Parts = tuple[str, ...]
"""A pointer, split into its parts."""


def find_tables(
    expectation: Expectation, *, before: JsonValue, after: JsonValue
) -> dict[str, Place]:
    """Return the table that each name in an expectation means.

    Raises:
        BadExpectation: a name means no table, or several.
    """
    names = {r.table for r in (*expectation.added, *expectation.changed, *expectation.removed)}
    tables = _tables(before, after) if names else {}
    found = {name: named_tables(name, tables) for name in sorted(names)}
    if not all(
        found.values()
    ):  # one that a policy broke is in one of the states, and in no row's change
        tables = _tables(before, before) | _tables(after, after) | tables
    return {
        name: _only(name, at or named_tables(name, tables), tables) for name, at in found.items()
    }


def _tables(before: JsonValue, after: JsonValue) -> dict[str, Place]:
    return {place.at: place for place in places(before, after) if place.is_table}


def named_tables(name: str, tables: Iterable[str]) -> list[str]:
    """Return the pointers of tables that a pointer or a bare name matches."""
    if not name or name.startswith("/"):
        return [at for at in tables if at == name]
    return [at for at in tables if split_pointer(at)[-1:] == (name,)]


def _only(name: str, found: Sequence[str], tables: Mapping[str, Place]) -> Place:
    if len(found) == 1:
        return tables[found[0]]
    if found:
        which = ", ".join(found)
        raise BadExpectation(f"several tables are called {name!r}: say which of {which}")
    there = ", ".join(islice(tables, _MAX_TABLES_SHOWN)) or "none"
    raise BadExpectation(
        f"there is no table {name!r} in the state, before or after; its tables are: {there}"
    )


def fits_where(rule: RowRule, change: Change) -> bool:
    """Return whether a rule covers a row, by its key and `where`."""
    return next(_where_mismatches(rule, change), None) is None


def changed_as_told(rule: RowRule, change: Change) -> bool:
    """Return whether a changed row fits a rule of `changed`: the rule covers it and its new values match."""
    if next(mismatches(rule, change), None) is not None:
        return False
    fields = [field_parts(field) for field in rule.set]
    return any(starts(path, field) for path in differences(change) for field in fields)


class Mismatch(NamedTuple):
    """A part of a row that does not match a rule."""

    what: str
    """The member's name, or the key's."""
    value: Found
    """The found value."""
    matcher: Matcher
    """The rule's expectation."""
    field: str | None = None
    """The member that was to get a value; None: the key, or a member by which the row is chosen."""

    def __str__(self) -> str:
        return f"{self.what} is {show(self.value)}, expected {describe(self.matcher)}"


def mismatches(rule: RowRule, change: Change) -> Iterator[Mismatch]:
    """Yield the parts of a row that do not match the rule."""
    yield from _where_mismatches(rule, change)
    for field, matcher in rule.set.items():
        if not value_matches(matcher, value := member(change.after, field)):
            yield Mismatch(f"the new {field}", value, matcher, field)


def _where_mismatches(rule: RowRule, change: Change) -> Iterator[Mismatch]:
    if rule.key is not None and not value_matches(rule.key, change.key):
        yield Mismatch("the key", change.key, rule.key)
    row = change.after if change.before is None else change.before
    for field, matcher in rule.where.items():
        if not value_matches(matcher, value := member(row, field)):
            yield Mismatch(field, value, matcher)


def member(row: JsonValue, field: str) -> Found:
    """Return a row's member by its name, or by a pointer into the row."""
    if field.startswith("/"):
        return find(row, field)
    return row.get(field, ABSENT) if isinstance(row, dict) else ABSENT


class RuleRows(NamedTuple):
    """A rule, and how the differing rows of its table fit it."""

    rule: RowRule
    """The rule."""
    table: Place
    """The table that it names."""
    verb: str
    """`added`, `changed` or `removed`."""
    fitting: tuple[Change, ...]
    """The rows that fit it."""
    rows: tuple[Change, ...]
    """All rows of the table that differ in this way."""

    @property
    def met(self) -> bool:
        """Whether as many rows fit as the rule says."""
        return len(self.fitting) == self.rule.count

    def nearest(self) -> tuple[Change, tuple[Mismatch, ...]] | None:
        """Return the row that misses the rule in the fewest parts, and these; None if every row fits."""
        misses = ((row, tuple(mismatches(self.rule, row))) for row in self.rows[:_MAX_COMPARED])
        unfit = [(row, missed) for row, missed in misses if missed]
        return min(unfit, key=lambda each: len(each[1]), default=None)


def match_rules(
    expectation: Expectation, tables: Mapping[str, Place], delta: Delta
) -> Iterator[RuleRows]:
    """Yield each rule about added, changed and removed rows, in that order, with the rows that fit it.

    Args:
        expectation: the task's expectation.
        tables: the table of each name in it.
        delta: the differences.
    """
    parts: Sequence[tuple[str, Sequence[RowRule], Sequence[Change]]] = (
        ("added", expectation.added, delta.added),
        ("changed", expectation.changed, delta.changed),
        ("removed", expectation.removed, delta.removed),
    )
    for verb, rules, changes in parts:
        fits = changed_as_told if verb == "changed" else fits_where
        for rule in rules:
            table = tables[rule.table]
            rows = tuple(c for c in changes if c.of is ChangeOf.ROW and c.at == table.at)
            yield RuleRows(rule, table, verb, tuple(c for c in rows if fits(rule, c)), rows)


def field_parts(field: str) -> Parts:
    """Return the place of a member inside its row."""
    return split_pointer(field) if field.startswith("/") else (field,)


def starts(path: Parts, prefix: Parts) -> bool:
    """Return whether a place is `prefix` or inside it."""
    return path[: len(prefix)] == prefix


def differences(change: Change) -> Iterator[Parts]:
    """Yield the places at which a changed row differs: members at any depth; arrays count as a whole."""
    return _differences(change.before, change.after, ())


def _differences(before: Found, after: Found, path: Parts) -> Iterator[Parts]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            yield from _differences(
                before.get(name, ABSENT), after.get(name, ABSENT), (*path, name)
            )
    elif not same(before, after):
        yield path


def row_name(change: Change) -> str:
    """Return a row in words: its key, or all of it."""
    if change.key is not None:
        return show(change.key)
    return show(change.after if change.before is None else change.before)


def show(value: Found) -> str:
    """Return a value as JSON, shortened."""
    return "nothing" if value is ABSENT else truncate(canonical_json(value), _MAX_SHOWN_BYTES)
