"""Skills that fill a form and hand it in; sign an agreement; type commands into a shell."""

import re

from generators.browser.protocol import Node
from generators.policy.teacher.goals import parts, quote
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import (
    Plan,
    button,
    click_at,
    do,
    press,
    spot,
    submit,
    the,
    with_id,
    write,
)
from schemas.action import Direction, Scroll, TypeText


def enter_quoted(page: Page) -> Plan:
    """Type what the goal quotes into every text field, in the letters it asks for."""
    text = _in_letters(quote(page.goal), page.goal)
    for place, field in enumerate(page.all("input"), 1):
        name = "password" if field.attrs.get("type") == "password" else "text"
        why = f"The goal asks for the {name} '{text}' in this field, so I type it."
        page = yield from write(page, the("input", place=place), text, why)
    return (yield from submit(page))


def _in_letters(text: str, goal: str) -> str:
    if "upper case" in goal:
        return text.upper()
    return text.lower() if "lower case" in goal else text


def log_in(page: Page) -> Plan:
    """Type user name and password, sending away a box that comes between, and log in."""
    user, password = parts(r'username "(.*?)" and the password "(.*?)"', page.goal)
    for name, text in (("username", user), ("password", password)):
        why = f"The goal gives the {name} '{text}', so I type it."
        while page.by_id(name).value != text:
            page = yield from write(page, with_id(name), text, why)
            page = yield from _send_away(page)
    why = "User name and password are typed, so I log in."
    return (yield from press(page, the("button", cls="secondary-action"), why))


def _send_away(page: Page) -> Plan:
    if not page.has("popup"):
        return page
    why = "A box that asks about leaving is in the way, so I cancel it."
    return (yield from press(page, with_id("popup-cancel"), why))


def _caption(page: Page, field: Node) -> str:
    return next((outer.text for outer in page.above(field) if outer.text), "")


def search_films(page: Page) -> Plan:
    """Fill a search for films, whatever its layout, by the words beside each field."""
    genre, director, year = parts(
        r"Search for (.*?) movies directed by (.*?) from year (\d+)", page.goal
    )
    by_word = {"Genre": genre, "Director": director, "Year": year, "Date": year}
    captions = [_caption(page, field) for field in page.all("input")]
    for place, caption in enumerate(captions, 1):
        text = next((by_word[word] for word in by_word if word in caption), "")
        why = f"This field is for '{caption}', which is '{text}'."
        page = yield from write(page, the("input", place=place), text, why)
    for name in ("Submit", "Search", "Go!"):
        if page.maybe(text=name) is not None:
            return (yield from submit(page, name))
    raise Lost("there is nothing to hand the search in with")


def sign(page: Page) -> Plan:
    """Cancel at once, or read to the end, sign, and press what the goal says."""
    if "Click the cancel button" in page.goal:
        return (yield from press(page, button("Cancel"), "The goal asks to cancel, so I do."))
    name, choice = parts(r'enter the name "(.*?)" then press "(Agree|Cancel)"', page.goal)
    text = with_id("text-area")(page)
    x, y = spot(text)
    rest = round((text.scroll or (0, 0, 0, 1))[3])
    why = "The goal asks to read to the end, so I scroll all the way down."
    page = yield from do(Scroll(direction=Direction.DOWN, amount=rest, x=x, y=y), why)
    page = yield from write(page, with_id("name"), name, f"I sign with the name '{name}'.")
    return (yield from press(page, button(choice), f"It is signed, so I press {choice}."))


def delete_file(page: Page) -> Plan:
    """List the files in the terminal and delete one with the extension the goal names."""
    why = "I click into the terminal to type there."
    page = yield from click_at(*spot(page.by_id("terminal-contents")), why)
    page = yield from _enter("ls", "I list the files to see what there is.")
    listed = page.all(cls="output")[-1].text.split()
    name = file_to_delete(listed, page.goal)
    return (yield from _enter(f"rm {name}", f"'{name}' has the extension asked for: I delete it."))


def _enter(command: str, why: str) -> Plan:
    return (yield from do(TypeText(text=command, enter=True), why))


def file_to_delete(names: list[str], goal: str) -> str:
    """Return a file the goal means, the plainest first: its extension nowhere else in its name.

    Raises:
        Lost: no file is meant.
    """
    if "no file extension" in goal:
        fitting = [name for name in names if "." not in name]
    else:
        (extension,) = parts(r"with the extension \.([\w.]+)$", goal)
        fitting = [name for name in names if name.endswith(f".{extension}")]
        fitting.sort(key=lambda name: len(re.findall(re.escape(extension), name)))
    if not fitting:
        raise Lost(f"no file is what the goal asks for: {', '.join(names)}")
    return fitting[0]
