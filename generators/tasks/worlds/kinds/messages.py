"""Kinds of tasks on threads: write a message, with words of the goal or a value of another row."""

from random import Random

from generators.tasks.worlds.ground.changes import (
    reply_rule,
)
from generators.tasks.worlds.ground.mentions import FieldSaid, RowSaid, TextSaid
from generators.tasks.worlds.ground.new_values import notes
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import NUMBERS, Setting, is_plain
from generators.tasks.worlds.references.pattern_steps import (
    reply,
)
from generators.tasks.worlds.references.steps import answer, read_row, to_row
from schemas.tasks.expectation import Expectation
from schemas.worlds.field import Kind
from schemas.worlds.patterns import Thread
from schemas.worlds.world import Entity, View

_QUOTED = NUMBERS | {Kind.TEXT, Kind.CHOICE}


@task_kind("write-message", aside="one", needs=Thread)
def write_message(setting: Setting, random: Random) -> Draft | None:
    """Ask for a message with given words under a named row."""
    for thread, view, entity in _threads(setting, random):
        row = setting.pick(random, entity, setting.namable(view, entity))
        text = random.choice(notes(setting))
        return Draft(
            {
                **setting.names(view, entity, row),
                "text": TextSaid(text),
                "button": TextSaid(thread.reply),
            },
            Expectation(added=(reply_rule(setting, thread, row, text),)),
            (
                *to_row(setting, view, entity, row, reads=()),
                *reply(setting, thread, text),
                answer(),
            ),
        )
    return None


@task_kind("write-fact", needs=Thread)
def write_fact(setting: Setting, random: Random) -> Draft | None:
    """Ask for a message under a named row with another row's value, to be read on its page."""
    for thread, view, entity in _threads(setting, random):
        named = setting.namable(view, entity)
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
        said = RowSaid(entity, setting.title(entity, other), other, view)
        return Draft(
            {
                **setting.names(view, entity, row),
                "field": FieldSaid((field,), said),
                "other": said,
                "button": TextSaid(thread.reply),
            },
            Expectation(added=(reply_rule(setting, thread, row, text),)),
            (
                *read_row(setting, view, entity, other, (field,)),
                *to_row(setting, view, entity, row, reads=()),
                *reply(setting, thread, text),
                answer(),
            ),
        )
    return None


def _threads(setting: Setting, random: Random) -> list[tuple[Thread, View, Entity]]:
    """Return the threads of entities with rows that a task can name, in random order."""
    return [
        (thread, view, entity)
        for view, entity in setting.places(random)
        if (thread := setting.world.thread(entity.name)) is not None
        and setting.namable(view, entity)
    ]
