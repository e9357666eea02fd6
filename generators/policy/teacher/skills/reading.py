"""Skills that read something on the page and work with it, also over several pages of results."""

import re
from collections.abc import Callable

from generators.policy.teacher.goals import nth, ordinal, part, quote, to_int
from generators.policy.teacher.page import Page, SkillError, label, say
from generators.policy.teacher.primitives import (
    button,
    by_id,
    click,
    fill,
    locator,
    submit,
)
from generators.policy.teacher.scrolling import (
    Plan,
    scroll_through,
)
from schemas.episodes.action import Direction

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "x": lambda one, other: one * other,
}


def find_word(page: Page) -> Plan:
    """Type the word at the position in the goal."""
    place = ordinal(page.goal)
    words = page.one("p").text.split()
    if place > len(words):
        raise SkillError(f"the paragraph has only {len(words)} words")
    word = re.sub(r"[^a-zA-Z]", "", words[place - 1])
    why = say(
        page,
        f"The {nth(place)} word of the paragraph is '{word}', so I type it.",
        f"I count the words from the beginning: number {place} is '{word}'.",
    )
    page = yield from fill(page, locator("input"), word, why)
    return (yield from submit(page))


def find_last_word(page: Page) -> Plan:
    """Scroll to the end of a text and type its last word."""
    why = say(
        page,
        "The last word is not in sight yet, so I scroll down.",
        "The text goes on below, and I need its end, so I turn the wheel down.",
    )
    page = yield from scroll_through(page, locator("textarea"), Direction.DOWN, why)
    words = re.findall(r"[a-zA-Z0-9]+", locator("textarea")(page).value or "")
    if not words:
        raise SkillError("the text is empty")
    why = say(
        page,
        f"The text ends with '{words[-1]}', so I type that.",
        f"This is the bottom of the text: its last word is '{words[-1]}'.",
    )
    page = yield from fill(page, locator("input"), words[-1], why)
    return (yield from submit(page))


def scroll_text(page: Page) -> Plan:
    """Scroll a text to its top or bottom, as the goal says."""
    end = part(r"to the (bottom|top)", page.goal)
    way = Direction.DOWN if end == "bottom" else Direction.UP
    why = say(
        page,
        f"The goal asks for the {end} of the text, so I scroll {way.value}.",
        f"There is more text {'below' if end == 'bottom' else 'above'} than the box shows, and its"
        f" {end} is wanted: I scroll {way.value}.",
    )
    page = yield from scroll_through(page, locator("textarea"), way, why)
    return (yield from submit(page))


def _table_value(page: Page, name: str) -> str:
    """Return the value of a name in a table of names and values."""
    for row in page.all("tr"):
        cells = [cell.text for cell in page.all("td", within=row)]
        if cells[:1] == [name]:
            return cells[-1]
    raise SkillError(f"the table says nothing of '{name}'")


def read_value(page: Page) -> Plan:
    """Type the value of the name in the goal."""
    name = part(r"the value of (.*?) into the text field", page.goal)
    value = _table_value(page, name)
    page = yield from fill(page, locator("input"), value, _why_value(page, name, value))
    return (yield from submit(page))


def _why_value(page: Page, name: str, value: str) -> str:
    return say(
        page,
        f"The table says '{value}' beside '{name}', so I type that.",
        f"In the row of '{name}' I read '{value}', which goes into this field.",
        f"I look for '{name}' in the table and find '{value}'.",
    )


def read_values(page: Page) -> Plan:
    """Fill each field with the value of its label in the table."""
    for place, caption in enumerate([node.text for node in page.all("label")], 1):
        name = caption.rstrip(":")
        value = _table_value(page, name)
        why = _why_value(page, name, value)
        page = yield from fill(page, locator("input", place=place), value, why)
    return (yield from submit(page))


def read_distorted(page: Page) -> Plan:
    """Type the distorted letters."""
    text = "".join(node.text for node in page.all("span", within=page.by_id("captcha")))
    why = say(
        page,
        f"The distorted text says '{text}', so I type that.",
        f"Letter by letter I read '{text}' in the crooked writing.",
    )
    page = yield from fill(page, locator("input"), text, why)
    return (yield from submit(page))


def calculate(page: Page) -> Plan:
    """Solve a sum of two numbers."""
    text = page.by_id("math-problem").text
    one, sign, other = _parse_sum(text)
    answer = str(_OPERATIONS[sign](int(one), int(other)))
    why = say(
        page,
        f"{text} {answer}, so I type {answer}.",
        f"I work out {text.rstrip('= ')} and get {answer}, so I type {answer}.",
    )
    page = yield from fill(page, locator("input"), answer, why)
    return (yield from submit(page))


def _parse_sum(text: str) -> tuple[str, str, str]:
    match = re.match(r"(\d+|x) ([-+x]) (\d+|x) =", text)
    if match is None:
        raise SkillError(f"'{text}' is not a sum that I can read")
    return match[1], match[2], match[3]


