"""Skills that guess and search, and skills for pages that change by themselves.

A page's time passes only while an action is carried out, always by the same amount; between actions
the page stands still. So an observation stays valid, and a skill can compute how long to wait.
"""

import math
import re
from bisect import bisect

from generators.browser.protocol import ClockSpec
from generators.policy.teacher.geometry import Point, best_probe, inset, pixels
from generators.policy.teacher.goals import nth, part
from generators.policy.teacher.page import Page, SkillError, centre, say
from generators.policy.teacher.primitives import (
    button,
    by_id,
    click,
    click_at,
    hover,
    type_over,
    wait,
)
from generators.policy.teacher.scrolling import (
    Plan,
    click_point,
    do,
)
from generators.policy.teacher.skills.colours import hue_name, parse_colour
from schemas.episodes.action import Hover

_SIGNALS = ("HOT", "WARM", "COLD", "ICE COLD")
"""The page's signals, from near to far."""

_RADII = (5, 10, 40)
"""Distances to the hot spot, in px, from which it says the next."""

_CARET = 8
"""Position of a click that sets the caret in a number field, from its left edge, px; clear of its arrows."""

_MAX_PROBES = 25
"""Points tried in a search."""


def guess_number(page: Page) -> Plan:
    """Guess by bisection until the guess is right."""
    low, high, up = 0, 9, False
    while low <= high:
        guess = (low + high + up) // 2
        why = say(
            page,
            f"The number lies between {low} and {high}, so I try {guess} in the middle.",
            f"From {low} to {high} all is possible; {guess} parts that in two, so I guess it.",
        )
        if (low, high) != (0, 9):
            told = f"higher than {low}" if up else f"lower than {high}"
            why = say(
                page,
                f"I read that it is {told}. It lies between {low} and {high}, so I try {guess}.",
                f"The page says {told}, so from {low} to {high} I take the middle, {guess}.",
            )
        left, top, _, height = by_id("tt")(page).box
        into = "The guess goes into the field, so I click into it."
        page = yield from click_at(left + _CARET, top + height / 2, into)
        page = yield from type_over(page, by_id("tt"), str(guess), why)
        why = say(
            page,
            f"My guess, {guess}, stands in the field, so I press 'Submit' to learn more.",
            f"{guess} is written; 'Submit' tells whether it is right.",
        )
        page = yield from click(page, button("Submit"), why)
        up = page.has("higher")
        if guess in (low, high) and high - low == 1:
            break
        low, high = (guess, high) if up else (low, guess)
    raise SkillError("no number is left")


def find_hot_spot(page: Page) -> Plan:
    """Move the pointer, rule out points by every signal, and click where it is hot."""
    candidates = list(pixels(inset(page.by_id("touch-area").box, 3)))
    for _ in range(_MAX_PROBES):
        probe = best_probe(candidates, _RADII)
        told = page.by_id("display").text
        why = "Nothing is known yet, so I move the pointer and see what the field says."
        if told in _SIGNALS:
            far = ("here", "close by", "some way off", "far away")[_SIGNALS.index(told)]
            why = say(
                page,
                f"It says '{told}' where the pointer is, so the hot spot is {far}: I try there.",
                f"'{told}' means that the spot is {far}; here I have not ruled it out yet.",
                f"The last place was '{told}'. With what I know from before, this one may be it.",
            )
        page = yield from do(Hover(x=probe[0], y=probe[1]), why)
        signal = page.by_id("display").text
        if signal == "HOT":
            return (yield from click_at(*probe, f"It says '{signal}' here, so I click."))
        if signal not in _SIGNALS:
            raise SkillError(f"the signal '{signal}' tells me nothing")
        ring = _SIGNALS.index(signal)
        candidates = [
            point for point in candidates if bisect(_RADII, math.dist(point, probe)) == ring
        ]
        if not candidates:
            break
    raise SkillError("it is hot nowhere")


ACT_MS = ClockSpec().step_ms + ClockSpec().settle_ms
"""Page time that any action takes; a wait takes its own time besides."""

BEAT_MS = 600
"""Time from one flash of a sequence of lights to the next, ms; each lasts less than half of it."""

_PRICE = r"\$(\d+\.\d+)"

_SHIFT_MS = 10
"""Added to and taken from the waits for the lights in turn, so that no two waits are equal."""

_MAX_LOOKS = 25
"""Observations of a page that changes by itself."""


def press_after_delay(page: Page) -> Plan:
    """Press ONE, wait as long as the goal says, press TWO."""
    seconds = int(part(r"wait (\d+) seconds", page.goal))
    why = "The goal begins with button 'ONE', so I press it first."
    page = yield from click(page, button("ONE"), why)
    rest = max(1, seconds * 1_000 - 2 * ACT_MS)
    why = f"Button TWO is due {seconds} seconds after ONE, so I wait for what is left of that."
    page = yield from wait(rest, why)
    return (yield from click(page, button("TWO"), "The time is up, so I press 'TWO'."))


