"""Kinds of tasks that change one thing of the state: create, edit, move, delete, and mixtures of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from generators.tasks.worlds.moves import Steps, answer, click, put, to_form, to_row
from generators.tasks.worlds.setting import (
    NUMBERS,
    Setting,
    is_plain,
    quoted,
    rank,
)
from generators.tasks.worlds.task import Draft
from generators.tasks.worlds.values import new_value
from generators.worlds.database import Row, Value
from generators.worlds.forms import asked_fields, new_row
from schemas.expectation import Expectation, RowRule
from schemas.world import DataField, Entity, Kind, Transition, View

_COPIED = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.LINK}
_MAX_OPTIONAL = 2


def create(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row with given values."""
    for view, entity in _with_forms(setting, random):
        values = _drawn_row(setting, random, entity)
        if values is None:
            continue
        return Draft(
            {**setting.names(view, entity), "stated": _stated(setting, entity, values)},
            _added(setting, entity, values),
            (*to_form(setting, view, entity), *_filled(setting, entity, values), answer()),
        )
    return None


def create_alike(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row of which one value is that of another row, to be read on its page."""
    for view, entity in _with_forms(setting, random):
        values = _drawn_row(setting, random, entity)
        named = setting.named(view, entity)
        if values is None or not named:
            continue
        like = setting.pick(random, entity, named)
        fields = [
            entity.field(name)
            for name in values
            if entity.field(name).kind in _COPIED
            and entity.field(name) is not entity.title
            and _can_put(setting, entity.field(name), like[name])
        ]
        if not fields:
            continue
        field = random.choice(fields)
        values = {**values, field.name: like[field.name]}
        rest = {name: value for name, value in values.items() if name != field.name}
        return Draft(
            {
                **setting.names(view, entity, like),
                "stated": _stated(setting, entity, rest),
                "field": field.label,
            },
            _added(setting, entity, values),
            (
                *to_row(setting, view, entity, like),
                *to_form(setting, view, entity),
                *_filled(setting, entity, values),
                answer(),
            ),
        )
    return None


def edit(setting: Setting, random: Random) -> Draft | None:
    """Ask for another value in one field of a named row."""
    return _edit(setting, random, 1)


def edit_two(setting: Setting, random: Random) -> Draft | None:
    """Ask for other values in two fields of a named row."""
    return _edit(setting, random, 2)


def _edit(setting: Setting, random: Random, number: int) -> Draft | None:
    for view, entity in _editable(setting, random):
        row = setting.pick(random, entity, setting.named(view, entity))
        values = _drawn_change(setting, random, entity, row, number)
        if len(values) < number:
            continue
        return Draft(
            {
                **setting.names(view, entity, row),
                "stated": _stated(setting, entity, values),
                "labels": " and ".join(entity.field(name).label for name in values),
            },
            _changed(entity, row, values),
            (
                *to_row(setting, view, entity, row),
                *_saved_change(setting, entity, row, values),
                answer(),
            ),
        )
    return None


def conditional(setting: Setting, random: Random) -> Draft | None:
    """Ask for one change if a fact of a named row is so, and for another one if it is not."""
    for view, entity in _editable(setting, random):
        row = setting.pick(random, entity, setting.named(view, entity))
        facts = setting.facts(entity, NUMBERS | {Kind.CHOICE})
        told = [field for field in facts if row[field.name] is not None]
        fields = [field for field in _asked(setting, entity) if field is not entity.title]
        if not told or not fields:
            continue
        fact, field = random.choice(told), random.choice(fields)
        first = new_value(setting, random, entity, field, unlike=(row[field.name],))
        other = new_value(setting, random, entity, field, unlike=(row[field.name], first))
        found = _condition(setting, random, entity, fact, row)
        if fact is field or first is None or other is None or found is None:
            continue
        condition, holds = found
        values: Row = {field.name: first if holds else other}
        return Draft(
            {
                **setting.names(view, entity, row),
                "fact": fact.label,
                "condition": condition,
                "field": field.label,
                "first": quoted(setting.shown(entity, field, first)),
                "second": quoted(setting.shown(entity, field, other)),
            },
            _changed(entity, row, values),
            (
                *to_row(setting, view, entity, row),
                *_saved_change(setting, entity, row, values),
                answer(),
            ),
        )
    return None


def move(setting: Setting, random: Random) -> Draft | None:
    """Ask that a named row comes to another state of its workflow, one or two steps away."""
    for view, entity in setting.places(random):
        flow, named = setting.world.workflow(entity.name), setting.named(view, entity)
        if flow is None or not named:
            continue
        row = setting.pick(random, entity, named)
        ways = _ways(flow.transitions, str(row[flow.field]))
        if not ways:
            continue
        length = random.choice(sorted({len(way) for way in ways}))
        way = random.choice([each for each in ways if len(each) == length])
        field, after = entity.field(flow.field), way[-1].after
        return Draft(
            {
                **setting.names(view, entity, row),
                "field": field.label,
                "before": quoted(str(row[field.name])),
                "after": quoted(after),
            },
            _changed(entity, row, {field.name: after}),
            (
                *to_row(setting, view, entity, row),
                *(click(step.label) for step in way),
                answer(),
            ),
        )
    return None


def delete(setting: Setting, random: Random) -> Draft | None:
    """Ask that a named row is deleted; no other row links to it."""
    for view, entity in setting.places(random):
        named = [row for row in setting.named(view, entity) if not _is_linked(setting, entity, row)]
        if not entity.can_delete or not named:
            continue
        row, words = setting.pick(random, entity, named), setting.world.words
        return Draft(
            setting.names(view, entity, row),
            Expectation(removed=(RowRule(table=entity.name, where={"id": row["id"]}),)),
            (
                *to_row(setting, view, entity, row),
                click(words.delete),
                click(words.confirm),
                answer(),
            ),
        )
    return None


WRITING: Mapping[str, Callable[[Setting, Random], Draft | None]] = {
    "create": create,
    "create-alike": create_alike,
    "edit": edit,
    "edit-two": edit_two,
    "conditional": conditional,
    "move": move,
    "delete": delete,
}
"""The kinds, by name; each returns None where what it drew makes no task."""


def _with_forms(setting: Setting, random: Random) -> Iterator[tuple[View, Entity]]:
    """Yield the entities of which pages offer to make a new row, in a drawn order."""
    for view, entity in setting.places(random):
        if entity.can_add:
            yield view, entity


def _editable(setting: Setting, random: Random) -> Iterator[tuple[View, Entity]]:
    """Yield the entities of which pages offer to change a row that a task may name, in a drawn order."""
    for view, entity in setting.places(random):
        if entity.can_edit and setting.named(view, entity):
            yield view, entity


def _asked(setting: Setting, entity: Entity) -> list[DataField]:
    return asked_fields(setting.world, entity)


def _can_put(setting: Setting, field: DataField, value: Value) -> bool:
    """Return whether a form can be given a value, and an instruction can state it."""
    if value is None or value == "":
        return False
    if field.kind in {Kind.CHOICE, Kind.FLAG, Kind.LINK}:
        return value in dict(setting.options(field))
    return is_plain(str(value))


def _drawn_row(setting: Setting, random: Random, entity: Entity) -> Row | None:
    """Return values for a new row: of all fields that it needs, and of some others; None: there are none."""
    asked = _asked(setting, entity)
    needed = [one for one in asked if one.required and one.kind is not Kind.FLAG]
    free = [field for field in asked if field not in needed and field is not entity.title]
    some = random.sample(free, random.randint(0, min(_MAX_OPTIONAL, len(free))))
    values: Row = {}
    for field in asked:
        if field in needed or field is entity.title or field in some:
            unlike = (0,) if field.kind is Kind.FLAG else ()
            value = new_value(setting, random, entity, field, unlike=unlike)
            if value is None:
                return None
            values[field.name] = value
    return values if entity.title.name in values else None


def _drawn_change(setting: Setting, random: Random, entity: Entity, row: Row, number: int) -> Row:
    """Return other values for so many fields of a row, or for as many as can be changed."""
    values: Row = {}
    asked = _asked(setting, entity)
    for field in random.sample(asked, len(asked)):
        value = new_value(setting, random, entity, field, unlike=(row[field.name],))
        if value is not None:
            values[field.name] = value
        if len(values) == number:
            break
    return {field.name: values[field.name] for field in entity.fields if field.name in values}


def _stated(setting: Setting, entity: Entity, values: Row) -> str:
    """Return values in words, as `Name "Lamp", Price "$12.00" and Stock "3"`."""
    parts = [
        f"{field.label} {quoted(setting.shown(entity, field, values[field.name]))}"
        for field in entity.fields
        if field.name in values
    ]
    return " and ".join((*((", ".join(parts[:-1]),) if parts[1:] else ()), parts[-1]))


def _added(setting: Setting, entity: Entity, values: Row) -> Expectation:
    """Return that one row is added: with these values, and what a form leaves where nothing is put."""
    largest = max((row["id"] or 0 for row in setting.rows_of(entity)), key=int)
    blank = {
        field.name: 0 if field.kind is Kind.FLAG else "" if field.kind in _TEXTS else None
        for field in _asked(setting, entity)
    }
    row = {**new_row(setting.world, entity), **blank, **values, "id": int(largest) + 1}
    where = {name: row[name] for name in ("id", *(field.name for field in entity.fields))}
    return Expectation(added=(RowRule(table=entity.name, where={**where}),))


def _changed(entity: Entity, row: Row, values: Row) -> Expectation:
    rule = RowRule(table=entity.name, where={"id": row["id"]}, set={**values})
    return Expectation(changed=(rule,))


def _filled(setting: Setting, entity: Entity, values: Row) -> Steps:
    """Return how the form for a new row is filled and saved."""
    steps = [
        step
        for name, value in values.items()
        for step in put(setting, entity.field(name), value, before=None)
    ]
    return (*steps, click(setting.world.words.save))


def _saved_change(setting: Setting, entity: Entity, row: Row, values: Row) -> Steps:
    """Return how values of a row are changed, from the row's own page on."""
    words = setting.world.words
    steps = [
        step
        for name, value in values.items()
        for step in put(setting, entity.field(name), value, before=row[name])
    ]
    return (click(words.edit), *steps, click(words.save))


def _condition(
    setting: Setting, random: Random, entity: Entity, fact: DataField, row: Row
) -> tuple[str, bool] | None:
    """Return a condition on a fact, in words, and whether it holds for a row; None: none can be drawn."""
    value = row[fact.name]
    among = list({other[fact.name]: None for other in setting.rows_of(entity)})
    if fact.kind is Kind.CHOICE:
        asked = random.choice((value, random.choice(among)))
        return quoted(str(asked)), asked == value
    bounds = [other for other in among if other is not None and other != value]
    if not bounds:
        return None
    bound = random.choice(bounds)
    words = "after" if fact.kind is Kind.DATE else "above"
    larger = rank(value) > rank(bound)
    return f"{words} {quoted(setting.shown(entity, fact, bound))}", larger


def _ways(transitions: Sequence[Transition], state: str) -> list[tuple[Transition, ...]]:
    """Return the ways of one or two steps that lead from a state to another."""
    first = [step for step in transitions if state in step.before and step.after != state]
    second = [
        (step, then)
        for step in first
        for then in transitions
        if step.after in then.before and then.after not in {state, step.after}
    ]
    return [*((step,) for step in first), *second]


def _is_linked(setting: Setting, entity: Entity, row: Row) -> bool:
    """Return whether a row links to this one."""
    return any(
        other[field.name] == row["id"]
        for source in setting.world.entities
        for field in source.fields
        if field.target == entity.name
        for other in setting.rows_of(source)
    )


_TEXTS = frozenset({Kind.TEXT, Kind.LONG_TEXT})
