"""The judge: whether the changes on a site's server and the answer are those that the task expects.

It gets two states, their delta and the answer; the page and its claims never reach it. Each rule is judged
by itself and gives a sentence, met or not. A rule about a table or place that neither state has is a
mistake of the task, not a failure of the policy, so it raises an error.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pydantic import JsonValue

from generators.sites.judging.answers import answer_matches
from generators.sites.judging.matching import describe, value_matches
from generators.sites.judging.protocol import REASON_BYTES, Judgement
from generators.sites.judging.rules import (
    changed_as_told,
    find_tables,
    fits_where,
    mismatches,
    named_tables,
    row_name,
    show,
)
from generators.sites.judging.side_effects import side_effects
from generators.sites.judging.tables import Place, PlaceKind
from schemas.episodes.state_delta import Change, ChangeOf, Delta
from schemas.errors import BadExpectation
from schemas.json_pointer import ABSENT, Found, find
from schemas.redaction import MASK, redact
from schemas.tasks.expectation import Expectation, Matcher, RowRule
from schemas.truncation import truncate

_SECRET = re.compile(r"(?i)passw|secret|token|credential|api_?key")
_MAX_SHOWN = 5
_MAX_COMPARED = 200


class _Finding(NamedTuple):
    met: bool
    reason: str


def judge(
    expectation: Expectation,
    *,
    before: JsonValue,
    after: JsonValue,
    delta: Delta,
    answer: str | None,
) -> Judgement:
    """Return the judgement of an attempt's end, with a sentence for each expectation.

    Args:
        expectation: the rules that the task states; probes are run elsewhere.
        before: the state before the first action, masked.
        after: the state after the last action, masked.
        delta: the differences between the two.
        answer: the policy's answer; None: it gave none.

    Raises:
        BadExpectation: a rule's table is in neither state, or its name is ambiguous; or a value is expected
            at a place that neither state has.
    """
    tables = find_tables(expectation, before=before, after=after)
    findings = [
        *_judge_rules(expectation, tables, delta),
        *(
            _judge_place(at, matcher, before=before, after=after)
            for at, matcher in expectation.values.items()
        ),
    ]
    if expectation.nothing_else:
        findings.append(_judge_rest(side_effects(expectation, tables, delta=delta, after=after)))
    if expectation.answer is not None:
        findings.append(_judge_answer(expectation.answer, answer))
    return Judgement(
        reward=float(all(finding.met for finding in findings)),
        reasons=tuple(truncate(finding.reason, REASON_BYTES) for finding in findings),
    )


def explain(expectation: Expectation, *, delta: Delta, answer: str | None) -> tuple[str, ...]:
    """Return a sentence for each unmet expectation, as far as the delta and the answer show it.

    The states are no longer known, so of a table only the differing rows count, and a value that does not
    differ is not judged. Empty: everything is met, a probe judges, or the delta does not show it.
    """
    if expectation.probe is not None:
        return ()
    rules = (*expectation.added, *expectation.changed, *expectation.removed)
    changes = (*delta.added, *delta.changed, *delta.removed)
    known = sorted({each.at for each in changes if each.of is ChangeOf.ROW})
    tables = {rule.table: _known_table(rule.table, known) for rule in rules}
    findings = [
        *_judge_rules(expectation, tables, delta),
        *(
            _judge_value(each.at, expectation.values[each.at], each.after)
            for each in changes
            if each.of is ChangeOf.VALUE and each.at in expectation.values
        ),
    ]
    if expectation.nothing_else:
        findings.append(_judge_rest(side_effects(expectation, tables, delta=delta, after=None)))
    if expectation.answer is not None:
        findings.append(_judge_answer(expectation.answer, answer))
    hidden = _secret_values(expectation, changes)
    return tuple(
        truncate(_mask(finding.reason, hidden), REASON_BYTES)
        for finding in findings
        if not finding.met
    )


def _known_table(name: str, known: Sequence[str]) -> Place:
    """Return the table that a name means, among tables with differing rows; else a table without rows."""
    found = named_tables(name, known)
    return Place(found[0] if len(found) == 1 else name, PlaceKind.ARRAY, None, None)


def _secret_values(expectation: Expectation, changes: Sequence[Change]) -> set[str]:
    """Return the values of members whose names mark them as credentials."""
    rules = (*expectation.added, *expectation.changed, *expectation.removed)
    stated = [pair for rule in rules for pair in (*rule.where.items(), *rule.set.items())]
    rows = [row for each in changes for row in (each.before, each.after) if isinstance(row, dict)]
    members = [*stated, *(pair for row in rows for pair in row.items())]
    return {
        str(value)
        for name, value in members
        if _SECRET.search(name) and isinstance(value, str | int) and str(value)
    }


def _mask(reason: str, hidden: set[str]) -> str:
    for value in sorted(hidden, key=len, reverse=True):
        reason = reason.replace(value, MASK)
    return redact(reason)


def _judge_rules(
    expectation: Expectation, tables: Mapping[str, Place], delta: Delta
) -> Iterator[_Finding]:
    """Judge the rules about added, changed and removed rows, in that order."""
    for rule in expectation.added:
        yield _judge_rows(rule, tables[rule.table], delta.added, "added")
    for rule in expectation.changed:
        yield _judge_changed(rule, tables[rule.table], delta)
    for rule in expectation.removed:
        yield _judge_rows(rule, tables[rule.table], delta.removed, "removed")


def _judge_rows(rule: RowRule, table: Place, changes: Sequence[Change], verb: str) -> _Finding:
    """Judge a rule about rows that only one of the states has."""
    rows = [each for each in changes if each.of is ChangeOf.ROW and each.at == table.at]
    found = [each for each in rows if fits_where(rule, each)]
    return _count(rule, table, verb, found=len(found), others=rows)


def _judge_changed(rule: RowRule, table: Place, delta: Delta) -> _Finding:
    rows = [each for each in delta.changed if each.of is ChangeOf.ROW and each.at == table.at]
    found = [each for each in rows if changed_as_told(rule, each)]
    return _count(rule, table, "changed", found=len(found), others=rows)


def _count(
    rule: RowRule, table: Place, verb: str, *, found: int, others: Sequence[Change]
) -> _Finding:
    met = found == rule.count
    meant = [f"{field} is {describe(matcher)}" for field, matcher in rule.where.items()]
    if rule.key is not None:
        meant.insert(0, f"the key is {describe(rule.key)}")
    where = f" where {' and '.join(meant)}" if meant else ""
    became = [f"{field} becomes {describe(matcher)}" for field, matcher in rule.set.items()]
    so = f" so that {' and '.join(became)}" if became else ""
    rows = "row" if rule.count == 1 else "rows"
    text = f"expected {rule.count} {rows} {verb} in {table.at or 'the state'}{where}{so}, found {found}"
    nearest = _nearest(rule, others, verb) if found < rule.count else ""
    return _Finding(met, f"{text}{nearest}")


def _nearest(rule: RowRule, rows: Sequence[Change], verb: str) -> str:
    """Return how the most similar row misses the rule."""
    if not rows:
        return f"; no row was {verb} there"
    misses = {n: list(mismatches(rule, row)) for n, row in enumerate(rows[:_MAX_COMPARED])}
    unfit = [n for n, missed in misses.items() if missed]
    if not unfit:
        return ""
    best = min(unfit, key=lambda n: len(misses[n]))
    return f"; of the row {row_name(rows[best])} {' and '.join(map(str, misses[best]))}"


def _judge_place(at: str, matcher: Matcher, *, before: JsonValue, after: JsonValue) -> _Finding:
    value = find(after, at)
    if value is ABSENT and find(before, at) is ABSENT:
        raise BadExpectation(
            f"a value is expected at {at!r}, where the state has nothing, before or after"
        )
    return _judge_value(at, matcher, value)


def _judge_value(at: str, matcher: Matcher, value: Found) -> _Finding:
    met = value_matches(matcher, value)
    return _Finding(met, f"expected {describe(matcher)} at {at}, found {show(value)}")


def _judge_answer(matcher: Matcher, answer: str | None) -> _Finding:
    if answer is None:
        return _Finding(met=False, reason=f"expected {describe(matcher)} as the answer, found none")
    met = answer_matches(matcher, answer)
    return _Finding(met, f"expected {describe(matcher)} as the answer, found {show(answer)}")


def _judge_rest(found: Iterator[str]) -> _Finding:
    shown = list(islice(found, _MAX_SHOWN))
    if not shown:
        return _Finding(met=True, reason="expected nothing else to differ, and nothing does")
    more = sum(1 for _ in found)
    also = f"; and {more} more" if more else ""
    return _Finding(
        met=False, reason=f"expected nothing else to differ, found {'; '.join(shown)}{also}"
    )
