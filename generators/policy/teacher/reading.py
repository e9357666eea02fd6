"""Skills that read something off the page and work with it, also over several pages of results."""

import re
from collections.abc import Callable

from generators.policy.teacher.goals import nth, ordinal, part, quote, whole
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import (
    Plan,
    button,
    press,
    scroll_through,
    submit,
    the,
    with_id,
    write,
)
from schemas.action import Direction

_SUMS: dict[str, Callable[[int, int], int]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "x": lambda one, other: one * other,
}


def find_word(page: Page) -> Plan:
    """Type the word at the place the goal names."""
    place = ordinal(page.goal)
    words = page.one("p").text.split()
    if place > len(words):
        raise Lost(f"the paragraph has only {len(words)} words")
    word = re.sub(r"[^a-zA-Z]", "", words[place - 1])
    why = f"The {nth(place)} word of the paragraph is '{word}', so I type it."
    page = yield from write(page, the("input"), word, why)
    return (yield from submit(page))


def find_last_word(page: Page) -> Plan:
    """Scroll to the end of a text and type its last word."""
    why = "The last word is not in sight yet, so I scroll down."
    page = yield from scroll_through(page, the("textarea"), Direction.DOWN, why)
    words = re.findall(r"[a-zA-Z0-9]+", the("textarea")(page).value or "")
    if not words:
        raise Lost("the text is empty")
    why = f"The text ends with '{words[-1]}', so I type that."
    page = yield from write(page, the("input"), words[-1], why)
    return (yield from submit(page))


def scroll_text(page: Page) -> Plan:
    """Scroll a text to the end that the goal names."""
    end = part(r"to the (bottom|top)", page.goal)
    way = Direction.DOWN if end == "bottom" else Direction.UP
    why = f"The goal asks for the {end} of the text, so I scroll {way.value}."
    page = yield from scroll_through(page, the("textarea"), way, why)
    return (yield from submit(page))


def _value(page: Page, name: str) -> str:
    """Return what a table of names and values says beside a name."""
    for row in page.all("tr"):
        cells = [cell.text for cell in page.all("td", within=row)]
        if cells[:1] == [name]:
            return cells[-1]
    raise Lost(f"the table says nothing of '{name}'")


def read_value(page: Page) -> Plan:
    """Type the value that stands beside the name the goal gives."""
    name = part(r"the value of (.*?) into the text field", page.goal)
    value = _value(page, name)
    why = f"The table says '{value}' beside '{name}', so I type that."
    page = yield from write(page, the("input"), value, why)
    return (yield from submit(page))


def read_values(page: Page) -> Plan:
    """Fill each field with the value that the table gives for its label."""
    for place, label in enumerate([node.text for node in page.all("label")], 1):
        name = label.rstrip(":")
        value = _value(page, name)
        why = f"The table says '{value}' beside '{name}', so I type that."
        page = yield from write(page, the("input", place=place), value, why)
    return (yield from submit(page))


def read_distorted(page: Page) -> Plan:
    """Type the letters that are shown askew."""
    text = "".join(node.text for node in page.all("span", within=page.by_id("captcha")))
    page = yield from write(page, the("input"), text, f"The distorted text says '{text}'.")
    return (yield from submit(page))


def copy_text(page: Page) -> Plan:
    """Type what a text area holds: the one there is, or the one whose place the goal names.

    It types rather than pastes: all sessions of a browser share one clipboard.
    """
    place = 1 if "from the" not in page.goal else ordinal(page.goal)
    text = the("textarea", place=place)(page).value or ""
    why = f"The goal wants the {nth(place)} text area's text here, so I type it."
    page = yield from write(page, the("input"), text, why)
    return (yield from submit(page))


def calculate(page: Page) -> Plan:
    """Solve a sum of two numbers."""
    text = page.by_id("math-problem").text
    one, sign, other = _sum(text)
    answer = str(_SUMS[sign](int(one), int(other)))
    page = yield from write(page, the("input"), answer, f"{text} {answer}, so I type {answer}.")
    return (yield from submit(page))


def _sum(text: str) -> tuple[str, str, str]:
    found = re.match(r"(\d+|x) ([-+x]) (\d+|x) =", text)
    if found is None:
        raise Lost(f"'{text}' is no sum I can read")
    return found[1], found[2], found[3]


def solve(page: Page) -> Plan:
    """Solve a sum of which one number is x."""
    text = page.by_id("math-problem").text
    one, sign, other = _sum(text)
    result = whole(text.partition("=")[2])
    if one == "x":
        answer = result - int(other) if sign == "+" else result + int(other)
    else:
        answer = result - int(one) if sign == "+" else int(one) - result
    page = yield from write(page, the("input"), str(answer), f"From {text} follows x = {answer}.")
    return (yield from submit(page))


def generate_number(page: Page) -> Plan:
    """Generate numbers until one is as the goal wants it."""
    fits = _wish(page.goal)
    while not fits(page.by_id("display-number").text):
        shown = page.by_id("display-number").text
        why = f"'{shown}' is not what the goal asks for, so I generate a number."
        page = yield from press(page, button("Generate"), why)
    return (yield from submit(page))


def _wish(goal: str) -> Callable[[str], bool]:
    """Return the test for the number a goal describes."""
    bound = re.search(r"(less|greater) than (\d+)", goal)
    if bound is not None:
        limit = int(bound[2])
        if bound[1] == "less":
            return lambda shown: shown.isdigit() and int(shown) < limit
        return lambda shown: shown.isdigit() and int(shown) > limit
    odd = int(part(r"an (odd|even) number", goal) == "odd")
    return lambda shown: shown.isdigit() and int(shown) % 2 == odd


def find_greatest(page: Page) -> Plan:
    """Turn over every card, then pick the one with the greatest number."""
    cards = len(page.all(cls="card"))
    values: list[int] = []
    for place in range(1, cards + 1):
        why = f"I turn over the {nth(place)} card to see its number."
        page = yield from press(page, the(cls="card", place=place), why)
        values.append(whole(the(cls="card", place=place)(page).text))
    best = values.index(max(values)) + 1
    if best != cards:
        why = f"{max(values)} is the greatest number, so I pick the {nth(best)} card."
        page = yield from press(page, the(cls="card", place=best), why)
    return (yield from press(page, with_id("submit"), "The greatest card is picked, so I submit."))


MAX_PAGES = 10
"""How many pages of a book are leafed through before giving up."""


def search(page: Page) -> Plan:
    """Search for what the goal quotes and click the result at the place it names."""
    wanted, place = quote(page.goal), ordinal(page.goal)
    page = yield from write(page, with_id("search-text"), wanted, f"I search for '{wanted}'.")
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
    for _ in range(MAX_PAGES):
        if page.one("h2").text == name:
            why = f"This is {name}'s page, so I click the {detail}."
            return (yield from press(page, the("a", cls=detail), why))
        why = f"This page is not {name}'s, so I go on to the next."
        page = yield from press(page, the("a", text=">"), why)
    raise Lost(f"{name} is not in the book")