def solve(page: Page) -> Plan:
    """Solve a sum in which one number is x."""
    text = page.by_id("math-problem").text
    one, sign, other = _parse_sum(text)
    result = to_int(text.partition("=")[2])
    if one == "x":
        answer = result - int(other) if sign == "+" else result + int(other)
    else:
        answer = result - int(one) if sign == "+" else int(one) - result
    why = say(
        page,
        f"From {text} follows x = {answer}.",
        f"I read {text}. That holds if x is {answer}, so I type {answer}.",
    )
    page = yield from fill(page, locator("input"), str(answer), why)
    return (yield from submit(page))


def generate_number(page: Page) -> Plan:
    """Generate numbers until one meets the goal's condition."""
    fits = _number_test(page.goal)
    while not fits(text := page.by_id("display-number").text):
        why = say(
            page,
            f"{text} is not a number as the goal asks for, so I press 'Generate'.",
            f"The page shows {text}, which does not meet the goal: 'Generate' makes another.",
        )
        if not text.isdigit():
            why = "No number is there yet, so I press 'Generate' to get one."
        page = yield from click(page, button("Generate"), why)
    return (yield from submit(page))


def _number_test(goal: str) -> Callable[[str], bool]:
    """Return the test of a number that a goal describes."""
    bound = re.search(r"(less|greater) than (\d+)", goal)
    if bound is not None:
        limit = int(bound[2])
        if bound[1] == "less":
            return lambda text: text.isdigit() and int(text) < limit
        return lambda text: text.isdigit() and int(text) > limit
    odd = int(part(r"an (odd|even) number", goal) == "odd")
    return lambda text: text.isdigit() and int(text) % 2 == odd


def find_greatest(page: Page) -> Plan:
    """Turn over every card, then pick the one with the greatest number."""
    cards = len(page.all(cls="card"))
    values: list[int] = []
    for place in range(1, cards + 1):
        why = say(
            page,
            f"The {nth(place)} card lies face down, so I turn it over to see its number.",
            f"I do not know what is on card {place} yet, so I click it.",
        )
        page = yield from click(page, locator(cls="card", place=place), why)
        values.append(to_int(locator(cls="card", place=place)(page).text))
    best = values.index(max(values)) + 1
    if best != cards:
        why = say(
            page,
            f"'{max(values)}' was here, the greatest number, so I pick the {nth(best)} card.",
            f"I saw {', '.join(str(value) for value in values)}: '{max(values)}' is the greatest,"
            f" and it was on card {best}.",
        )
        page = yield from click(page, locator(cls="card", place=best), why)
    why = "The card with the greatest number lies open, so I hand it in."
    return (yield from click(page, by_id("submit"), why))


MAX_PAGES = 10
"""Pages of a book that are read before giving up."""


def search(page: Page) -> Plan:
    """Search for what the goal quotes and click the result at the position in the goal."""
    wanted, place = quote(page.goal), ordinal(page.goal)
    why = say(
        page,
        f"The goal wants '{wanted}' looked for, so I type that into the field for searches.",
        f"What I search for is '{wanted}'.",
    )
    page = yield from fill(page, by_id("search-text"), wanted, why)
    why = "The words stand in the field, so I press 'Search'."
    page = yield from click(page, button("Search"), why)
    on_a_page = len(page.all("a", cls="search-title"))
    if not on_a_page:
        raise SkillError("the search finds nothing")
    pages_ahead, row = divmod(place - 1, on_a_page)
    if pages_ahead:
        why = (
            f"A page shows {on_a_page} results, so the {nth(place)} is on page"
            f" '{pages_ahead + 1}', and I go there."
        )
        page = yield from click(page, locator("a", text=str(pages_ahead + 1)), why)
    result = locator("a", cls="search-title", place=row + 1)
    title = label(result(page))
    why = say(
        page,
        f"'{title}' is the {nth(place)} result, so I click it.",
        f"Counted from the first one, result number {place} is '{title}'.",
    )
    return (yield from click(page, result, why))


def look_up(page: Page) -> Plan:
    """Go through a phone book to the name in the goal, and click the detail that it asks for."""
    name = part(r"Find (\S+) in the contact book", page.goal)
    detail = part(r"click on their (phone|email|address)", page.goal)
    for _ in range(MAX_PAGES):
        if page.one("h2").text == name:
            value = label(page.one("a", cls=detail))
            why = f"This is the page of {name}; the {detail} on it is '{value}', so I click that."
            return (yield from click(page, locator("a", cls=detail), why))
        current = page.one("h2").text
        why = say(
            page,
            f"This page is of {current}, not of {name}, so I go on with '>'.",
            f"I read {current} here and look for {name}: the next page is behind '>'.",
        )
        page = yield from click(page, locator("a", text=">"), why)
    raise SkillError(f"{name} is not in the book")