def buy_low(page: Page) -> Plan:
    """Watch the price and buy once it is below the goal's limit."""
    limit = float(part(rf"less than {_PRICE}", page.goal))
    for _ in range(_MAX_LOOKS):
        shown = page.first(where=lambda node: node.attrs.get("id") == "stock-price")
        text = "" if shown is None else shown.text
        price = re.fullmatch(_PRICE, text)
        if price is not None and float(price[1]) < limit:
            why = f"The price, {text}, is less than ${limit:.2f}, so I press 'Buy'."
            return (yield from click(page, by_id("buy"), why))
        why = say(
            page,
            f"The price, {text}, is not less than ${limit:.2f}, so I hold the pointer ready.",
            f"It stands at {text} and must fall below ${limit:.2f}: I wait at 'Buy'.",
        )
        if price is None:
            why = "No price is shown yet, so I wait at 'Buy' for the first."
        page = yield from hover(page, by_id("buy"), why)
    raise SkillError(f"I never see a price below ${limit:.2f}")


def repeat_lights(page: Page) -> Plan:
    """Watch which buttons light up, one each beat, and press them in that order."""
    page = yield from wait(BEAT_MS + 70 - ACT_MS, "I watch which button lights up first.")
    order: list[str] = []
    while (lit := page.first("button", cls="push")) is not None:
        order.append(lit.attrs["id"])
        colour = hue_name(parse_colour(lit.style["background-color"]))
        why = say(
            page,
            f"The {colour} button is the {nth(len(order))} to light up; I watch on.",
            f"Light number {len(order)} is the {colour} one, and more may follow, so I wait.",
        )
        page = yield from wait(
            BEAT_MS - ACT_MS + (_SHIFT_MS if len(order) % 2 else -_SHIFT_MS), why
        )
    for place, name in enumerate(order, 1):
        why = say(
            page,
            f"This button was the {nth(place)} to light up, so it is number {place} to press.",
            f"No light is on any more. Number {place} was this button, so I press it.",
        )
        page = yield from click(page, by_id(name), why)
    return page


def follow_circle(page: Page) -> Plan:
    """Keep the pointer on a circle that moves, a little ahead of it."""
    before: Point | None = None
    for _ in range(_MAX_LOOKS):
        circle = page.by_id("circ")
        at = centre(circle.box)
        aim = at if before is None else _lead_point(before, at, circle.box[2] / 3)
        before = at
        why = say(
            page,
            "The circle is here now, so I follow it.",
            "The circle has moved on, so I bring the pointer back over it.",
        )
        page = yield from do(Hover(x=aim[0], y=aim[1]), why)
    return page


def _lead_point(before: Point, now: Point, max_lead: float) -> Point:
    """Return a point ahead of the movement, at most `max_lead` px from the middle."""
    across, down = now[0] - before[0], now[1] - before[1]
    length = max(1.0, (across**2 + down**2) ** 0.5)
    lead = min(max_lead, length / 2)
    return now[0] + across / length * lead, now[1] + down / length * lead


def click_moving(page: Page) -> Plan:
    """Click one moving circle after another, the one that has been visible longest first."""
    seen: dict[str, int] = {}
    idle = 0
    for look in range(_MAX_LOOKS):
        items = [node for node in page.all("circle", cls="item") if node.point is not None]
        for item in items:
            seen.setdefault(item.attrs["id"], look)
        if items:
            oldest = min(items, key=lambda item: seen[item.attrs["id"]])
            why = say(
                page,
                "I see a circle here, so I click it before it leaves.",
                "This circle is in reach, so I click it.",
            )
            if len(items) > 1:
                why = "Of the circles in sight this one has been here longest, so I click it first."
            page = yield from click_at(*click_point(oldest), why)
            idle = 0
        else:
            page = yield from wait(1 + idle * 200, "No circle is in sight, so I wait for more.")
            idle += 1
    return page


def use_pie_menu(page: Page) -> Plan:
    """Open the pie menu and click the item in the goal as soon as it can be reached.

    The menu ignores clicks on its first item once it is open, and takes them while it opens.
    """
    name = part(r'labeled "(.*)"', page.goal)
    why = "I see only the plus; the items are folded away behind it, so I press it."
    page = yield from click(page, by_id("wheelnav-divWheel-spreadertitle"), why)
    for _ in range(_MAX_LOOKS):
        item = page.first("text", where=lambda node: node.text == name and node.point is not None)
        if item is not None:
            why = say(
                page,
                f"The menu has unfolded and shows '{name}', so I click that.",
                f"This slice says '{name}', as the goal does: I click it.",
            )
            yield from click_at(*click_point(item), why)
            raise SkillError(f"the menu does not take the click on '{name}'")
        page = yield from wait(1, "The menu still unfolds, so I wait.")
    raise SkillError(f"the menu has no item '{name}'")
