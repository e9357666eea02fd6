"""The skill for a day's calendar: draw an event into a free slot, name it, create it."""

from generators.browser.protocol import Node
from generators.policy.teacher.goals import parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import (
    Plan,
    button,
    drag,
    named,
    press,
    reveal,
    spot,
    write,
)

_HALF_HOUR = 30


def _hour(said: str) -> int:
    """Return the hour of the day of `8AM`, `12PM`, `4PM`."""
    return int(said[:-2]) % 12 + (12 if said.endswith("PM") else 0)


def _overlap(one: Node, other: Node) -> bool:
    return (
        one.box[1] < other.box[1] + other.box[3] - 1 and other.box[1] < one.box[1] + one.box[3] - 1
    )


def _free(page: Page, half_hours: range) -> bool:
    rows = [page.by_id(f"hh-{n}") for n in half_hours]
    return not any(_overlap(row, event) for row in rows for event in page.all(cls="event"))


def create_event(page: Page) -> Plan:
    """Draw an event of the goal's length into free time of its window, and name it."""
    amount, unit, name, opens, closes = parts(
        r'Create a (\S+) (hour|min)s? event named "(.*?)", between (\w+) and (\w+)', page.goal
    )
    minutes = float(amount) * (60 if unit == "hour" else 1)
    length = round(minutes / _HALF_HOUR)
    window = range(_hour(opens) * 2, _hour(closes) * 2)
    starts = [n for n in window[: len(window) - length + 1] if _free(page, range(n, n + length))]
    if not starts:
        raise Lost("there is no free time in the window")
    first, last = named(f"hh-{starts[0]}"), named(f"hh-{starts[0] + length - 1}")
    page = yield from reveal(page, last)
    page = yield from reveal(page, first)
    why = f"{minutes:g} minutes between {opens} and {closes} are free here, so I drag over them."
    x, y = spot(first(page))
    end = spot(last(page))
    page = yield from drag((x, y - 3), (x, end[1] + 3), why)
    page = yield from write(page, named("event-name"), name, f"The event is to be called '{name}'.")
    return (yield from press(page, button("Create"), "The event is named, so I create it."))
