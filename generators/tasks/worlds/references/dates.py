"""The steps by which a reference gives a date to a form that asks for it with more than a line of text.

A native field is typed part by part in the order of the browser's locale, `en-US`; the parts stand in the goal, so
only worlds that write days in numbers of two digits have such fields. A picker's calendar opens at the
month of the day that the field holds, or at the world's own, and is turned to a month that is near; a day far away is
typed. Each step says what the picture shows then, which nothing but its place in the sequence tells.
"""

from datetime import date
from random import Random

from generators.tasks.worlds.references.thoughts import thoughts
from generators.worlds.state.database import Value
from generators.worlds.state.display import MONTHS, show_day
from schemas.tasks.reference import Do, Purpose, ReferenceStep
from schemas.worlds.field import DataField, Widget
from schemas.worlds.world import World

_MOST_TURNS = 8
"""A month that is further away is not turned to."""


class _Thoughts:
    """What is thought on the way to one day."""

    def __init__(self, world: World, field: DataField, day: date | None) -> None:
        self._random = Random(f"days {world.family} {world.seed} {field.name} {day}")
        self._words = {"field": field.label}
        if day is not None:
            self._words |= {
                "day": show_day(world, day),
                "wanted": _month(_count(day)),
                "number": str(day.day),
            }

    def __call__(self, purpose: str, **words: str) -> str:
        return self._random.choice(thoughts()["date"][purpose]).format(**self._words, **words)


def put_day(
    world: World, field: DataField, value: Value, *, before: Value
) -> tuple[ReferenceStep, ...]:
    """Return how a field is given a day, or none; `before` is what it holds, None if nothing."""
    day = None if value is None else date.fromisoformat(str(value))
    say = _Thoughts(world, field, day)
    if field.asked_with is Widget.DATE:
        return _clear_parts(field, say) if day is None else (_type_parts(field, day, say),)
    if day is None:
        return (_type(field, "", say("clear")), _press("Enter", say("shut")))
    opened = _count(date.fromisoformat(str(before)) if before else world.at.date())
    turns = _count(day) - opened
    if abs(turns) > _MOST_TURNS:
        typed = _type(field, show_day(world, day), say("far"))
        return (typed, _press("Enter", say("shut")))
    way, arrow = (1, "Next month") if turns > 0 else (-1, "Previous month")
    return (
        _click(field.label, say("open")),
        *(
            _click(arrow, say("turn", shown=_month(opened + way * done)))
            for done in range(abs(turns))
        ),
        _click(f"{day.day} {_month(_count(day))}", say("day")),
    )


def _type_parts(field: DataField, day: date, say: _Thoughts) -> ReferenceStep:
    """Return that a native field is typed into; a part goes on to the next only after two digits."""
    m, d, y = f"{day.month:02}", f"{day.day:02}", str(day.year)
    return _type(field, f"{m}/{d}/{y}", say("part", m=m, d=d, y=y))


def _clear_parts(field: DataField, say: _Thoughts) -> tuple[ReferenceStep, ...]:
    return (
        _type(field, "", say("clear")),
        *(_press(key, say("clear_parts")) for key in ("ArrowRight", "Delete") * 2),
    )


def _count(day: date) -> int:
    """Return the month of a day as a number of months."""
    return day.year * len(MONTHS) + day.month - 1


def _month(count: int) -> str:
    """Return the words of a month, as calendars have them: March 2026."""
    return f"{MONTHS[count % len(MONTHS)]} {count // len(MONTHS)}"


def _click(on: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.CLICK, on=on, why=why, purpose=Purpose.DATE)


def _type(field: DataField, text: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.TYPE, on=field.label, text=text, why=why, purpose=Purpose.DATE)


def _press(key: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.PRESS, text=key, why=why, purpose=Purpose.DATE)
