"""Skills that fill and submit a form, sign an agreement, use a terminal, or style a text."""

import re

from generators.policy.teacher.goals import ordinal, parts, quote
from generators.policy.teacher.page import Page, SkillError, label, say
from generators.policy.teacher.primitives import (
    button,
    by_id,
    click,
    click_at,
    drag,
    fill,
    focus,
    locator,
    press_key,
    submit,
)
from generators.policy.teacher.scrolling import (
    Locator,
    Plan,
    click_point,
    do,
    scroll_through,
)
from generators.policy.teacher.skills.colours import hue_name, parse_colour
from schemas.episodes.action import Direction, TypeText
from schemas.episodes.observation import Box


def enter_quoted(page: Page) -> Plan:
    """Type what the goal quotes into every text field, in the letter case it asks for."""
    given = text = quote(page.goal)
    if "upper case" in page.goal:
        text = text.upper()
    elif "lower case" in page.goal:
        text = text.lower()
    for place, field in enumerate(page.all("input"), 1):
        name = "password" if field.attrs.get("type") == "password" else "text"
        why = say(
            page,
            f"The goal asks for the {name} '{text}' in this field, so I type it.",
            f"This field is for the {name} of the goal, so '{text}' goes in here.",
            f"The field is ready, and the {name} that belongs in it is '{text}'.",
        )
        if text != given:
            case = "capital" if text.isupper() else "small"
            why = f"The goal gives '{given}' and wants {case} letters, so I type '{text}'."
        page = yield from fill(page, locator("input", place=place), text, why)
    return (yield from submit(page))


def log_in(page: Page) -> Plan:
    """Type user name and password, dismiss a pop-up that interrupts, and log in."""
    user, password = parts(r'username "(.*?)" and the password "(.*?)"', page.goal)
    for name, text in (("username", user), ("password", password)):
        why = say(
            page,
            f"The goal gives the {name} '{text}', so I type it.",
            f"This is the field for the {name}, which is '{text}'.",
        )
        page = yield from focus(page, by_id(name))
        if page.has("popup"):
            reason = "A box that asks about leaving lies over the form, so I press 'Cancel'."
            page = yield from click(page, by_id("popup-cancel"), reason)
        page = yield from fill(page, by_id(name), text, why)
    press = label(page.one("button", cls="secondary-action"))
    why = say(
        page,
        f"User name and password stand in their fields, so I press '{press}'.",
        f"Both fields are filled in; '{press}' hands them in.",
    )
    return (yield from click(page, locator("button", cls="secondary-action"), why))


def search_films(page: Page) -> Plan:
    """Fill a search for films by the words beside each field, in any layout."""
    genre, director, year = parts(
        r"Search for (.*?) movies directed by (.*?) from year (\d+)", page.goal
    )
    by_word = {"Genre": genre, "Director": director, "Year": year, "Date": year}
    captions = [
        next((outer.text for outer in page.ancestors(field) if outer.text), "")
        for field in page.all("input")
    ]
    for place, caption in enumerate(captions, 1):
        text = next((by_word[word] for word in by_word if word in caption), "")
        why = say(
            page,
            f"This field is for '{caption}', which is '{text}'.",
            f"Beside this field I read '{caption}'; the goal's word for it is '{text}'.",
            f"'{caption}' asks for what the goal calls '{text}', so I type that.",
        )
        page = yield from fill(page, locator("input", place=place), text, why)
    for name in ("Submit", "Search", "Go!"):
        if page.first(text=name) is not None:
            return (yield from submit(page, name))
    raise SkillError("there is nothing to hand the search in with")


def sign(page: Page) -> Plan:
    """Cancel at once, or scroll to the end, sign, and press the button in the goal."""
    if "Click the cancel button" in page.goal:
        why = "The goal asks to cancel and nothing else, so I press 'Cancel' at once."
        return (yield from click(page, button("Cancel"), why))
    name, choice = parts(r'enter the name "(.*?)" then press "(Agree|Cancel)"', page.goal)
    why = "The agreement goes on below what I see, so I scroll down."
    page = yield from scroll_through(page, by_id("text-area"), Direction.DOWN, why)
    why = say(
        page,
        f"I am at the end of the text and sign with the name '{name}'.",
        f"Below the text is a field for a name; the goal gives '{name}'.",
    )
    page = yield from fill(page, by_id("name"), name, why)
    why = f"The name stands there, and the goal says '{choice}', so I press that."
    return (yield from click(page, button(choice), why))


