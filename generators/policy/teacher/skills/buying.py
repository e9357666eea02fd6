"""Skills that buy: the best of several offers, a flight that is searched for, dishes of a menu."""

import re
from collections.abc import Callable

from generators.browser.protocol import Node
from generators.policy.teacher.goals import part, parts
from generators.policy.teacher.page import Page, SkillError, label, say
from generators.policy.teacher.primitives import (
    button,
    by_id,
    click,
    locator,
)
from generators.policy.teacher.scrolling import (
    Locator,
    Plan,
    can_scroll_down,
    scroll_into_view,
    scroll_on,
)
from generators.policy.teacher.skills.choosing import pick_suggestion
from generators.policy.teacher.skills.dates import pick_date
from schemas.episodes.action import Direction

_PRICE, _DURATION = r"\$(\d+)", r"(\d+)h (\d+)m"

_CRITERIA: dict[str, tuple[str, Callable[[list[list[int]]], list[int]]]] = {
    "cheapest": (_PRICE, min),
    "most expensive": (_PRICE, max),
    "shortest": (_DURATION, min),
    "longest": (_DURATION, max),
}
"""What an offer's text is searched for, and which of the values wins."""


def take_best(page: Page) -> Plan:
    """Take the offer that the goal's superlative selects."""
    criterion = part(r"(cheapest|most expensive|shortest|longest)", page.goal)
    pattern, best = _CRITERIA[criterion]
    values: list[tuple[list[int], str]] = []
    while True:
        if len(values) == len(page.all(cls="flight")):
            before = len(values)
            page = yield from _look_for_offers(page, before)
            if len(page.all(cls="flight")) == before:
                break
        button_below = _offer_button(len(values) + 1)
        because = say(
            page,
            "There may be more offers",
            f"I have seen {len(values)} of the offers, and the list goes on"
            if values
            else "I have not seen a whole offer yet",
        )
        page = yield from scroll_into_view(page, button_below, because)
        offer = page.all(cls="flight")[len(values)]
        numbers = [int(number) for number in parts(pattern, offer.text)]
        values.append((numbers, part(f"({pattern})", offer.text)))
    if not values:
        raise SkillError("there are no offers")
    found = [numbers for numbers, _ in values]
    place = found.index(best(found))
    of = ", ".join(f"'{text}'" for _, text in values)
    find = _offer_button(place + 1)
    best_one, press = values[place][1], label(find(page))
    why = say(
        page,
        f"Of {of} the {criterion} is '{best_one}', so I press '{press}' below it.",
        f"I have seen {of}: '{best_one}' is the {criterion}, and '{press}' beneath takes it.",
    )
    because = f"The best offer, '{best_one}', is out of sight now"
    page = yield from scroll_into_view(page, find, because)
    return (yield from click(page, find, why))


def _look_for_offers(page: Page, known: int) -> Plan:
    """Scroll on until there are more offers than are known, or the list ends."""
    while len(page.all(cls="flight")) == known:
        frame = next((one for one in page.frames() if can_scroll_down(one)), None)
        if frame is None:
            return page
        because = say(page, "The list of offers goes on", "There is more below these offers")
        page = yield from scroll_on(page, frame, Direction.DOWN, because)
    return page


def _offer_button(place: int) -> Locator:
    """Return the locator of the button that books an offer, below all that the offer says."""
    offer = locator(cls="flight", place=place)
    return lambda page: page.one("button", within=offer(page))


def book_flight(page: Page) -> Plan:
    """Fill in the search for a flight, search, and book the best offer."""
    start, end, month, day, year = parts(
        r"from: (.*?) to: (.*?) on (\d\d)/(\d\d)/(\d{4})", page.goal
    )
    page = yield from pick_suggestion(page, by_id("flight-from"), start)
    page = yield from pick_suggestion(page, by_id("flight-to"), end)
    page = yield from pick_date(page, by_id("datepicker"), (int(month), int(day), int(year)))
    page = yield from click(
        page, button("Search"), "Places and date are filled in, so I press 'Search'."
    )
    return (yield from take_best(page))


def order_food(page: Page) -> Plan:
    """Order what the goal lists, or as many pieces of the first item of a kind as it says."""
    match = re.search(r"each item: (.*)", page.goal)
    for name in match[1].split(",") if match is not None else ():
        why = say(
            page,
            f"'{name.strip()}' is to be ordered, so I press the plus beside it.",
            f"The goal lists '{name.strip()}'; I see it on the menu and add one.",
        )
        plus = _add_button(_has_name(name.strip()))
        page = yield from scroll_into_view(page, plus, f"I do not see '{name.strip()}' yet")
        page = yield from click(page, plus, why)
    if match is None:
        count, kind = parts(r"Order (\d+) items that are (\S+)", page.goal)
        for number in range(1, int(count) + 1):
            why = say(
                page,
                f"This dish has the sign for '{kind}': I add number {number} of {count}.",
                f"I need {count} that are '{kind}', and this one is: the plus makes it {number}.",
            )
            plus = _add_button(_of_kind(kind))
            page = yield from scroll_into_view(page, plus, f"No sign for '{kind}' is in sight")
            page = yield from click(page, plus, why)
    because = "All is in the order, but I do not see how to send it"
    page = yield from scroll_into_view(page, button("Order!"), because)
    return (yield from click(page, button("Order!"), "All is in the order, so I press 'Order!'."))


def _has_name(name: str) -> Callable[[Page, Node], bool]:
    return lambda page, item: page.one(cls="item-name", within=item).text == name


def _of_kind(kind: str) -> Callable[[Page, Node], bool]:
    def fits(page: Page, item: Node) -> bool:
        signs = page.all("img", within=item, where=lambda node: node.attrs.get("alt") == kind)
        return bool(signs)

    return fits


def _add_button(fits: Callable[[Page, Node], bool]) -> Locator:
    """Return the locator of the plus beside the first item of the menu that fits."""

    def find(page: Page) -> Node:
        for item in page.all(cls="food-item"):
            if fits(page, item):
                return page.one(cls="add", within=item)
        raise SkillError("nothing on the menu is what the goal asks for")

    return find
