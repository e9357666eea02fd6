"""Kinds of tasks with one change of the state: create, edit, move, delete, and combinations."""

from random import Random

from generators.policy.sentences.vary import sentence
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
    is_linked,
    with_forms,
)
from generators.tasks.worlds.ground.mentions import (
    FieldSaid,
    RowSaid,
    StepSaid,
    ValueSaid,
    ValuesSaid,
)
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import NUMBERS, Setting
from generators.tasks.worlds.references.facts import facts_of, keep
from generators.tasks.worlds.references.forms import fill_form, save_change
from generators.tasks.worlds.references.steps import (
    answer,
    because,
    in_words_of,
    is_listed,
    read_row,
    remove,
    take_steps,
    to_form,
    to_row,
)
from generators.worlds.state.database import Row
from schemas.tasks.expectation import Expectation, RowRule
from schemas.worlds.field import Kind

_COPIED = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.TAGS, Kind.LINK}


@task_kind("create")
def create(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row with given values."""
    for view, entity in with_forms(setting, random):
        values = draw_row(setting, random, entity)
        if values is None:
            continue
        return Draft(
            {**setting.names(view, entity), "stated": ValuesSaid(entity, values)},
            adds(setting, entity, values),
            (*to_form(setting, view, entity), *fill_form(setting, entity, values), answer()),
        )
    return None


@task_kind("create-alike")
def create_alike(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row that copies one value from another row, to be read on its page."""
    for view, entity in with_forms(setting, random):
        values = draw_row(setting, random, entity)
        named = setting.namable(view, entity)
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
                "stated": ValuesSaid(entity, rest),
                "field": FieldSaid((field,)),
            },
            adds(setting, entity, values),
            (
                *read_row(setting, view, entity, like, (field,)),
                *to_form(setting, view, entity),
                *fill_form(setting, entity, values),
                answer(),
            ),
        )
    return None


@task_kind("edit", aside="one")
def edit(setting: Setting, random: Random) -> Draft | None:
    """Ask to change one field of a named row."""
    return _edit(setting, random, 1)


@task_kind("edit-two", aside="one")
def edit_two(setting: Setting, random: Random) -> Draft | None:
    """Ask to change two fields of a named row."""
    return _edit(setting, random, 2)


def _edit(setting: Setting, random: Random, number: int) -> Draft | None:
    for view, entity in editable(setting, random):
        row = setting.pick(random, entity, setting.namable(view, entity))
        values = draw_change(setting, random, entity, row, number)
        if len(values) < number:
            continue
        return Draft(
            {
                **setting.names(view, entity, row),
                "stated": ValuesSaid(entity, values),
                "labels": FieldSaid(tuple(map(entity.field, values))),
            },
            changes(entity, (row, values)),
            (
                *to_row(setting, view, entity, row, reads=()),
                *save_change(setting, entity, row, values),
                answer(),
            ),
        )
    return None


@task_kind("conditional", aside="one")
def conditional(setting: Setting, random: Random) -> Draft | None:
    """Ask for one change if a fact of a named row meets a condition, and for another otherwise."""
    for view, entity in editable(setting, random):
        row = setting.pick(random, entity, setting.namable(view, entity))
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
        after = setting.show(entity, field, values[field.name])
        why = sentence(
            "kinds.condition",
            fact=fact.label,
            value=setting.fact(entity, fact, row),
            met="" if holds else "not ",
            field=field.label,
            after=after.rstrip("."),
            how=in_words_of(edits[0]),
        )
        return Draft(
            {
                **setting.names(view, entity, row),
                "fact": FieldSaid((fact,)),
                "condition": condition,
                "field": FieldSaid((field,)),
                "first": ValueSaid(entity, field, first),
                "second": ValueSaid(entity, field, other),
            },
            changes(entity, (row, values)),
            (
                *keep(
                    to_row(
                        setting, view, entity, row, reads=() if is_listed(view, [fact]) else (fact,)
                    ),
                    facts_of(setting, entity, row, (fact,)),
                ),
                *because(why, edits),
                answer(),
            ),
        )
    return None


@task_kind("move", aside="one")
def move(setting: Setting, random: Random) -> Draft | None:
    """Ask to bring a named row to another state of its workflow, one or two steps away."""
    for view, entity in setting.places(random):
        flow, named = setting.world.workflow(entity.name), setting.namable(view, entity)
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
                "field": FieldSaid((field,)),
                "before": ValueSaid(entity, field, row[field.name]),
                "after": ValueSaid(entity, field, after),
                "do": StepSaid(
                    RowSaid(entity, setting.title(entity, row), row, view),
                    way[-1],
                    field,
                ),
            },
            changes(entity, (row, {field.name: after})),
            (
                *to_row(
                    setting, view, entity, row, reads=() if is_listed(view, [field]) else (field,)
                ),
                *take_steps(setting, *way),
                answer(),
            ),
        )
    return None


@task_kind("delete", aside="one")
def delete(setting: Setting, random: Random) -> Draft | None:
    """Ask to delete a named row; no other row links to it."""
    for view, entity in setting.places(random):
        named = [
            row for row in setting.namable(view, entity) if not is_linked(setting, entity, row)
        ]
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
