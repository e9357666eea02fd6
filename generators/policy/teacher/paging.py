"""Skills that leaf through pages of results or entries until the right one shows."""

from generators.policy.teacher.goals import nth, ordinal, part, quote
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import Plan, button, named, press, the, write

MOST_PAGES = 10
"""How many pages of a book are leafed through before giving up."""


def search(page: Page) -> Plan:
    """Search for what the goal quotes and click the result at the place it names."""
    wanted, place = quote(page.goal), ordinal(page.goal)
    page = yield from write(page, named("search-text"), wanted, f"I search for '{wanted}'.")
    page = yield from press(page, button("Search"), "The words are typed, so I search.")
    on_a_page = len(page.all("a", cls="search-title"))
    if not on_a_page:
        raise Lost("the search finds nothing")
    leaf, row = divmod(place - 1, on_a_page)
    if leaf:
        why = f"The {nth(place)} result is on page {leaf + 1}, so I go there."
        page = yield from press(page, the("a", text=str(leaf + 1)), why)
    why = f"This is the {nth(place)} result, so I click it."
    return (yield from press(page, the("a", cls="search-title", place=row + 1), why))


def look_up(page: Page) -> Plan:
    """Leaf through a phone book to the name the goal gives, and click what it asks for."""
    name = part(r"Find (\S+) in the contact book", page.goal)
    detail = part(r"click on their (phone|email|address)", page.goal)
    for _ in range(MOST_PAGES):
        if page.one("h2").text == name:
            why = f"This is {name}'s page, so I click the {detail}."
            return (yield from press(page, the("a", cls=detail), why))
        why = f"This page is not {name}'s, so I go on to the next."
        page = yield from press(page, the("a", text=">"), why)
    raise Lost(f"{name} is not in the book")
