"""Kinds of tasks that change one thing of the state: create, edit, move, delete, and mixtures of them."""

from collections.abc import Callable, Mapping
from random import Random

from generators.tasks.worlds.ground.changes import (
    adds,
    can_put,
    changes,
    clashes,
    draw_change,
    draw_condition,
    draw_row,
    editable,
    find_ways,
    form_fields,
    in_words,
    is_linked,
    with_forms,
)
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.values import new_value
from generators.tasks.worlds.ground.world_rows import NUMBERS, Setting, called, quoted, term
from generators.tasks.worlds.references.steps import (
    act,
    answer,
    because,
    fill_form,
    remove,
    save_change,
    to_form,
    to_row,
)
from generators.worlds.state.database import Row
from schemas.tasks.expectation import Expectation, RowRule
from schemas.worlds.field import Kind

_COPIED = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.TAGS, Kind.LINK}


def create(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row with given values."""
    for view, entity in with_forms(setting, random):
        values = draw_row(setting, random, entity)
        if values is None:
            continue
        return Draft(
            {**setting.names(view, entity), "stated": in_words(setting, entity, values)},
            adds(setting, entity, values),
            (*to_form(setting, view, entity), *fill_form(setting, entity, values), answer()),
        )
    return None


def create_alike(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row of which one value is that of another row, to be read on its page."""
    for view, entity in with_forms(setting, random):
        values = draw_row(setting, random, entity)
        named = setting.named(view, entity)
        if values is None or not named:
            continue
        like = setting.pick(random, entity, named)
        fields = [
            entity.field(name)
            for name in values
            if entity.field(name).kind in _COPIED
            and entity.field(name) is not entity.title
            and can_put(setting, entity.field(name), like[name])
        ]
        if not fields:
            continue
        field = random.choice(fields)
        values = {**values, field.name: like[field.name]}
        if clashes(setting, entity, ({}, values)):
            continue
        rest = {name: value for name, value in values.items() if name != field.name}
        return Draft(
            {
                **setting.names(view, entity, like),
                "stated": in_words(setting, entity, rest),
                "field": called(field),
            },
            adds(setting, entity, values),
            (
                *to_row(setting, view, entity, like, reads=(field,)),
                *to_form(setting, view, entity),
                *fill_form(setting, entity, values),
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
    for view, entity in editable(setting, random):
        row = setting.pick(random, entity, setting.named(view, entity))
        values = draw_change(setting, random, entity, row, number)
        if len(values) < number:
            continue
        return Draft(
            {
                **setting.names(view, entity, row),
                "stated": in_words(setting, entity, values),
                "labels": f" {term('and')} ".join(called(entity.field(name)) for name in values),
            },
            changes(entity, (row, values)),
            (
                *to_row(setting, view, entity, row, reads=()),
                *save_change(setting, entity, row, values),
                answer(),
            ),
        )
    return None


def conditional(setting: Setting, random: Random) -> Draft | None:
    """Ask for one change if a fact of a named row is so, and for another one if it is not."""
    for view, entity in editable(setting, random):
        row = setting.pick(random, entity, setting.named(view, entity))
        facts = setting.facts(entity, NUMBERS | {Kind.CHOICE})
        told = [field for field in facts if row[field.name] is not None]
        fields = [field for field in form_fields(setting, entity) if field is not entity.title]
        if not told or not fields:
            continue
        fact, field = random.choice(told), random.choice(fields)
        first = new_value(setting, random, entity, field, unlike=(row[field.name],))
        other = new_value(setting, random, entity, field, unlike=(row[field.name], first))
        found = draw_condition(setting, random, entity, fact, row)
        if fact is field or first is None or other is None or found is None:
            continue
        condition, holds = found
        values: Row = {field.name: first if holds else other}
        if clashes(setting, entity, (row, values)):
            continue
        edits = save_change(setting, entity, row, values)
        after = setting.shown(entity, field, values[field.name])
        why = (
            f"{fact.label} is {setting.fact(entity, fact, row)}, so the condition is "
            f"{'' if holds else 'not '}met, and {field.label} becomes {after.rstrip('.')}. "
            f'For that I click "{edits[0].on}".'
        )
        return Draft(
            {
                **setting.names(view, entity, row),
                "fact": called(fact),
                "condition": condition,
                "field": called(field),
                "first": quoted(setting.shown(entity, field, first)),
                "second": quoted(setting.shown(entity, field, other)),
            },
            changes(entity, (row, values)),
            (
                *to_row(setting, view, entity, row, reads=(fact,)),
                *because(why, edits),
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
        ways = find_ways(flow.transitions, str(row[flow.field]))
        if not ways:
            continue
        length = random.choice(sorted({len(way) for way in ways}))
        way = random.choice([each for each in ways if len(each) == length])
        field, after = entity.field(flow.field), way[-1].after
        return Draft(
            {
                **setting.names(view, entity, row),
                "field": called(field),
                "before": quoted(str(row[field.name])),
                "after": quoted(after),
            },
            changes(entity, (row, {field.name: after})),
            (
                *to_row(setting, view, entity, row, reads=()),
                *(each for step in way for each in act(setting, step.label)),
                answer(),
            ),
        )
    return None


def delete(setting: Setting, random: Random) -> Draft | None:
    """Ask that a named row is deleted; no other row links to it."""
    for view, entity in setting.places(random):
        named = [row for row in setting.named(view, entity) if not is_linked(setting, entity, row)]
        if not entity.can_delete or not named:
            continue
        row = setting.pick(random, entity, named)
        return Draft(
            setting.names(view, entity, row),
            Expectation(removed=(RowRule(table=entity.name, where={"id": row["id"]}),)),
            (
                *to_row(setting, view, entity, row, reads=()),
                *remove(setting),
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
