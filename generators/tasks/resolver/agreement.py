"""Whether a goal's reading leads to a task's expectation: the same rows with the same values, the same answer."""

from collections import Counter
from collections.abc import Mapping, Sequence

from generators.sites.judging.answers import answer_matches
from generators.tasks.resolver.reading import UNKNOWN, Change, Reading, Refusal
from generators.worlds.state.database import Row
from generators.worlds.state.form_fields import asked_fields, new_message, new_row
from generators.worlds.state.permissions import new_request
from schemas.tasks.expectation import Expectation, RowRule
from schemas.worlds.field import Kind
from schemas.worlds.world import World

_IMPOSSIBLE = "impossible"
_TEXTS = frozenset({Kind.TEXT, Kind.LONG_TEXT})


def agrees(read: Reading | Refusal, expect: Expectation, world: World) -> bool:
    """Return whether a reading leads to an expectation, or a refusal says why a task is impossible.

    What an expectation does not say of a row to add must be what a form gives by itself.
    """
    if isinstance(read, Refusal):
        rules = (*expect.added, *expect.changed, *expect.removed)
        is_impossible = expect.answer is not None and answer_matches(expect.answer, _IMPOSSIBLE)
        return is_impossible and not rules and read.reason in UNKNOWN
    return (
        not expect.values
        and expect.probe is None
        and _is_answered(read, expect)
        and _rows_of(expect.changed) == _sets_by_row(read.changed)
        and _rows_of(expect.removed) == _sets_by_row(read.removed)
        and _are_added(read, expect.added, world)
    )


def _is_answered(read: Reading, expect: Expectation) -> bool:
    if expect.answer is None or read.answer is None:
        return (expect.answer is None) is (read.answer is None)
    return answer_matches(expect.answer, read.answer)


def _rows_of(rules: Sequence[RowRule]) -> dict[tuple[str, object], Mapping[str, object]]:
    return {(rule.table, rule.where.get("id")): dict(rule.set) for rule in rules}


def _sets_by_row(changes: Sequence[Change]) -> dict[tuple[str, object], Mapping[str, object]]:
    return {(one.entity, one.row): dict(one.values) for one in changes}


def _are_added(read: Reading, rules: Sequence[RowRule], world: World) -> bool:
    if read.ordered:
        return _is_order(read, rules, world)
    if len(rules) != len(read.added):
        return False
    left = [_whole_row(world, one) for one in read.added]
    for rule in rules:
        fits = [row for row in left if _is_row(rule, row)]
        if rule.table not in {one.entity for one in read.added} or not fits:
            return False
        left.remove(fits[0])
    return True


def _is_row(rule: RowRule, row: Row) -> bool:
    return all(row.get(name) == value for name, value in rule.where.items() if name != "id")


def _whole_row(world: World, change: Change) -> Row:
    """Return a row to add with what its form, its thread or its request gives by itself."""
    values, entity = dict(change.values), world.entity(change.entity)
    thread = next((one for one in world.threads if one.messages == change.entity), None)
    if thread is not None:
        row, text = values[thread.link], str(values[thread.text])
        return new_message(world, thread, int(row or 0), change.row, text)
    asked = world.permissions.requests if world.permissions is not None else None
    if asked is not None and asked.entity == change.entity:
        return new_request(
            world, asked, int(values[asked.link] or 0), change.row, str(values[asked.act])
        )
    blank: Row = {
        field.name: 0 if field.kind is Kind.FLAG else "" if field.kind in _TEXTS else None
        for field in asked_fields(world, entity)
    }
    return {**new_row(world, entity), **blank, **values}


def _is_order(read: Reading, rules: Sequence[RowRule], world: World) -> bool:
    cart = world.cart
    if cart is None:
        return False
    lines = Counter(
        (rule.where.get(cart.thing), rule.where.get(cart.quantity))
        for rule in rules
        if rule.table == cart.lines
    )
    orders = sum(rule.table == cart.orders for rule in rules)
    told = Counter[tuple[object, object]](read.ordered)
    return orders == 1 and lines == told and len(rules) == 1 + len(read.ordered)
