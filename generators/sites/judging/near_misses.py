"""Near misses: wrong ends of an attempt that look like success, derived from the reference's end.

The reference is an attempt that solves the task. Its changes on the server are varied into states with a
wrong record changed, one field off, a record too many, a missing step or an additional change, and there
are wrong answers. An expectation that accepts one of them does not distinguish success from failure. Near
misses are derived from the rules and never selected by the judge.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from generators.sites.judging.alternative_ends import ReferenceEnd
from generators.sites.judging.answers import other_spellings
from generators.sites.judging.compare import changed_fields
from generators.sites.judging.matching import value_matches
from generators.sites.judging.rules import (
    changed_as_told,
    field_parts,
    find_tables,
    fits_where,
    member,
    row_name,
)
from generators.sites.judging.side_effects import Free
from generators.sites.judging.wrong_values import (
    another,
    neighbours_answers,
    other_lists,
    parts_of,
    put,
    unlike,
    wrong_answers,
)
from schemas.episodes.state_delta import Change, ChangeOf
from schemas.json_pointer import ABSENT, find, split_pointer
from schemas.tasks.expectation import Anything, Expectation, Matcher, RowRule

_NO_KEYS: Mapping[str, str] = MappingProxyType({})
_MAX_TABLES = 5
_MAX_ROWS = 40
"""Largest number of a table's rows that are searched for a part that a list lacks."""


class MissKind(StrEnum):
    """The difference between a near miss and success."""

    WRONG_RECORD = "wrong_record"
    """A record other than the expected one was changed or removed."""
    ONE_FIELD_OFF = "one_field_off"
    """One expected value differs."""
    EXTRA_RECORD = "extra_record"
    """The same change was made to one more record."""
    STEP_MISSING = "step_missing"
    """One of the expected changes was not made."""
    SIDE_EFFECT = "side_effect"
    """Something changed that no rule covers."""
    WRONG_ANSWER = "wrong_answer"
    """The state is right and the answer wrong: another value, none, or that of another row."""


class NearMiss(NamedTuple):
    """An end of an attempt that the expectation must reject."""

    kind: MissKind
    """The difference from the reference's end."""
    what: str
    """The difference in words."""
    state: JsonValue
    """The final state; it shares parts with the states that it was derived from."""
    answer: str | None
    """The answer; None: no answer is given."""


def near_misses(
    expectation: Expectation,
    *,
    before: JsonValue,
    after: JsonValue,
    answer: str | None = None,
    keys: Mapping[str, str] = _NO_KEYS,
) -> list[NearMiss]:
    """Return ends of an attempt that the expectation must reject.

    Args:
        expectation: the task's expectation.
        before: the state before the first action, masked.
        after: the state after the reference's last action, masked; it meets the expectation.
        answer: the reference's answer; None: a spelling of the expected one, if there is one.
        keys: as for `compare_states`.

    Raises:
        BadExpectation: a rule names a table that neither state has.
    """
    if answer is None:
        answer = next(iter(other_spellings(expectation)), None)
    wrong = _WrongEnds(expectation, before=before, after=after, keys=keys)
    ends = [
        NearMiss(kind=kind, what=what, state=state, answer=answer)
        for kind, what, state in wrong.states()
    ]
    if expectation.answer is not None:
        tables = after.values() if isinstance(after, dict) else ()
        others = neighbours_answers(expectation.answer, tables)
        for said in dict.fromkeys((*wrong_answers(expectation.answer), *others)):
            what = "no answer" if said is None else f"the answer {said!r}"
            ends.append(NearMiss(kind=MissKind.WRONG_ANSWER, what=what, state=after, answer=said))
    return ends


_WrongState = tuple[MissKind, str, JsonValue]


