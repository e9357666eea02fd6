"""What a task expects beside what was found, piece by piece, for people who look at an attempt.

Whether a rule, a value or an answer is met, and what is a side effect, is decided by the functions that the judge
uses (`match_rules`, `side_effects`, `value_matches`, `answer_matches`). This module only puts their results apart: for
each row and member that differs what it was to be, and what it became. Values are written as JSON and are
cut; those of members that are named like credentials are masked.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import reduce
from itertools import islice

from generators.sites.judging.answers import answer_matches
from generators.sites.judging.judge import hide_secrets, known_tables
from generators.sites.judging.matching import describe, value_matches
from generators.sites.judging.rules import (
    Mismatch,
    Parts,
    RuleRows,
    field_parts,
    match_rules,
    member,
    row_name,
    show,
    starts,
)
from generators.sites.judging.side_effects import SideEffect, side_effects
from schemas.base import Record
from schemas.episodes.state_delta import Change, ChangeOf, Delta
from schemas.json_pointer import ABSENT, find, join_pointer, split_pointer
from schemas.tasks.expectation import Expectation, Matcher, Matches, Number, RowRule
from schemas.truncation import truncate

MAX_EXTRA = 20
"""Differences that nothing expects of which each is told; of more only the number."""

MAX_ROWS = 20
"""Rows that fit one rule of which each is told."""

TEXT_BYTES = 500
"""Largest size of each text of a difference, UTF-8 bytes."""

THE_ANSWER = "the answer"
"""What a difference of the answer is called."""

PATTERN_BYTES = 160
"""Largest size of a pattern in a text, UTF-8 bytes."""

_NAMES = ("name", "title", "label", "text", "subject")
_MAX_NAME_CHARS = 60


class DifferenceKind(StrEnum):
    """How what was found stands to what is expected."""

    MISSING = "missing"
    """It was expected and is not there."""
    EXTRA = "extra"
    """It is there and nothing expects it."""
    WRONG = "wrong"
    """Something is in its place that is not what is expected."""
    AS_EXPECTED = "as expected"
    """It is what is expected."""


class Difference(Record):
    """One thing that a task expects, or that nothing expects, beside what was found."""

    kind: DifferenceKind
    """How the two stand to each other."""
    what: str
    """The thing, as `orders row 17 · status`, or `the answer`."""
    expected: str
    """What it was to be, in words; values as JSON."""
    found: str
    """What it is, in words; values as JSON."""

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected}, found {self.found}"


def differences(
    expectation: Expectation, *, delta: Delta, answer: str | None
) -> tuple[Difference, ...]:
    """Return what a task expects beside what was found: what is missing, wrong or extra first.

    Of a value that is expected at a place of the state and does not differ nothing is told: the delta does not have it.

    Args:
        expectation: the task's expectation; of a probe's nothing is known, so the result is empty.
        delta: the differences of the server's state that the attempt made.
        answer: the policy's answer; None: it gave none.
    """
    if expectation.probe is not None:
        return ()
    tables = known_tables(expectation, delta)
    rules = list(match_rules(expectation, tables, delta))
    told = _Told(row for one in rules for row in one.fitting)
    found = [each for one in rules for each in _of_rule(one, told)]
    found += _of_values(expectation, delta)
    if expectation.answer is not None:
        found.append(_of_answer(expectation.answer, answer))
    if expectation.nothing_else:
        found += _extra(side_effects(expectation, tables, delta=delta, after=None), told)
    hide = hide_secrets(expectation, delta)
    unmet_first = sorted(found, key=lambda each: each.kind is DifferenceKind.AS_EXPECTED)
    return tuple(_bounded_text(each, hide) for each in unmet_first)


def row_label(change: Change) -> str:
    """Return a row in words: its table, its key, and its name if it has one, as `orders row 17 ("Chair")`."""
    row = change.after if change.before is None else change.before
    members = row if isinstance(row, dict) else {}
    name = next((members[name] for name in _NAMES if isinstance(members.get(name), str)), None)
    if name is None or change.key == name:
        return f"{_table(change.at)} row {row_name(change)}"
    key = "" if change.key is None else f" {show(change.key)}"
    return f"{_table(change.at)} row{key} ({show(str(name)[:_MAX_NAME_CHARS])})"


class _Told:
    """The rows of which differences are told already."""

    def __init__(self, fitting: Iterator[Change]) -> None:
        self.fitting = list(fitting)
        """The rows that fit a rule."""
        self.wrong: list[tuple[Change, RowRule]] = []
        """The rows that stand in the place of one that was expected, each with its rule."""

    def has(self, row: Change) -> bool:
        """Return whether something is told of a row."""
        return row in self.fitting or any(row == one for one, _ in self.wrong)

    def has_field(self, row: Change, path: Parts) -> bool:
        """Return whether a member of a row is told to be other than expected."""
        rules = [rule for one, rule in self.wrong if one == row]
        return any(starts(path, field_parts(field)) for rule in rules for field in rule.set)


def _of_rule(found: RuleRows, told: _Told) -> Iterator[Difference]:
    """Yield what a rule expects, and what came of it."""
    for row in found.fitting[:MAX_ROWS]:
        yield from _as_told(found, row)
    count, wanted = len(found.fitting), found.rule.count
    if count > wanted:
        names = ", ".join(row_name(row) for row in found.fitting[:MAX_ROWS])
        expected = f"{wanted} {found.verb}{_where(found.rule)}"
        yield _different(
            DifferenceKind.EXTRA, f"{_table(found.table.at)} rows", expected, f"{count}: {names}"
        )
    elif count < wanted:
        yield from _unmet(found, told, missing=wanted - count)


def _as_told(found: RuleRows, row: Change) -> Iterator[Difference]:
    kind, what = DifferenceKind.AS_EXPECTED, row_label(row)
    if not found.rule.set:
        yield _different(kind, what, f"{found.verb}{_where(found.rule)}", found.verb)
    for field, matcher in found.rule.set.items():
        value = show(member(row.after, field))
        yield _different(kind, f"{what} · {field}", _in_words(matcher), value)


def _unmet(found: RuleRows, told: _Told, *, missing: int) -> Iterator[Difference]:
    """Yield what a rule misses: the members of rows that stand in its place, and rows that nothing stands for."""
    free = tuple(row for row in found.rows if not told.has(row))
    for _ in range(min(missing, MAX_ROWS)):
        nearest = found._replace(rows=free).nearest()
        if nearest is None or not _is_meant(found, *nearest):
            yield from _differences_of_none(found)
            return
        row, missed = nearest
        told.wrong.append((row, found.rule))
        free = tuple(each for each in free if each is not row)
        for each in missed:
            name = each.field or each.what
            what = f"{row_label(row)} · {name}"
            yield _different(
                DifferenceKind.WRONG, what, _in_words(each.matcher), _became(row, each, name)
            )


def _is_meant(found: RuleRows, row: Change, missed: Sequence[Mismatch]) -> bool:
    """Return whether a row is the one that a rule is about, with other values.

    A row that was there before is known by its key and by what chooses it. A new one is known by nothing: the
    nearest one is taken.
    """
    if found.verb == "added":
        return True
    return row.before is not None and all(each.field is not None for each in missed)


def _became(row: Change, missed: Mismatch, name: str) -> str:
    if missed.field is None:
        return show(missed.value)
    before = member(row.before, name)
    same = before is not ABSENT and show(before) == show(missed.value)
    return f"{show(missed.value)}, as before" if same else show(missed.value)


def _differences_of_none(found: RuleRows) -> Iterator[Difference]:
    """Yield what a rule expects where no row stands for it."""
    rule, kind = found.rule, DifferenceKind.MISSING
    table, where = _table(found.table.at), _where(rule)
    key = rule.key if isinstance(rule.key, str | int) else rule.where.get("id")
    row = f"{table} row"
    if isinstance(key, str | int):
        row = f"{row} {show(key)}"
        where = where if len(rule.where) + (rule.key is not None) > 1 else ""
    if rule.count > 1:
        expected = f"{rule.count} rows {found.verb}{_where(rule)}"
        yield _different(kind, f"{table} rows", expected, f"{len(found.fitting)} of them")
    elif found.verb == "added":
        yield _different(kind, table, f"a row added{_where(rule)}", "none was added")
    elif found.verb == "removed":
        yield _different(kind, row, f"removed{where}", "it is still there")
    for field, matcher in rule.set.items() if rule.count == 1 else ():
        yield _different(kind, f"{row} · {field}", f"{_in_words(matcher)}{where}", "no such change")


def _where(rule: RowRule) -> str:
    meant = [f"{field} is {_in_words(matcher)}" for field, matcher in rule.where.items()]
    if rule.key is not None:
        meant.insert(0, f"the key is {_in_words(rule.key)}")
    return f" where {' and '.join(meant)}" if meant else ""


def _of_values(expectation: Expectation, delta: Delta) -> Iterator[Difference]:
    for each in (*delta.added, *delta.changed, *delta.removed):
        if each.of is ChangeOf.VALUE and each.at in expectation.values:
            matcher = expectation.values[each.at]
            met = value_matches(matcher, each.after)
            kind = DifferenceKind.AS_EXPECTED if met else DifferenceKind.WRONG
            yield _different(kind, each.at, _in_words(matcher), show(each.after))


def _of_answer(matcher: Matcher, answer: str | None) -> Difference:
    what, expected = THE_ANSWER, _in_words(matcher)
    if answer is None:
        return _different(DifferenceKind.MISSING, what, expected, "no answer")
    met = answer_matches(matcher, answer)
    kind = DifferenceKind.AS_EXPECTED if met else DifferenceKind.WRONG
    return _different(kind, what, expected, show(answer))


def _extra(effects: Iterator[SideEffect], told: _Told) -> Iterator[Difference]:
    """Yield the side effects, but for what is told of a row that stands in the place of an expected one."""
    kept = (one for one in effects if one.verb == "changed" or not told.has(one.change))
    split = (each for one in kept for each in _of_effect(one, told))
    yield from islice(split, MAX_EXTRA)
    more = sum(1 for _ in split)
    if more:
        yield _different(DifferenceKind.EXTRA, "and more", "nothing else to differ", f"{more} more")


def _of_effect(effect: SideEffect, told: _Told) -> Iterator[Difference]:
    change, kind = effect.change, DifferenceKind.EXTRA
    if change.of is not ChangeOf.ROW:
        order = "the order of " if change.of is ChangeOf.ORDER else ""
        found = show(change.after) if change.of is ChangeOf.VALUE else effect.verb
        yield _different(kind, f"{order}{change.at or 'the state'}", "no change", found)
    elif effect.verb == "changed":
        for path in (path for path in effect.fields if not told.has_field(change, path)):
            before, after = (
                find(row, reduce(join_pointer, path, "")) for row in (change.before, change.after)
            )
            what = f"{row_label(change)} · {'/'.join(path)}"
            yield _different(kind, what, f"{show(before)}, as before", show(after))
    else:
        wanted = "no such row" if effect.verb == "added" else "the row kept"
        yield _different(kind, row_label(change), wanted, f"it was {effect.verb}")


def _in_words(matcher: Matcher) -> str:
    """Return a matcher's expectation in words: an exact number as it is, a pattern shortened."""
    match matcher:
        case Number(within=0):
            return f"{matcher.number:.15g}"
        case Matches():
            return f"what {truncate(repr(matcher.matches), PATTERN_BYTES)} matches"
    return describe(matcher)


def _table(at: str) -> str:
    return (split_pointer(at) if at.startswith("/") else (at,))[-1] or "the state"


def _different(kind: DifferenceKind, what: str, expected: str, found: str) -> Difference:
    return Difference(kind=kind, what=what, expected=expected, found=found)


def _bounded_text(each: Difference, hide: Callable[[str], str]) -> Difference:
    texts = {
        name: truncate(hide(getattr(each, name)), TEXT_BYTES)
        for name in ("what", "expected", "found")
    }
    return each.model_copy(update=texts)
