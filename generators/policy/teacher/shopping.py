"""Skills that compare offers and take one, or put things into an order."""

import re
from collections.abc import Callable

from generators.browser.protocol import Node
from generators.policy.teacher.choosing import pick_suggestion
from generators.policy.teacher.dates import pick_date
from generators.policy.teacher.goals import part, parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import Find, Plan, button, press, the, with_id

_BY_WISH: dict[str, tuple[str, Callable[[list[int]], int]]] = {
    "cheapest": ("price", min),
    "most expensive": ("price", max),
    "shortest": ("duration", min),
    "longest": ("duration", max),
}


def _price(offer: Node) -> int:
    return int(part(r"\$(\d+)", offer.text))


def _duration(offer: Node) -> int:
    hours, minutes = parts(r"(\d+)h (\d+)m", offer.text)
    return int(hours) * 60 + int(minutes)


def take_best(page: Page) -> Plan:
    """Take the offer that the goal's superlative means."""
    wish = part(r"(cheapest|most expensive|shortest|longest)", page.goal)
    measure, best = _BY_WISH[wish]
    offers = page.all(cls="flight")
    values = [(_price if measure == "price" else _duration)(offer) for offer in offers]
    if not values:
        raise Lost("there are no offers")
    place = values.index(best(values))
    offer = the(cls="flight", place=place + 1)
    find: Find = lambda now: now.one("button", within=offer(now))  # noqa: E731 - used once
    said = part(r"(\$\d+)" if measure == "price" else r"(\d+h \d+m)", offers[place].text)
    return (yield from press(page, find, f"{said} is the {wish} of the offers, so I book it."))


def book_flight(page: Page) -> Plan:
    """Fill in the search for a flight, search, and book the best offer."""
    start, end, month, day, year = parts(
        r"from: (.*?) to: (.*?) on (\d\d)/(\d\d)/(\d{4})", page.goal
    )
    page = yield from pick_suggestion(page, with_id("flight-from"), start)
    page = yield from pick_suggestion(page, with_id("flight-to"), end)
    page = yield from pick_date(page, with_id("datepicker"), (int(month), int(day), int(year)))
    page = yield from press(page, button("Search"), "The flight is described, so I search.")
    return (yield from take_best(page))


def order_food(page: Page) -> Plan:
    """Put what the goal lists, or as many things of a kind as it says, into the order."""
    for name in _dishes(page):
        why = f"'{name}' is to be ordered, so I add one."
        page = yield from press(page, _adder(name), why)
    return (yield from press(page, button("Order!"), "All is in the order, so I send it."))


def _adder(name: str) -> Find:
    """Return how to find the plus beside a dish."""

    def find(page: Page) -> Node:
        for item in page.all(cls="food-item"):
            if page.one(cls="item-name", within=item).text == name:
                return page.one(cls="add", within=item)
        raise Lost(f"there is no '{name}' on the menu")

    return find


def _dishes(page: Page) -> list[str]:
    """Return the names to add, one for each piece."""
    listed = re.search(r"each item: (.*)", page.goal)
    if listed is not None:
        return [name.strip() for name in listed[1].split(",")]
    count, kind = parts(r"Order (\d+) items that are (\S+)", page.goal)
    fitting = [
        page.one(cls="item-name", within=item).text
        for item in page.all(cls="food-item")
        if page.maybe("img", within=item, where=lambda node: node.attrs.get("alt") == kind)
    ]
    if not fitting:
        raise Lost(f"nothing on the menu is {kind}")
    return [fitting[n % len(fitting)] for n in range(int(count))]
