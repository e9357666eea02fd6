"""Skills that mark text: for its own sake, or to give it a style."""

from generators.policy.teacher.colours import hue_name, parse
from generators.policy.teacher.goals import ordinal, parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import Find, Plan, drag, key, press, submit, the
from schemas.observation import Box

_BUTTONS = {"bold": "ql-bold", "italics": "ql-italic", "underlined": "ql-underline"}


def _mark(first: Box, last: Box, why: str) -> Plan:
    """Drag from before one word to after another."""
    start = first[0], first[1] + first[3] / 2
    end = last[0] + last[2], last[1] + last[3] / 2
    return (yield from drag(start, end, why))


def mark_paragraph(page: Page) -> Plan:
    """Mark the one paragraph, or the one whose place the goal names, and submit."""
    text = page.by_id("randomText")
    if "paragraph below" not in page.goal:
        text = page.all("p", within=text)[ordinal(page.goal) - 1]
    words = [place for _, place in text.words]
    why = "I drag over the whole paragraph to highlight it."
    page = yield from _mark(words[0], words[-1], why)
    return (yield from submit(page))


def style_text(page: Page) -> Plan:
    """Mark the word the goal names, or everything, give it the style or colour, and submit."""
    word, what, value = parts(r"(?:the text (\S+)|everything) the (style|color) (\w+)", page.goal)
    editor = the(cls="ql-editor")
    if word:
        page = yield from _mark_word(page, editor, word)
    else:
        page = yield from press(page, editor, "I click into the text to edit it.")
        page = yield from key("Control+a", "The goal speaks of everything, so I mark it all.")
    if what == "color":
        page = yield from _pick_colour(page, value)
    else:
        why = f"The text is marked, so I press the button for {value}."
        page = yield from press(page, the("button", cls=_BUTTONS[value]), why)
    return (yield from submit(page))


def _mark_word(page: Page, editor: Find, word: str) -> Plan:
    for node in editor(page).walk():
        for text, place in node.words:
            if text == word:
                why = f"I drag over '{word}' to mark it."
                return (yield from _mark(place, place, why))
    raise Lost(f"the text has no word '{word}'")


def _pick_colour(page: Page, name: str) -> Plan:
    why = f"The text is marked and is to be {name}, so I open the colours."
    page = yield from press(page, the(cls="ql-picker-label"), why)
    swatch = the(
        cls="ql-picker-item",
        where=lambda n: "data-value" in n.attrs and hue_name(parse(n.attrs["data-value"])) == name,
    )
    return (yield from press(page, swatch, f"This is a {name}, so I take it."))
