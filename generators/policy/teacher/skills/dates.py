"""Skills about dates and times: pick a date in a calendar, type one, add an event to a day."""

from functools import partial

from generators.policy.teacher.goals import parts
from generators.policy.teacher.page import Page, SkillError, say
from generators.policy.teacher.primitives import (
    button,
    by_id,
    click,
    click_at,
    drag,
    fill,
    locator,
    submit,
)
from generators.policy.teacher.scrolling import (
    Locator,
    Plan,
    can_scroll_down,
    click_point,
    do,
    scroll_into_view,
    scroll_on,
)
from schemas.episodes.action import Direction, TypeText

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
"""As in the headings of calendars."""

_DATE = r"(\d\d)/(\d\d)/(\d{4})"


def pick_date(page: Page, find: Locator, date: tuple[int, int, int]) -> Plan:
    """Open the calendar of a field, go to the month, click the day.

    `date` is month, day, year.
    """
    month, day, year = date
    why = say(
        page,
        f"I need {MONTHS[month - 1]} {day}, {year}; the date's field is empty, so I click into it.",
        f"The date {month:02}/{day:02}/{year} is wanted, so I open the calendar of this field.",
    )
    page = yield from click(page, find, why)
    while (current := _displayed_month(page)) != (year, month):
        way = "next" if current < (year, month) else "prev"
        shown = f"{MONTHS[current[1] - 1]} {current[0]}"
        far, turn = ("later", "on") if way == "next" else ("earlier", "back")
        why = say(
            page,
            f"The calendar shows {shown}. {MONTHS[month - 1]} {year} is {far}, so I go {turn}.",
            f"This is {shown}, and {MONTHS[month - 1]} {year} is wanted: one month {turn}.",
            f"{shown} is not the month that I need. {MONTHS[month - 1]} is {far}: I turn {turn}.",
        )
        page = yield from click(page, locator(cls=f"ui-datepicker-{way}"), why)
    link = locator("a", cls="ui-state-default", text=str(day))
    why = say(
        page,
        f"The calendar shows {MONTHS[month - 1]} {year}, so I click day '{day}'.",
        f"This is the month that I need, and here is its day '{day}'.",
    )
    return (yield from click(page, link, why))


def _displayed_month(page: Page) -> tuple[int, int]:
    """Return year and month of the calendar's page."""
    month = page.one(cls="ui-datepicker-month").text
    return int(page.one(cls="ui-datepicker-year").text), MONTHS.index(month) + 1


def choose_date(page: Page) -> Plan:
    """Pick the date in the goal and submit."""
    month, day, year = (int(number) for number in parts(_DATE, page.goal))
    page = yield from pick_date(page, locator("input"), (month, day, year))
    return (yield from submit(page))


def _type_parts(page: Page, pattern: str) -> Plan:
    """Type the groups of `pattern` in the goal into the sections of a date or time field."""
    values = parts(pattern, page.goal)
    page = yield from scroll_into_view(page, locator("input"))
    left, top, _, height = locator("input")(page).box
    # The first section of the field gets the focus only if the click lands on it.
    into = "The field is filled in part by part, so I click into its first part."
    page = yield from click_at(left + 8, top + height / 2, into)
    text = "".join(p.zfill(2) for p in values)
    why = say(
        page,
        f"The field goes on by itself from part to part, so I type '{text}' without marks between.",
        f"{' '.join(values)} is what the goal says; as the field wants it, that is '{text}'.",
    )
    page = yield from do(TypeText(text=text), why)
    return (yield from submit(page))


enter_date = partial(_type_parts, pattern=_DATE)
enter_time = partial(_type_parts, pattern=r"(\d+):(\d\d)\s+([AP]M)")


_HALF_HOUR = 30


def _hour(text: str) -> int:
    """Return the hour of the day of `8AM`, `12PM`, `4PM`."""
    return int(text[:-2]) % 12 + (12 if text.endswith("PM") else 0)


def _is_free(page: Page, half_hours: range) -> bool:
    """Return whether these rows of the day are in sight, and no event overlaps them."""
    _, top, _, height = page.by_id("area").box
    events = [event.box for event in page.all(cls="event")]
    ids = {f"hh-{n}" for n in half_hours}
    rows = [row.box for row in page.all(where=lambda row: row.attrs.get("id") in ids)]
    in_sight = len(rows) == len(ids) and all(
        top <= row[1] and row[1] + row[3] <= top + height for row in rows
    )
    return in_sight and not any(
        row[1] < event[1] + event[3] - 1 and event[1] < row[1] + row[3] - 1
        for row in rows
        for event in events
    )


def create_event(page: Page) -> Plan:
    """Drag an event of the goal's length into free time of its window, and name it."""
    amount, unit, name, opens, closes = parts(
        r'Create a (\S+) (hour|min)s? event named "(.*?)", between (\w+) and (\w+)', page.goal
    )
    minutes = float(amount) * (60 if unit == "hour" else 1)
    length = round(minutes / _HALF_HOUR)
    window = range(_hour(opens) * 2, _hour(closes) * 2)
    begins = window[: len(window) - length + 1]
    while not (starts := [n for n in begins if _is_free(page, range(n, n + length))]):
        frame = page.by_id("area")
        if not can_scroll_down(frame):
            raise SkillError("there is no free time in the window")
        why = say(
            page,
            f"Among the hours in sight I find no free time between '{opens}' and '{closes}'",
            f"The time from '{opens}' to '{closes}' is taken or further down",
            f"I need free time after '{opens}' and before '{closes}', and see none here",
        )
        page = yield from scroll_on(page, frame, Direction.DOWN, why)
    first, last = by_id(f"hh-{starts[0]}"), by_id(f"hh-{starts[0] + length - 1}")
    why = f"Between '{opens}' and '{closes}' I see no event here for {minutes:g} minutes, so I drag over them."
    x, y = click_point(first(page))
    end = click_point(last(page))
    page = yield from drag((x, y - 3), (x, end[1] + 3), why)
    why = say(
        page,
        f"The event is to be called '{name}', so I type that as its name.",
        f"A box asks for the event's name; the goal gives '{name}'.",
    )
    page = yield from fill(page, by_id("event-name"), name, why)
    why = "The event has its time and its name, so I press 'Create'."
    return (yield from click(page, button("Create"), why))
