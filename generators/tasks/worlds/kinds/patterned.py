"""Kinds of tasks on the patterns of worlds: settings, messages under a row, boards, and those of other modules."""

from collections.abc import Callable, Mapping
from random import Random

from generators.tasks.worlds.ground.changes import (
    changes,
    form_fields,
    in_words,
    reply_rule,
    set_rule,
)
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.values import NOTES, new_value
from generators.tasks.worlds.ground.world_rows import NUMBERS, Setting, called, is_plain, quoted
from generators.tasks.worlds.kinds.carts import buy
from generators.tasks.worlds.kinds.grid import grid_edit
from generators.tasks.worlds.kinds.seat_map import take_place
from generators.tasks.worlds.references.steps import answer, to_row
from generators.tasks.worlds.references.view_steps import (
    drag_card,
    press_card,
    reply,
    to_setting,
    views_of,
)
from generators.worlds.state.database import Row
from schemas.tasks.expectation import Expectation
from schemas.worlds.field import Kind
from schemas.worlds.patterns import Shape, Thread
from schemas.worlds.world import Entity, View

_QUOTED = NUMBERS | {Kind.TEXT, Kind.CHOICE}
_DRAGGED = 0.7
"""The share of cards that are dragged; the others are moved by a button."""


def preferences(setting: Setting, random: Random) -> Draft | None:
    """Ask for one to three settings to be changed, and saved together."""
    for view in views_of(setting, Shape.SETTINGS):
        entity = setting.world.entity(view.entity)
        now = setting.row(entity, 1)
        asked = form_fields(setting, entity)
        drawn = random.sample(asked, min(random.randint(1, 3), len(asked)))
        drawn_values = {
            field.name: new_value(setting, random, entity, field, unlike=(now[field.name],))
            for field in drawn
        }
        values: Row = {
            field.name: drawn_values[field.name]
            for field in asked
            if drawn_values.get(field.name) is not None
        }
        if not values:
            continue
        return Draft(
            {
                "site": setting.world.title,
                "view": view.label,
                "stated": in_words(setting, entity, values),
            },
            Expectation(changed=(set_rule(view, values),)),
            (*to_setting(setting, view, values), answer()),
        )
    return None


def write_message(setting: Setting, random: Random) -> Draft | None:
    """Ask for a message with stated words under a named row."""
    for thread, view, entity in _threads(setting, random):
        row = setting.pick(random, entity, setting.named(view, entity))
        text = random.choice(NOTES)
        return Draft(
            {
                **setting.names(view, entity, row),
                "text": quoted(text),
                "button": quoted(thread.reply),
            },
            Expectation(added=(reply_rule(setting, thread, row, text),)),
            (
                *to_row(setting, view, entity, row, reads=()),
                *reply(setting, thread, text),
                answer(),
            ),
        )
    return None


def write_fact(setting: Setting, random: Random) -> Draft | None:
    """Ask for a message under a named row that says what another row has in a field, to be read on its page."""
    for thread, view, entity in _threads(setting, random):
        named = setting.named(view, entity)
        row = setting.pick(random, entity, named)
        fields = setting.facts(entity, _QUOTED)
        told = [
            (field, other)
            for field in fields
            for other in named
            if other is not row
            and other[field.name] is not None
            and is_plain(setting.fact(entity, field, other))
        ]
        if not told:
            continue
        field, other = random.choice(told)
        text = setting.fact(entity, field, other)
        return Draft(
            {
                **setting.names(view, entity, row),
                "field": called(field),
                "other": quoted(setting.title(entity, other)),
                "button": quoted(thread.reply),
            },
            Expectation(added=(reply_rule(setting, thread, row, text),)),
            (
                *to_row(setting, view, entity, other, reads=(field,)),
                *to_row(setting, view, entity, row, reads=()),
                *reply(setting, thread, text),
                answer(),
            ),
        )
    return None


def move_card(setting: Setting, random: Random) -> Draft | None:
    """Ask that a named card of a board comes to the column that one step leads to."""
    for view in views_of(setting, Shape.BOARD):
        entity, flow = setting.world.entity(view.entity), setting.world.workflow(view.entity)
        listed = setting.world.view_of(view.entity)
        if flow is None or listed is None:
            continue
        able = [
            (row, step)
            for row in setting.named(listed, entity)
            for step in flow.transitions
            if row[flow.field] in step.before and row[flow.field] != step.after
        ]
        if not able:
            continue
        row, step = random.choice(able)
        title = setting.title(entity, row)
        steps = (
            drag_card(setting, view, title, step.after)
            if random.random() < _DRAGGED
            else press_card(setting, view, title, step)
        )
        return Draft(
            {**setting.names(view, entity, row), "after": quoted(step.after)},
            changes(entity, (row, {flow.field: step.after})),
            (*steps, answer()),
        )
    return None


PATTERNED: Mapping[str, Callable[[Setting, Random], Draft | None]] = {
    "preferences": preferences,
    "write-message": write_message,
    "write-fact": write_fact,
    "move-card": move_card,
    "grid-edit": grid_edit,
    "take-place": take_place,
    "buy": buy,
}
"""The kinds, by name; each returns None where what it drew makes no task."""

NEEDS: Mapping[str, Shape | type[Thread]] = {
    "preferences": Shape.SETTINGS,
    "write-message": Thread,
    "write-fact": Thread,
    "move-card": Shape.BOARD,
    "schedule": Shape.CALENDAR,
    "grid-edit": Shape.GRID,
    "take-place": Shape.MAP,
    "buy": Shape.CART,
}
"""What a family must have for each of them: views of a shape, or messages."""


def _threads(setting: Setting, random: Random) -> list[tuple[Thread, View, Entity]]:
    """Return the messages that rows have which a task may name, in a drawn order."""
    return [
        (thread, view, entity)
        for view, entity in setting.places(random)
        if (thread := setting.world.thread(entity.name)) is not None and setting.named(view, entity)
    ]
