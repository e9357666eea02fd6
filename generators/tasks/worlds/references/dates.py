"""Steps of a reference that enter a date into widgets other than plain inputs.

A native field is typed part by part in the order of the browser's locale, `en-US`; the goal must contain the parts,
so only worlds whose format of days pads numbers have such fields. A picker's calendar opens at the month of the
field's day, or of the world's date, and is turned to near months; distant days are typed. Each step's thought
describes what the picture shows, which depends on the step's place in the sequence.
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
"""Maximum number of months that a calendar is turned."""


class _Thoughts:
    """The thoughts on the way to one day."""

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
    """Return the steps that set or clear a date field; `before` is its current value, None: empty."""
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
        return (typed.model_copy(update={"do": Do.ENTER}),)
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
    """Return the step that types into a native field, which advances to the next part after two digits."""
    m, d, y = f"{day.month:02}", f"{day.day:02}", str(day.year)
    return _type(field, f"{m}/{d}/{y}", say("part", m=m, d=d, y=y))


def _clear_parts(field: DataField, say: _Thoughts) -> tuple[ReferenceStep, ...]:
    return (
        _type(field, "", say("clear")),
        *(_press(key, say("clear_parts")) for key in ("ArrowRight", "Delete") * 2),
    )


def _count(day: date) -> int:
    """Return the month of a day as a count of months since year 0."""
    return day.year * len(MONTHS) + day.month - 1


def _month(count: int) -> str:
    """Return a month as calendars write it: March 2026."""
    return f"{MONTHS[count % len(MONTHS)]} {count // len(MONTHS)}"


def _click(on: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.CLICK, on=on, why=why, purpose=Purpose.DATE)


def _type(field: DataField, text: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.TYPE, on=field.label, text=text, why=why, purpose=Purpose.DATE)


def _press(key: str, why: str) -> ReferenceStep:
    return ReferenceStep(do=Do.PRESS, text=key, why=why, purpose=Purpose.DATE)
