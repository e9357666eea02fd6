"""What each step changed in the server's state, held against what the task expects.

Of every row that an attempt touched the ledger keeps what it was at first and what it is now. A member of a row is
*wrong* if it is neither as at first nor as the task wants it; a row is wrong as a whole if it was added or removed
against the expectation. A step that makes something wrong is a mistake, and one that makes less wrong mends it. What
is added on the way, and is gone once a later step brings the task forward, as things in a cart, was no mistake.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import JsonValue

from generators.sites.judging.matching import value_matches
from generators.sites.judging.rules import member, named_tables
from schemas.base import canonical_json
from schemas.episodes.episode import Step
from schemas.episodes.state_delta import Change, ChangeOf, Delta
from schemas.json_pointer import covers, split_pointer
from schemas.tasks.expectation import Expectation, RowRule

WHOLE = "the row"
"""Stands for a row that should not be there, or should not have gone."""


class Effect(StrEnum):
    """What a step's change of the server's state did."""

    FORWARD = "forward"
    """It brought about a part of what the task expects."""
    WRONG = "wrong"
    """It made something other than what the task expects, or took back what it expects."""
    MENDED = "mended"
    """It made less wrong."""
    OTHER = "other"
    """It changed what the task leaves unchecked, or what no rule says anything about."""


@dataclass(frozen=True, slots=True)
class Write:
    """A step's change of the server's state."""

    effect: Effect
    wrong: tuple[str, ...] = ()
    """What it made wrong, as values of members."""
    mended_by: int | None = None
    """The step after which none of this was wrong any more; None: it stayed."""


@dataclass(slots=True)
class _Row:
    """A row that the attempt touched."""

    table: str
    key: JsonValue
    first: JsonValue
    """As it was before the attempt; None: it was not there."""
    now: JsonValue
    """As it is; None: it is not there."""


@dataclass(slots=True)
class _Moment:
    """What is wrong and what is done after a step."""

    wrong: dict[str, dict[str, str]] = field(default_factory=dict)
    """By row: the members that are wrong, with their values."""
    done: int = 0
    """How many parts of the expectation are met."""


def writes(expect: Expectation, steps: Sequence[Step]) -> dict[int, Write]:
    """Return what the changes of steps did, by step; steps that changed nothing are left out.

    The expectation has rules: what a probe wants, nothing here knows.
    """
    rows: dict[str, _Row] = {}
    moments, changed = [_Moment()], list[int]()
    for step in steps:
        if step.delta is None or step.delta == Delta():
            continue
        for change in (*step.delta.added, *step.delta.changed, *step.delta.removed):
            _apply(rows, change)
        changed.append(step.step)
        moments.append(_judge(expect, rows))
    return {number: _write(moments, place + 1, changed) for place, number in enumerate(changed)}


def _apply(rows: dict[str, _Row], change: Change) -> None:
    if change.of not in (ChangeOf.ROW, ChangeOf.VALUE):
        return
    key = change.key
    if key is None and change.of is ChangeOf.ROW:
        key = canonical_json(change.after if change.before is None else change.before)
    name = f"{change.at} {canonical_json(key)}"
    found = rows.setdefault(name, _Row(change.at, key, change.before, change.after))
    found.now = change.after


def _judge(expect: Expectation, rows: dict[str, _Row]) -> _Moment:
    """Return what is wrong, and how much of the expectation is met."""
    out = _Moment()
    left = [rule.count for rule in expect.added]
    for name, row in rows.items():
        wrong, done = _of_row(expect, row, left)
        free = [split_pointer(pattern) for pattern in expect.unchecked]
        place = (*split_pointer(row.table), str(row.key))
        wrong = {
            part: value
            for part, value in wrong.items()
            if not any(
                covers(pattern, (*place, part)) or covers(pattern, place) for pattern in free
            )
        }
        if wrong:
            out.wrong[name] = wrong
        out.done += done
    return out


def _of_row(expect: Expectation, row: _Row, left: list[int]) -> tuple[dict[str, str], int]:
    """Return the wrong members of a row and how many parts it meets; `left` counts the rows still to be added."""
    if row.table in expect.values:
        good = value_matches(expect.values[row.table], row.now)
        return ({} if good else {WHOLE: str(row.now)}), int(good)
    if row.first == row.now:
        return {}, 0
    if row.first is None:
        return _of_added(expect, row, left)
    if row.now is None:
        good = any(_fits(rule, row, row.first) for rule in _rules(expect.removed, row))
        return ({} if good or not expect.nothing_else else {WHOLE: ""}), int(good)
    return _of_changed(expect, row)


def _of_added(expect: Expectation, row: _Row, left: list[int]) -> tuple[dict[str, str], int]:
    """Return what is wrong in an added row, by the rule that it misses by least."""
    best: dict[str, str] | None = None
    for place, rule in enumerate(expect.added):
        if not left[place] or not named_tables(rule.table, [row.table]):
            continue
        missed = {
            name: str(member(row.now, name))
            for name, matcher in rule.where.items()
            if not value_matches(matcher, member(row.now, name))
        }
        if not missed:
            left[place] -= 1
            return {}, 1
        if best is None or len(missed) < len(best):
            best = missed
    if best is None:
        return ({WHOLE: ""} if expect.nothing_else else {}), 0
    return best, 0


def _of_changed(expect: Expectation, row: _Row) -> tuple[dict[str, str], int]:
    """Return the members of a changed row that are neither as before nor as a rule wants them."""
    differ = dict(_differences(row.first, row.now))
    wants = {
        name: matcher
        for rule in _rules(expect.changed, row)
        if _fits(rule, row, row.first)
        for name, matcher in rule.set.items()
    }
    good = {name for name in differ if name in wants and value_matches(wants[name], differ[name])}
    wrong = {name: str(value) for name, value in differ.items() if name not in good}
    if not expect.nothing_else:
        wrong = {name: value for name, value in wrong.items() if name in wants}
    return wrong, len(good)


def _differences(first: JsonValue, now: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if not isinstance(first, dict) or not isinstance(now, dict):
        yield WHOLE, now
        return
    for name in {*first, *now}:
        if first.get(name) != now.get(name):
            yield name, now.get(name)


def _rules(rules: Sequence[RowRule], row: _Row) -> Iterator[RowRule]:
    return (rule for rule in rules if named_tables(rule.table, [row.table]))


def _fits(rule: RowRule, row: _Row, value: JsonValue) -> bool:
    if rule.key is not None and not value_matches(rule.key, row.key):
        return False
    return all(value_matches(one, member(value, name)) for name, one in rule.where.items())


def _write(moments: Sequence[_Moment], at: int, changed: Sequence[int]) -> Write:
    """Return what the step did that led to a moment."""
    before, after = moments[at - 1], moments[at]
    worse = {
        name: set(wrong.items()) - set(before.wrong.get(name, {}).items())
        for name, wrong in after.wrong.items()
    }
    worse = {name: parts for name, parts in worse.items() if parts}
    if worse and not all(_is_used_up(moments, at, name) for name in worse):
        values = tuple(value for parts in worse.values() for _, value in parts)
        later = zip(changed[at:], moments[at + 1 :], strict=False)
        good = (number for number, moment in later if not worse.keys() & moment.wrong.keys())
        return Write(Effect.WRONG, values, next(good, None))
    if after.done < before.done:
        return Write(Effect.WRONG)
    mended = [
        name for name, wrong in before.wrong.items() if set(after.wrong.get(name, {})) < set(wrong)
    ]
    if after.done > before.done and (not mended or _are_things_used(moments, at, mended)):
        return Write(Effect.FORWARD)
    if mended:
        return Write(Effect.MENDED)
    return Write(Effect.FORWARD if worse else Effect.OTHER)


def _is_used_up(moments: Sequence[_Moment], at: int, name: str) -> bool:
    """Return whether what is wrong of a row since a moment has gone with a step that brought the task forward."""
    for before, after in zip(moments[at:], moments[at + 1 :], strict=False):
        if name not in after.wrong:
            return after.done > before.done and WHOLE in before.wrong[name]
    return False


def _are_things_used(moments: Sequence[_Moment], at: int, names: Sequence[str]) -> bool:
    """Return whether all that was wrong until a moment were rows that it used up."""
    return all(WHOLE in moments[at - 1].wrong[name] for name in names)