def delete_file(page: Page) -> Plan:
    """List the files in the terminal and delete one with the extension in the goal."""
    why = "The black window waits for a command, so I click into it to type there."
    page = yield from click_at(*click_point(page.by_id("terminal-contents")), why)
    page = yield from _enter("help", "It says that 'help' lists the commands, so I ask.")
    page = yield from _enter(
        "ls", "Of the commands, 'ls' lists the files, so I look what there is."
    )
    files = page.all(cls="output")[-1].text.split()
    name = file_to_delete(files, page.goal)
    why = f"Of the files listed, '{name}' is as the goal wants it: I delete it with 'rm'."
    return (yield from _enter(f"rm {name}", why))


def _enter(command: str, why: str) -> Plan:
    yield from do(TypeText(text=command), why)
    return (yield from press_key("Enter", "The command is written, so I send it off with Enter."))


def file_to_delete(names: list[str], goal: str) -> str:
    """Return a file that the goal means, preferably one with the extension once in its name.

    Raises:
        SkillError: no file matches.
    """
    if "no file extension" in goal:
        matches = [name for name in names if "." not in name]
    else:
        (extension,) = parts(r"with the extension \.([\w.]+)$", goal)
        matches = [name for name in names if name.endswith(f".{extension}")]
        matches.sort(key=lambda name: len(re.findall(re.escape(extension), name)))
    if not matches:
        raise SkillError(f"no file is what the goal asks for: {', '.join(names)}")
    return matches[0]


_STYLE_BUTTONS = {"bold": "ql-bold", "italics": "ql-italic", "underlined": "ql-underline"}
_LOOKS = {"bold": "bold", "italics": "italic", "underlined": "underlined"}


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
    first, last = text.words[0][0], text.words[-1][0]
    why = say(
        page,
        f"This paragraph begins with '{first}' and ends with '{last}': I drag over all of it.",
        f"To highlight the whole paragraph I drag from '{first}' to '{last}'.",
    )
    page = yield from _drag_over(words[0], words[-1], why)
    return (yield from submit(page))


def style_text(page: Page) -> Plan:
    """Select the word in the goal, or everything, give it the style or colour, and submit."""
    word, what, value = parts(r"(?:the text (\S+)|everything) the (style|color) (\w+)", page.goal)
    editor = locator(cls="ql-editor")
    if word:
        page = yield from _select_word(page, editor, word)
    else:
        why = "The goal is about all of the text that I see, so I click into it first."
        page = yield from click(page, editor, why)
        why = "The cursor is in the text, and everything is to change, so I mark it all."
        page = yield from press_key("Control+a", why)
    if what == "color":
        page = yield from _pick_colour(page, value)
    else:
        why = say(
            page,
            f"The text is marked, so I press the button that makes it {_LOOKS[value]}.",
            f"What is to change is marked; the button for {_LOOKS[value]} letters is this one.",
        )
        page = yield from click(page, locator("button", cls=_STYLE_BUTTONS[value]), why)
    return (yield from submit(page))


def _select_word(page: Page, editor: Locator, word: str) -> Plan:
    for node in editor(page).walk():
        for text, place in node.words:
            if text == word:
                why = say(
                    page,
                    f"I see '{word}' in the text and drag over it to mark it.",
                    f"'{word}' is the word to change, so I mark it from its start to its end.",
                )
                return (yield from _drag_over(place, place, why))
    raise SkillError(f"the text has no word '{word}'")


def _pick_colour(page: Page, name: str) -> Plan:
    why = f"The text is marked and is to be {name}, so I open the list of colours."
    page = yield from click(page, locator(cls="ql-picker-label"), why)
    swatch = locator(
        cls="ql-picker-item",
        where=lambda n: (
            "data-value" in n.attrs and hue_name(parse_colour(n.attrs["data-value"])) == name
        ),
    )
    return (yield from click(page, swatch, f"Among the colours this one is {name}, so I take it."))
