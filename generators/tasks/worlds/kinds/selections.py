"""Kinds of tasks about the first row of a sorted part of a list: name it, change it, move it."""

from random import Random

from generators.tasks.worlds.ground.changes import changes, draw_change, find_ways
from generators.tasks.worlds.ground.mentions import FieldSaid, ValueSaid, ValuesSaid
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds.answers import is_asked_for
from generators.tasks.worlds.references.forms import save_change
from generators.tasks.worlds.references.sorted_lists import (
    draw_ordered,
    list_to_read,
    to_first,
    to_ordered,
    why_first,
    words_of_part,
)
from generators.tasks.worlds.references.steps import answer, take_steps
from schemas.tasks.expectation import Expectation

_CHOSEN = range(3, 30)


@task_kind("choose", aside="several")
def choose(setting: Setting, random: Random) -> Draft | None:
    """Ask for the row with the largest or smallest value among those that meet two conditions."""
    ordered = draw_ordered(setting, random, _CHOSEN, (2,))
    if ordered is None:
        return None
    reply = setting.title(ordered.part.entity, ordered.rows[0])
    if not is_asked_for(reply):
        return None
    return Draft(
        words_of_part(setting, ordered.part, ordered),
        Expectation(answer=reply, read=list_to_read(setting, ordered)),
        (
            *to_ordered(setting, ordered, ordered.rows[:1]),
            answer(reply, why_first(setting, ordered)),
        ),
        "computed",
        near=ordered.part.near,
    )


@task_kind("choose-edit", aside="several")
def choose_edit(setting: Setting, random: Random) -> Draft | None:
    """Ask to change the row with the largest or smallest value among those that meet conditions."""
    ordered = draw_ordered(setting, random, _CHOSEN, (2, 1), can=lambda one: one.can_edit)
    if ordered is None:
        return None
    entity, row = ordered.part.entity, ordered.rows[0]
    values = draw_change(setting, random, entity, row, random.randint(1, 2))
    if not values or entity.title.name in values:
        return None
    return Draft(
        {
            **words_of_part(setting, ordered.part, ordered),
            "stated": ValuesSaid(entity, values),
        },
        changes(entity, (row, values), read=list_to_read(setting, ordered)),
        (
            *to_first(setting, ordered),
            *save_change(setting, entity, row, values),
            answer(),
        ),
        near=ordered.part.near,
    )


@task_kind("choose-move", aside="several")
def choose_move(setting: Setting, random: Random) -> Draft | None:
    """Ask to move the row with the largest or smallest value among those that meet conditions to another state."""
    ordered = draw_ordered(
        setting,
        random,
        _CHOSEN,
        (2, 1),
        can=lambda one: setting.world.workflow(one.name) is not None,
    )
    if ordered is None:
        return None
    entity, row = ordered.part.entity, ordered.rows[0]
    flow = setting.world.workflow(entity.name)
    known = () if flow is None else find_ways(flow.transitions, str(row[flow.field]))
    if flow is None or not known:
        return None
    way = random.choice(known)
    return Draft(
        {
            **words_of_part(setting, ordered.part, ordered),
            "state": FieldSaid((entity.field(flow.field),)),
            "after": ValueSaid(entity, entity.field(flow.field), way[-1].after),
        },
        changes(entity, (row, {flow.field: way[-1].after}), read=list_to_read(setting, ordered)),
        (
            *to_first(setting, ordered),
            *take_steps(setting, *way),
            answer(),
        ),
        near=ordered.part.near,
    )
