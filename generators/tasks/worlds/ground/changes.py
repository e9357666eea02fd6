"""Changes that tasks ask for: their values and their expectations."""

from collections.abc import Iterator, Sequence
from random import Random

from generators.tasks.worlds.ground.mentions import ValueSaid
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.row_conditions import Part, whole_list
from generators.tasks.worlds.ground.world_rows import (
    Setting,
    is_plain,
    rank,
)
from generators.worlds.state.database import Row, Value
from generators.worlds.state.form_fields import asked_fields, new_message, new_row
from schemas.tasks.expectation import Expectation, ReadList, RowRule
from schemas.worlds.field import DataField, Kind, tags_of
from schemas.worlds.patterns import Thread
from schemas.worlds.world import Entity, Transition, View

_TEXTS = frozenset({Kind.TEXT, Kind.LONG_TEXT})
_MAX_OPTIONAL = 2


def with_forms(setting: Setting, random: Random) -> Iterator[tuple[View, Entity]]:
    """Yield the entities with a form for new rows, in random order."""
    for view, entity in setting.places(random):
        if entity.can_add:
            yield view, entity


def editable(setting: Setting, random: Random) -> Iterator[tuple[View, Entity]]:
    """Yield the entities with editable rows that a task can name, in random order."""
    for view, entity in setting.places(random):
        if entity.can_edit and setting.namable(view, entity):
            yield view, entity


def form_fields(setting: Setting, entity: Entity) -> list[DataField]:
    """Return the fields in an entity's forms."""
    return asked_fields(setting.world, entity)


def can_put(setting: Setting, field: DataField, value: Value) -> bool:
    """Return whether a form accepts a value and an instruction can state it."""
    if value is None or value == "":
        return False
    if field.kind is Kind.TAGS:
        return {*tags_of(value)} <= dict(setting.options(field)).keys() and is_plain(str(value))
    if field.kind in {Kind.CHOICE, Kind.FLAG, Kind.LINK}:
        return value in dict(setting.options(field))
    return is_plain(str(value))


def draw_row(setting: Setting, random: Random, entity: Entity) -> Row | None:
    """Return values for a new row: all required fields and some others; None: no valid values were found."""
    asked = form_fields(setting, entity)
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
    if entity.title.name not in values or clashes(setting, entity, ({}, values)):
        return None
    return values


def draw_change(setting: Setting, random: Random, entity: Entity, row: Row, number: int) -> Row:
    """Return new values for `number` fields of a row, or fewer if fewer can change; empty if they would clash."""
    values: Row = {}
    asked = form_fields(setting, entity)
    for field in random.sample(asked, len(asked)):
        value = new_value(setting, random, entity, field, unlike=(row[field.name],))
        if value is not None:
            values[field.name] = value
        if len(values) == number:
            break
    if clashes(setting, entity, (row, values)):
        return {}
    return {field.name: values[field.name] for field in entity.fields if field.name in values}


def adds(setting: Setting, entity: Entity, *rows: Row) -> Expectation:
    """Return the expectation that rows are added in order, with these values and a form's defaults elsewhere."""
    largest = max((int(row["id"] or 0) for row in setting.rows_of(entity)), default=0)
    blank = {
        field.name: 0 if field.kind is Kind.FLAG else "" if field.kind in _TEXTS else None
        for field in form_fields(setting, entity)
    }
    names = ("id", *(field.name for field in entity.fields))
    rules = list[RowRule]()
    for number, values in enumerate(rows, start=1):
        row = {**new_row(setting.world, entity), **blank, **values, "id": largest + number}
        where = {name: row[name] for name in names}
        if len(rows) > 1:
            del where["id"]
        rules.append(RowRule(table=entity.name, where={**where}))
    return Expectation(added=tuple(rules))


def changes(entity: Entity, *pairs: tuple[Row, Row], read: ReadList | None = None) -> Expectation:
    """Return the expectation that rows are changed: each gets its new values, and nothing else changes.

    `read` is the list that has to be read to know which rows; None: none has.
    """
    return Expectation(
        read=read,
        changed=tuple(
            RowRule(table=entity.name, where={"id": row["id"]}, set={**values})
            for row, values in pairs
        ),
    )


def changes_of_part(setting: Setting, part: Part, values: Row) -> Expectation:
    """Return the expectation that all rows of a part of a list get values, and that the list was read for them."""
    pairs = ((row, values) for row in part.rows)
    return changes(part.entity, *pairs, read=whole_list(setting, part.view, part.entity))


def removal_of_part(setting: Setting, part: Part) -> Expectation:
    """Return the expectation that all rows of a part of a list are gone, and that the list was read for them."""
    return Expectation(
        removed=tuple(
            RowRule(table=part.entity.name, where={"id": row["id"]}) for row in part.rows
        ),
        read=whole_list(setting, part.view, part.entity),
    )


def draw_condition(
    setting: Setting, random: Random, entity: Entity, fact: DataField, row: Row
) -> tuple[ValueSaid, bool] | None:
    """Return a condition on a fact, and whether a row meets it; None: no condition is possible."""
    value = row[fact.name]
    there = (other[fact.name] for other in setting.rows_of(entity))
    among = list(dict.fromkeys(one for one in there if one is not None))
    if fact.kind is Kind.CHOICE:
        asked = random.choice((value, random.choice(among)))
        return ValueSaid(entity, fact, asked), asked == value
    bounds = [other for other in among if other != value]
    if not bounds:
        return None
    bound = random.choice(bounds)
    over = "after" if fact.kind is Kind.DATE else "above"
    return ValueSaid(entity, fact, bound, over), rank(value) > rank(bound)


def find_ways(transitions: Sequence[Transition], state: str) -> list[tuple[Transition, ...]]:
    """Return the paths of one step from a state, and those of two steps to states that one step does not reach."""
    first = [step for step in transitions if state in step.before and step.after != state]
    near = {state, *(step.after for step in first)}
    second = [
        (step, then)
        for step in first
        for then in transitions
        if step.after in then.before and then.after not in near
    ]
    return [*((step,) for step in first), *second]


def is_linked(setting: Setting, entity: Entity, row: Row) -> bool:
    """Return whether any row links to this one."""
    return any(
        other[field.name] == row["id"]
        for source in setting.world.entities
        for field in source.fields
        if field.target == entity.name
        for other in setting.rows_of(source)
    )


def clashes(setting: Setting, entity: Entity, *pairs: tuple[Row, Row]) -> bool:
    """Return whether rows, changed one after another, ever share their values of `apart`.

    A pair is a row, without `id` if it is new, and its new values.
    """
    rows = [{**row} for row in setting.rows_of(entity)]
    for row, values in pairs if entity.apart else ():
        changed = {**row, **values}
        rows = [one for one in rows if one["id"] != changed.get("id")]
        if any(all(one[name] == changed.get(name) for name in entity.apart) for one in rows):
            return True
        if "id" in changed:
            rows.append(changed)
    return False


def set_rule(view: View, values: Row) -> RowRule:
    """Return the rule that settings have changed to these values."""
    return RowRule(table=view.entity, where={"id": 1}, set={**values})


def reply_rule(setting: Setting, thread: Thread, row: Row, text: str) -> RowRule:
    """Return the rule that a row has got its first new message."""
    number = setting.next_id(setting.world.entity(thread.messages))
    made = new_message(setting.world, thread, int(row["id"] or 0), number, text)
    return RowRule(table=thread.messages, where={"id": number, **made})