class _WrongEnds:
    """The wrong ends that follow from an expectation's rules."""

    def __init__(
        self,
        expectation: Expectation,
        *,
        before: JsonValue,
        after: JsonValue,
        keys: Mapping[str, str],
    ) -> None:
        self._expectation = expectation
        self._before = before
        self._after = after
        self._end = ReferenceEnd(before, after, keys=keys)
        self._tables = find_tables(expectation, before=before, after=after)
        self._free = Free((*expectation.unchecked, *expectation.values), after)

    def states(self) -> Iterator[_WrongState]:
        """Yield wrong states of each kind, each with its fault in words."""
        for rule in self._expectation.added:
            for change in self._first(rule, self._end.delta.added):
                yield from self._without_added(rule, change)
        for rule in self._expectation.changed:
            for change in self._first(rule, self._end.delta.changed):
                yield from self._without_changed(rule, change)
        for rule in self._expectation.removed:
            for change in self._first(rule, self._end.delta.removed):
                yield from self._without_removed(rule, change)
        for at, matcher in self._expectation.values.items():
            yield from self._without_value(at, matcher)
        if self._expectation.nothing_else:
            yield from self._side_effects()

    def _first(self, rule: RowRule, changes: Iterable[Change]) -> Iterator[Change]:
        """Yield the first row that fits a rule, if one does."""
        fits = changed_as_told if rule.set else fits_where
        table = self._tables[rule.table].at
        rows = (c for c in changes if c.of is ChangeOf.ROW and c.at == table and fits(rule, c))
        yield from islice(rows, 1)

    def _without_added(self, rule: RowRule, change: Change) -> Iterator[_WrongState]:
        named = f"row {row_name(change)} of {change.at}"
        yield MissKind.STEP_MISSING, f"{named} is not added", self._end.edit(drop=change)
        key_fields = self._end.key_fields(change)
        for field, matcher in rule.where.items():
            if not isinstance(matcher, Anything) and field not in key_fields:
                off = change.model_copy(update={"after": _off(change.after, field, matcher)})
                yield self._field_off(change, off, field)
                yield from self._lists_off(change, field, matcher)
        again = self._end.add_again(change)
        if not fits_where(rule, again):
            what = f"{named} is added under another key"
            yield MissKind.WRONG_RECORD, what, self._end.edit(drop=change, add=again)
        if self._expectation.nothing_else or fits_where(rule, again):
            yield MissKind.EXTRA_RECORD, f"{named} is added twice", self._end.edit(add=again)

    def _without_changed(self, rule: RowRule, change: Change) -> Iterator[_WrongState]:
        named = f"row {row_name(change)} of {change.at}"
        yield MissKind.STEP_MISSING, f"{named} is not changed", self._end.edit(drop=change)
        for field, matcher in rule.set.items():
            if not isinstance(matcher, Anything):
                after = _off(change.after, field, matcher)
                fields = changed_fields(change.before, after)
                off = change.model_copy(update={"after": after, "fields": fields})
                yield self._field_off(change, off, field)
                yield from self._lists_off(change, field, matcher)
        for other in self._other_rows(rule):
            after = other.before
            for field in rule.set:
                after = put(after, field_parts(field), member(change.after, field))
            fields = changed_fields(other.before, after)
            same_done = other.model_copy(update={"after": after, "fields": fields})
            if fields:
                yield from self._another(named, change, same_done, "changed")

    def _without_removed(self, rule: RowRule, change: Change) -> Iterator[_WrongState]:
        named = f"row {row_name(change)} of {change.at}"
        yield MissKind.STEP_MISSING, f"{named} is not removed", self._end.edit(drop=change)
        for other in self._other_rows(rule):
            yield from self._another(named, change, other, "removed", removed=True)

    def _another(
        self, named: str, change: Change, other: Change, verb: str, *, removed: bool = False
    ) -> Iterator[_WrongState]:
        """Yield the ends with another row instead of the expected one, and with both."""
        instead = self._end.edit(drop=change, add=other, removed=removed)
        yield MissKind.WRONG_RECORD, f"row {row_name(other)} instead of {named} is {verb}", instead
        if self._expectation.nothing_else:
            also = self._end.edit(add=other, removed=removed)
            yield MissKind.EXTRA_RECORD, f"row {row_name(other)} is {verb} as well as {named}", also

    def _field_off(self, change: Change, off: Change, field: str) -> _WrongState:
        what = f"{field} of row {row_name(change)} of {change.at} is another"
        return MissKind.ONE_FIELD_OFF, what, self._end.edit(drop=change, add=off)

    def _lists_off(self, change: Change, field: str, matcher: Matcher) -> Iterator[_WrongState]:
        """Yield the ends in which a list's text lacks a part, or has an additional one from another row."""
        rows = islice(self._end.keep_untouched(change.at), _MAX_ROWS)
        parts = parts_of(member(row.before, field) for row in rows)
        for text in other_lists(member(change.after, field), parts):
            if isinstance(matcher, str) and not value_matches(matcher, text):
                after = put(change.after, field_parts(field), text)
                fields = changed_fields(change.before, after) if change.fields else change.fields
                off = change.model_copy(update={"after": after, "fields": fields})
                yield self._field_off(change, off, field)

    def _without_value(self, at: str, matcher: Matcher) -> Iterator[_WrongState]:
        if isinstance(matcher, Anything):
            return
        value, earlier = find(self._after, at), find(self._before, at)
        if value is not ABSENT:
            other = put(self._after, split_pointer(at), unlike(value, matcher))
            yield MissKind.ONE_FIELD_OFF, f"the value at {at} is another", other
        if earlier is not ABSENT and not value_matches(matcher, earlier):
            undone = put(self._after, split_pointer(at), earlier)
            yield MissKind.STEP_MISSING, f"the value at {at} is as before", undone

    def _side_effects(self) -> Iterator[_WrongState]:
        there = self._end.places.values()
        tables = (each for each in there if each.is_table)
        for table in islice(tables, _MAX_TABLES):
            for row in islice(self._end.keep_untouched(table.at), 1):
                if not self._free.has(self._free.row_place(row)):
                    what = f"row {row_name(row)} of {table.at} is removed as well"
                    yield MissKind.SIDE_EFFECT, what, self._end.edit(add=row, removed=True)
                    copy = row.model_copy(update={"before": None, "after": row.before})
                    again = self._end.edit(add=self._end.add_again(copy))
                    what = f"a copy of row {row_name(row)} of {table.at} is added as well"
                    yield MissKind.SIDE_EFFECT, what, again
                yield from self._also_changed(row, row.before)
        for change in self._end.delta.changed:
            if change.of is ChangeOf.ROW:
                yield from self._also_changed(change, change.after)
        values = (e for e in there if not e.is_table and not isinstance(e.after, dict))
        for value in islice((e for e in values if e.after is not ABSENT), _MAX_TABLES):
            if not self._free.has(split_pointer(value.at)):
                other = put(
                    self._after,
                    split_pointer(value.at),
                    another(None if value.after is ABSENT else value.after),
                )
                yield MissKind.SIDE_EFFECT, f"{value.at} is changed as well", other

    def _also_changed(self, change: Change, row: JsonValue) -> Iterator[_WrongState]:
        """Yield the end in which one more member of a row differs: the first that no rule covers."""
        told = {
            field_parts(field)[0]
            for rule in self._expectation.changed
            if self._tables[rule.table].at == change.at
            for field in rule.set
        }
        key_fields = self._end.key_fields(change)
        place = self._free.row_place(change)
        for name, value in row.items() if isinstance(row, dict) else ():
            if name in told or name in key_fields or self._free.has((*place, name)):
                continue
            after = put(row, (name,), another(value))
            fields = changed_fields(change.before, after)
            effect = change.model_copy(update={"after": after, "fields": fields})
            what = f"{name} of row {row_name(change)} of {change.at} is changed as well"
            yield MissKind.SIDE_EFFECT, what, self._end.edit(drop=change, add=effect)
            return

    def _other_rows(self, rule: RowRule) -> Iterator[Change]:
        """Yield the first untouched row that a rule does not match, as if it were removed."""
        rows = self._end.keep_untouched(self._tables[rule.table].at)
        yield from islice((row for row in rows if not fits_where(rule, row)), 1)


def _off(row: JsonValue, field: str, matcher: Matcher) -> JsonValue:
    """Return a row in which one member does not satisfy the matcher."""
    return put(row, field_parts(field), unlike(member(row, field), matcher))
