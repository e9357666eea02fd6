"""A kind of task on boards: move a card to another column."""

from random import Random

from generators.tasks.worlds.ground.changes import (
    changes,
)
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting, quote
from generators.tasks.worlds.references.pattern_steps import (
    drag_card,
    press_card,
    views_of,
)
from generators.tasks.worlds.references.steps import answer
from schemas.worlds.patterns import Shape

_DRAGGED = 0.7
"""The share of cards that are dragged; the others are moved by a button."""


@task_kind(
    "move-card",
    aside="one",
    needs=Shape.BOARD,
    words="""
    terse: {view}: {title} to {after}.
    terse: {title} under {after}, on {view}.
    terse: Move {title} to {after}.
    en: [Please move|Move|Bring] the card {title} to {after} [on|under] {view}.
    en: On {view}, {title} [belongs|should be] under {after}. [Put|Move|Drag] it there.
    en: [Open|Go to] {view} and [put|drag|bring] the {one} {title} [into|to] the column {after}.
    en: The {one} {title} is in the wrong column of {view}: [it is|it should be] {after}[.| by now.]
    en: [We have agreed|It was agreed] that the {one} {title} [goes|is moved] to {after}. [See to it|Do that] on {view}, and [touch|move] no other card.
    en: [As of today|From now on] {title} counts as {after}. [Show that|Make that so] on the board {view}.
    de: Verschiebe auf {view} die Karte {title} nach {after}.
    de: Auf {view} gehört {title} in die Spalte {after}.
    fr: Sur {view}, déplace la carte {title} vers {after}.
    fr: Sur {view}, {title} doit être dans la colonne {after}.
    es: En {view}, mueve la tarjeta {title} a {after}.
    es: En {view}, {title} debe estar en la columna {after}.
    """,
)
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
            {**setting.names(view, entity, row), "after": quote(step.after)},
            changes(entity, (row, {flow.field: step.after})),
            (*steps, answer()),
        )
    return None
