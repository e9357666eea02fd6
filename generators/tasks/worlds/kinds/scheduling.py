"""A kind of task on calendars: a new row on the first free day, as the calendar shows."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.changes import adds, can_put, clashes, draw_row
from generators.tasks.worlds.ground.mentions import (
    FieldSaid,
    NounSaid,
    RowsSaid,
    TermSaid,
    ValueSaid,
    ValuesSaid,
)
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.forms import fill_form
from generators.tasks.worlds.references.pattern_steps import to_month, views_of
from generators.tasks.worlds.references.steps import Steps, answer, because, click, see
from generators.worlds.state.database import Row
from schemas.tasks.reference import Purpose
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, View

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday")
_MOST_MONTHS, _WEEK = 2, 7
_TAKEN = 2
"""Number of rows on the days before the free one, where a calendar has enough such days."""

_SHOWN = frozenset({Kind.CHOICE, Kind.LINK})


class _Free(NamedTuple):
    """The first free day from a day of a calendar on, in the same month."""

    start: date
    """The first day of the search, which is taken."""
    day: date
    taken: tuple[Row, ...]
    """The rows on the days before it."""
    weekly: bool
    """Whether the search proceeds by weeks instead of days."""
    key: DataField | None
    """The field whose value those rows share with the new one; None: all rows count."""


@task_kind("schedule", needs=Shape.CALENDAR)
def schedule(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row on the first day without rows, or without rows of a given person or thing."""
    for view in views_of(setting, Shape.CALENDAR):
        entity = setting.world.entity(view.entity)
        if view.day is None or not entity.can_add or entity.wizard:
            continue
        drawn = draw_row(setting, random, entity)
        fields = [entity.field(name) for name in entity.apart]
        keys = [one for one in fields if one.kind in _SHOWN]
        key = random.choice(keys) if keys else None
        like = random.choice(setting.rows_of(entity))
        if drawn is None or (key is not None and not can_put(setting, key, like[key.name])):
            continue
        values = drawn if key is None else {**drawn, key.name: like[key.name]}
        found = list(_free(setting, view, entity, values, key))
        longest = max((len(one.taken) for one in found), default=0)
        among = [one for one in found if len(one.taken) >= min(longest, _TAKEN)]
        if not among:
            continue
        free = random.choice(among)
        values = {
            field.name: free.day.isoformat() if field.name == view.day else values[field.name]
            for field in entity.fields
            if field.name in values or field.name == view.day
        }
        if not clashes(setting, entity, ({}, values)):
            return _draft(setting, view, entity, values, free)
    return None


def _draft(setting: Setting, view: View, entity: Entity, values: Row, free: _Free) -> Draft:
    rest: Row = {name: value for name, value in values.items() if name != view.day}
    held = entity.field(view.day or "")
    which = TermSaid(_WEEKDAYS[free.day.weekday()] if free.weekly else "day")
    key = () if free.key is None else (ValueSaid(entity, free.key, values[free.key.name]),)
    return Draft(
        {
            "site": setting.world.title,
            "view": view.label,
            "one": NounSaid(entity.one),
            "many": NounSaid(entity.many),
            "stated": ValuesSaid(entity, rest),
            "start": ValueSaid(entity, held, free.start.isoformat()),
            "which": which,
            "day_field": FieldSaid((held,)),
            "without": RowsSaid(entity, key),
        },
        adds(setting, entity, values),
        (*_look(setting, view, entity, free), *fill_form(setting, entity, rest), answer()),
    )


def _look(setting: Setting, view: View, entity: Entity, free: _Free) -> Steps:
    """Return the steps that read the days of a calendar and open the form on the free one."""
    titles = dict.fromkeys(setting.title(entity, row) for row in free.taken)
    add = setting.world.words.add_one(entity.one, setting.world.language)
    number = f'"{free.day.day}"'
    why = sentence("kinds.free_day", number=number)
    (day,) = because(why, (click(f"{add}, {free.day.isoformat()}", Purpose.ADD),))
    return (*to_month(setting, view, free.start.isoformat()), *map(see, titles), day)


def _free(
    setting: Setting, view: View, entity: Entity, values: Row, key: DataField | None
) -> Iterator[_Free]:
    """Yield the first free day after each taken day from the world's date on."""
    rows = setting.rows_of(entity)
    mine = [row for row in rows if key is None or row[key.name] == values[key.name]]
    by_day = dict[str, list[Row]]()
    for row in mine:
        by_day.setdefault(str(row[view.day or ""]), []).append(row)
    now = setting.world.at.date()
    for text in sorted(by_day):
        start = date.fromisoformat(text)
        months = 12 * (start.year - now.year) + start.month - now.month
        if start < now or months > _MOST_MONTHS:
            continue
        for step in (1, _WEEK):
            days = list(_days_until_free(by_day, start, step))
            free = start + timedelta(days=step * len(days))
            if free.month == start.month and (step == 1 or start.weekday() < len(_WEEKDAYS)):
                taken = tuple(row for day in days for row in by_day[day])
                yield _Free(start, free, taken, weekly=step == _WEEK, key=key)


def _days_until_free(by_day: Mapping[str, Sequence[Row]], start: date, step: int) -> Iterator[str]:
    """Yield the days from `start` on, `step` days apart, until one is free."""
    day = start
    while day.isoformat() in by_day:
        yield day.isoformat()
        day += timedelta(days=step)
