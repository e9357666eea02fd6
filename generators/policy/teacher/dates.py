"""Skills about dates and times: leaf through a calendar, type a date, draw an event into a day."""

from functools import partial

from generators.browser.protocol import Node
from generators.policy.teacher.goals import parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import (
    Find,
    Plan,
    button,
    do,
    drag,
    press,
    reveal,
    spot,
    submit,
    the,
    with_id,
    write,
)
from schemas.action import TypeText

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
"""As calendars head their pages."""

_DATE = r"(\d\d)/(\d\d)/(\d{4})"


def pick_date(page: Page, find: Find, date: tuple[int, int, int]) -> Plan:
    """Open the calendar of a field, leaf to the month, click the day.

    `date` is month, day, year.
    """
    month, day, year = date
    why = f"I need {MONTHS[month - 1]} {day}, {year}, so I open the calendar."
    page = yield from press(page, find, why)
    while (shown := _shown(page)) != (year, month):
        way = "next" if shown < (year, month) else "prev"
        why = f"The calendar shows {MONTHS[shown[1] - 1]} {shown[0]}, so I leaf {way}."
        page = yield from press(page, the(cls=f"ui-datepicker-{way}"), why)
    wanted: Find = the("a", text=str(day), where=_day_link)
    return (yield from press(page, wanted, f"This is the month, so I click day {day}."))


def _day_link(node: Node) -> bool:
    return "ui-state-default" in node.attrs.get("class", "")


def _shown(page: Page) -> tuple[int, int]:
    """Return year and month on the calendar's page."""
    month = page.one(cls="ui-datepicker-month").text
    return int(page.one(cls="ui-datepicker-year").text), MONTHS.index(month) + 1


def choose_date(page: Page) -> Plan:
    """Pick the date the goal names and submit."""
    month, day, year = (int(number) for number in parts(_DATE, page.goal))
    page = yield from pick_date(page, the("input"), (month, day, year))
    return (yield from submit(page))


def _type_parts(page: Page, pattern: str) -> Plan:
    """Type the parts the goal gives into a field of parts, the first one first."""
    written = parts(pattern, page.goal)
    page = yield from reveal(page, the("input"))
    left, top, _, height = the("input")(page).box
    # The first part of the field has the focus only if the click lands on it.
    action = TypeText(text="".join(p.zfill(2) for p in written), x=left + 8, y=top + height / 2)
    page = yield from do(action, f"The goal says {' '.join(written)}, so I type it part by part.")
    return (yield from submit(page))


enter_date = partial(_type_parts, pattern=_DATE)
enter_time = partial(_type_parts, pattern=r"(\d+):(\d\d)\s+([AP]M)")


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
    first, last = with_id(f"hh-{starts[0]}"), with_id(f"hh-{starts[0] + length - 1}")
    page = yield from reveal(page, last)
    page = yield from reveal(page, first)
    why = f"{minutes:g} minutes between {opens} and {closes} are free here, so I drag over them."
    x, y = spot(first(page))
    end = spot(last(page))
    page = yield from drag((x, y - 3), (x, end[1] + 3), why)
    page = yield from write(
        page, with_id("event-name"), name, f"The event is to be called '{name}'."
    )
    return (yield from press(page, button("Create"), "The event is named, so I create it."))
