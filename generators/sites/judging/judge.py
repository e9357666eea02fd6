"""The judge: whether the changes on a site's server and the answer are those that the task expects.

It gets two states, their delta and the answer; the page and its claims never reach it. Each rule is judged
by itself and gives a sentence, met or not. A rule about a table or place that neither state has is a
mistake of the task, not a failure of the policy, so it raises an error.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from pydantic import JsonValue

from generators.sites.judging.answers import answer_matches
from generators.sites.judging.matching import describe, value_matches
from generators.sites.judging.protocol import REASON_BYTES, Judgement
from generators.sites.judging.rules import (
    RuleRows,
    find_tables,
    match_rules,
    named_tables,
    row_name,
    show,
)
from generators.sites.judging.side_effects import SideEffect, side_effects
from generators.sites.judging.tables import Place, PlaceKind
from schemas.episodes.state_delta import ChangeOf, Delta
from schemas.errors import BadExpectation
from schemas.json_pointer import ABSENT, Found, find
from schemas.redaction import MASK, redact
from schemas.tasks.expectation import Expectation, Matcher
from schemas.truncation import truncate

_SECRET = re.compile(r"(?i)passw|secret|token|credential|api_?key")
_MAX_SHOWN = 5


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
        *map(_judge_rule, match_rules(expectation, tables, delta)),
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
    changes = (*delta.added, *delta.changed, *delta.removed)
    tables = known_tables(expectation, delta)
    findings = [
        *map(_judge_rule, match_rules(expectation, tables, delta)),
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
    hide = hide_secrets(expectation, delta)
    return tuple(
        truncate(hide(finding.reason), REASON_BYTES) for finding in findings if not finding.met
    )


def known_tables(expectation: Expectation, delta: Delta) -> dict[str, Place]:
    """Return the table that each name in an expectation means, as far as the differing rows tell."""
    changes = (*delta.added, *delta.changed, *delta.removed)
    known = sorted({each.at for each in changes if each.of is ChangeOf.ROW})
    rules = (*expectation.added, *expectation.changed, *expectation.removed)
    return {rule.table: _known_table(rule.table, known) for rule in rules}


def _known_table(name: str, known: Sequence[str]) -> Place:
    """Return the table that a name means, among tables with differing rows; else a table without rows."""
    found = named_tables(name, known)
    return Place(found[0] if len(found) == 1 else name, PlaceKind.ARRAY, None, None)


def hide_secrets(expectation: Expectation, delta: Delta) -> Callable[[str], str]:
    """Return what masks, in a text, the values of members whose names mark them as credentials."""
    rules = (*expectation.added, *expectation.changed, *expectation.removed)
    stated = [pair for rule in rules for pair in (*rule.where.items(), *rule.set.items())]
    changes = (*delta.added, *delta.changed, *delta.removed)
    rows = [row for each in changes for row in (each.before, each.after) if isinstance(row, dict)]
    members = [*stated, *(pair for row in rows for pair in row.items())]
    hidden = {
        str(value)
        for name, value in members
        if _SECRET.search(name) and isinstance(value, str | int) and str(value)
    }
    return partial(_mask, hidden=sorted(hidden, key=len, reverse=True))


def _mask(text: str, *, hidden: Sequence[str]) -> str:
    for value in hidden:
        text = text.replace(value, MASK)
    return redact(text)


def _judge_rule(found: RuleRows) -> _Finding:
    """Judge a rule about rows."""
    rule, verb = found.rule, found.verb
    meant = [f"{field} is {describe(matcher)}" for field, matcher in rule.where.items()]
    if rule.key is not None:
        meant.insert(0, f"the key is {describe(rule.key)}")
    where = f" where {' and '.join(meant)}" if meant else ""
    became = [f"{field} becomes {describe(matcher)}" for field, matcher in rule.set.items()]
    so = f" so that {' and '.join(became)}" if became else ""
    rows = "row" if rule.count == 1 else "rows"
    count = len(found.fitting)
    text = f"expected {rule.count} {rows} {verb} in {found.table.at or 'the state'}{where}{so}, found {count}"
    return _Finding(found.met, f"{text}{_nearest(found) if count < rule.count else ''}")


def _nearest(found: RuleRows) -> str:
    """Return how the most similar row misses the rule."""
    if not found.rows:
        return f"; no row was {found.verb} there"
    nearest = found.nearest()
    if nearest is None:
        return ""
    row, missed = nearest
    return f"; of the row {row_name(row)} {' and '.join(map(str, missed))}"


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


def _judge_rest(found: Iterator[SideEffect]) -> _Finding:
    shown = [effect.text for effect in islice(found, _MAX_SHOWN)]
    if not shown:
        return _Finding(met=True, reason="expected nothing else to differ, and nothing does")
    more = sum(1 for _ in found)
    also = f"; and {more} more" if more else ""
    return _Finding(
        met=False, reason=f"expected nothing else to differ, found {'; '.join(shown)}{also}"
    )
