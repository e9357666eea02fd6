"""Skills that select text, alone or to give it a style."""

from generators.policy.teacher.colours import hue_name, parse_colour
from generators.policy.teacher.goals import ordinal, parts
from generators.policy.teacher.page import Page, SkillError
from generators.policy.teacher.primitives import (
    Locator,
    Plan,
    click,
    drag,
    locator,
    press_key,
    submit,
)
from schemas.observation import Box

_STYLE_BUTTONS = {"bold": "ql-bold", "italics": "ql-italic", "underlined": "ql-underline"}


def _drag_over(first: Box, last: Box, why: str) -> Plan:
    """Drag from the start of one word to the end of another."""
    start = first[0], first[1] + first[3] / 2
    end = last[0] + last[2], last[1] + last[3] / 2
    return (yield from drag(start, end, why))


def select_paragraph(page: Page) -> Plan:
    """Select the only paragraph, or the one whose position is in the goal, and submit."""
    text = page.by_id("randomText")
    if "paragraph below" not in page.goal:
        text = page.all("p", within=text)[ordinal(page.goal) - 1]
    words = [place for _, place in text.words]
    why = "I drag over the whole paragraph to highlight it."
    page = yield from _drag_over(words[0], words[-1], why)
    return (yield from submit(page))


def style_text(page: Page) -> Plan:
    """Select the word in the goal, or everything, give it the style or colour, and submit."""
    word, what, value = parts(r"(?:the text (\S+)|everything) the (style|color) (\w+)", page.goal)
    editor = locator(cls="ql-editor")
    if word:
        page = yield from _select_word(page, editor, word)
    else:
        page = yield from click(page, editor, "I click into the text to edit it.")
        page = yield from press_key("Control+a", "The goal speaks of everything, so I mark it all.")
    if what == "color":
        page = yield from _pick_colour(page, value)
    else:
        why = f"The text is marked, so I press the button for {value}."
        page = yield from click(page, locator("button", cls=_STYLE_BUTTONS[value]), why)
    return (yield from submit(page))


def _select_word(page: Page, editor: Locator, word: str) -> Plan:
    for node in editor(page).walk():
        for text, place in node.words:
            if text == word:
                why = f"I drag over '{word}' to mark it."
                return (yield from _drag_over(place, place, why))
    raise SkillError(f"the text has no word '{word}'")


def _pick_colour(page: Page, name: str) -> Plan:
    why = f"The text is marked and is to be {name}, so I open the colours."
    page = yield from click(page, locator(cls="ql-picker-label"), why)
    swatch = locator(
        cls="ql-picker-item",
        where=lambda n: (
            "data-value" in n.attrs and hue_name(parse_colour(n.attrs["data-value"])) == name
        ),
    )
    return (yield from click(page, swatch, f"This is a {name}, so I take it."))
