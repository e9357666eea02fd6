"""Skills that compare offers and take one, or fill an order."""

import re
from collections.abc import Callable

from generators.browser.protocol import Node
from generators.policy.teacher.choosing import pick_suggestion
from generators.policy.teacher.dates import pick_date
from generators.policy.teacher.goals import part, parts
from generators.policy.teacher.page import Page, SkillError
from generators.policy.teacher.primitives import Locator, Plan, button, by_id, click, locator

_CRITERIA: dict[str, tuple[str, Callable[[list[int]], int]]] = {
    "cheapest": ("price", min),
    "most expensive": ("price", max),
    "shortest": ("duration", min),
    "longest": ("duration", max),
}


def _price(offer: Node) -> int:
    return int(part(r"\$(\d+)", offer.text))


def _minutes(offer: Node) -> int:
    hours, minutes = parts(r"(\d+)h (\d+)m", offer.text)
    return int(hours) * 60 + int(minutes)


def take_best(page: Page) -> Plan:
    """Take the offer that the goal's superlative selects."""
    criterion = part(r"(cheapest|most expensive|shortest|longest)", page.goal)
    measure, best = _CRITERIA[criterion]
    offers = page.all(cls="flight")
    values = [(_price if measure == "price" else _minutes)(offer) for offer in offers]
    if not values:
        raise SkillError("there are no offers")
    place = values.index(best(values))
    offer = locator(cls="flight", place=place + 1)
    find: Locator = lambda now: now.one("button", within=offer(now))  # noqa: E731 - used once
    value = part(r"(\$\d+)" if measure == "price" else r"(\d+h \d+m)", offers[place].text)
    return (
        yield from click(page, find, f"{value} is the {criterion} of the offers, so I book it.")
    )


def book_flight(page: Page) -> Plan:
    """Fill in the search for a flight, search, and book the best offer."""
    start, end, month, day, year = parts(
        r"from: (.*?) to: (.*?) on (\d\d)/(\d\d)/(\d{4})", page.goal
    )
    page = yield from pick_suggestion(page, by_id("flight-from"), start)
    page = yield from pick_suggestion(page, by_id("flight-to"), end)
    page = yield from pick_date(page, by_id("datepicker"), (int(month), int(day), int(year)))
    page = yield from click(page, button("Search"), "The flight is described, so I search.")
    return (yield from take_best(page))


def order_food(page: Page) -> Plan:
    """Order what the goal lists, or as many items of a kind as it says."""
    for name in _items_to_order(page):
        why = f"'{name}' is to be ordered, so I add one."
        page = yield from click(page, _add_button(name), why)
    return (yield from click(page, button("Order!"), "All is in the order, so I send it."))


def _add_button(name: str) -> Locator:
    """Return the locator of the plus beside an item of the menu."""

    def find(page: Page) -> Node:
        for item in page.all(cls="food-item"):
            if page.one(cls="item-name", within=item).text == name:
                return page.one(cls="add", within=item)
        raise SkillError(f"there is no '{name}' on the menu")

    return find


def _items_to_order(page: Page) -> list[str]:
    """Return the names of the items to add; an item is repeated once for each piece."""
    match = re.search(r"each item: (.*)", page.goal)
    if match is not None:
        return [name.strip() for name in match[1].split(",")]
    count, kind = parts(r"Order (\d+) items that are (\S+)", page.goal)
    matches = [
        page.one(cls="item-name", within=item).text
        for item in page.all(cls="food-item")
        if page.first("img", within=item, where=lambda node: node.attrs.get("alt") == kind)
    ]
    if not matches:
        raise SkillError(f"nothing on the menu is {kind}")
    return [matches[n % len(matches)] for n in range(int(count))]
