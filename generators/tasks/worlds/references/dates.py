"""Steps of a reference that enter a date into widgets other than plain inputs.

A native field, which only pages in English have, is typed part by part in the order of the browser's locale, `en-US`; the
goal must contain the parts, so only worlds whose format of days pads numbers have such fields. A picker's calendar opens at the month of the
field's day, or of the world's date, and is turned to near months; distant days are typed. Each step's thought
describes what the picture shows, which depends on the step's place in the sequence.
"""

from collections.abc import Callable
from datetime import date
from functools import partial

from generators.policy.sentences.vary import sentence
from generators.worlds.state.database import Value
from generators.worlds.state.display import name_day, show_day, show_month
from generators.worlds.words.catalogue import catalogue
from schemas.tasks.reference import Do, Purpose, ReferenceStep
from schemas.worlds.field import DataField, Widget
from schemas.worlds.world import World

_MONTHS = 12
"""Months of a year."""

_MOST_TURNS = 8
"""Maximum number of months that a calendar is turned."""


_Say = Callable[..., str]
"""Returns what is said on the way to one day, by its key and the slots that change on the way."""


def put_day(
    world: World, field: DataField, value: Value, *, before: Value
) -> tuple[ReferenceStep, ...]:
    """Return the steps that set or clear a date field; `before` is its current value, None: empty."""
    day = None if value is None else date.fromisoformat(str(value))
    say = _words(world, field, day)
    if field.asked_with is Widget.DATE:
        return _clear_parts(field, say) if day is None else (_type_parts(field, day, say),)
    if day is None:
        return (_type(field, "", say("clear")), _press("Enter", say("shut")))
    opened = _count(date.fromisoformat(str(before)) if before else world.at.date())
    turns = _count(day) - opened
    if abs(turns) > _MOST_TURNS:
        typed = _type(field, show_day(world, day), say("far"))
        return (typed.model_copy(update={"do": Do.ENTER}),)
    way, arrow = (1, "next_month") if turns > 0 else (-1, "previous_month")
    arrow = catalogue(world.language).say(f"dates.{arrow}")
    return (
        _click(field.label, say("open")),
        *(
            _click(arrow, say("turn", shown=_month(world, opened + way * done)))
            for done in range(abs(turns))
        ),
        _click(name_day(world, day), say("day")),
    )


def _words(world: World, field: DataField, day: date | None) -> _Say:
    """Return what says things about a day of a field; None: there is none."""
    if day is None:
        return partial(_say, field=field.label)
    month, number = _month(world, _count(day)), str(day.day)
    return partial(_say, field=field.label, day=show_day(world, day), wanted=month, number=number)


def _say(key: str, **slots: str) -> str:
    return sentence(f"dates.{key}", **slots)


def _type_parts(field: DataField, day: date, say: _Say) -> ReferenceStep:
    """Return the step that types into a native field, which advances to the next part after two digits."""
    m, d, y = f"{day.month:02}", f"{day.day:02}", str(day.year)
    return _type(field, f"{m}/{d}/{y}", say("part", m=m, d=d, y=y))


def _clear_parts(field: DataField, say: _Say) -> tuple[ReferenceStep, ...]:
    return (
        _type(field, "", say("clear")),
        *(_press(key, say("clear_parts")) for key in ("ArrowRight", "Delete") * 2),
    )


def _count(day: date) -> int:
    """Return the month of a day as a count of months since year 0."""
    return day.year * _MONTHS + day.month - 1


def _month(world: World, count: int) -> str:
    """Return a month as calendars write it: March 2026."""
    return show_month(world, count % _MONTHS + 1, count // _MONTHS)


def _click(on: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.CLICK, on=on, why=why, purpose=Purpose.DATE)


def _type(field: DataField, text: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.TYPE, on=field.label, text=text, why=why, purpose=Purpose.DATE)


def _press(key: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.PRESS, text=key, why=why, purpose=Purpose.DATE)
