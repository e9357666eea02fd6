"""A kind of task on boards: move a card to another column."""

from random import Random

from generators.tasks.worlds.ground.changes import (
    changes,
)
from generators.tasks.worlds.ground.mentions import ValueSaid
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.pattern_steps import (
    drag_card,
    press_card,
    views_of,
)
from generators.tasks.worlds.references.steps import answer
from schemas.worlds.patterns import Shape

_DRAGGED = 0.7
"""The share of cards that are dragged; the others are moved by a button."""


@task_kind("move-card", aside="one", needs=Shape.BOARD)
def move_card(setting: Setting, random: Random) -> Draft | None:
    """Ask to move a named card of a board to a column that one step reaches."""
    for view in views_of(setting, Shape.BOARD):
        entity, flow = setting.world.entity(view.entity), setting.world.workflow(view.entity)
        listed = setting.world.view_of(view.entity)
        if flow is None or listed is None:
            continue
        able = [
            (row, step)
            for row in setting.namable(listed, entity)
            for step in flow.transitions
            if row[flow.field] in step.before and row[flow.field] != step.after
        ]
        if not able:
            continue
        row, step = random.choice(able)
        title = setting.title(entity, row)
        steps = (
            drag_card(setting, view, title, step.after)
            if random.random() < _DRAGGED or setting.world.behaviour.cards_dragged
            else press_card(setting, view, title, step)
        )
        return Draft(
            {
                **setting.names(view, entity, row),
                "after": ValueSaid(entity, entity.field(flow.field), step.after),
            },
            changes(entity, (row, {flow.field: step.after})),
            (*steps, answer()),
        )
    return None
