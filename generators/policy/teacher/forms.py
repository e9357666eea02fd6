"""Skills that fill a form and hand it in; sign an agreement; type commands into a shell."""

import re

from generators.policy.teacher.goals import parts, quote
from generators.policy.teacher.page import Page, SkillError
from generators.policy.teacher.primitives import (
    Plan,
    button,
    by_id,
    click,
    click_at,
    click_point,
    do,
    fill,
    locator,
    submit,
)
from schemas.action import Direction, Scroll, TypeText


def enter_quoted(page: Page) -> Plan:
    """Type what the goal quotes into every text field, in the letter case it asks for."""
    text = quote(page.goal)
    if "upper case" in page.goal:
        text = text.upper()
    elif "lower case" in page.goal:
        text = text.lower()
    for place, field in enumerate(page.all("input"), 1):
        name = "password" if field.attrs.get("type") == "password" else "text"
        why = f"The goal asks for the {name} '{text}' in this field, so I type it."
        page = yield from fill(page, locator("input", place=place), text, why)
    return (yield from submit(page))


def log_in(page: Page) -> Plan:
    """Type user name and password, dismiss a pop-up that interrupts, and log in."""
    user, password = parts(r'username "(.*?)" and the password "(.*?)"', page.goal)
    for name, text in (("username", user), ("password", password)):
        why = f"The goal gives the {name} '{text}', so I type it."
        while page.by_id(name).value != text:
            page = yield from fill(page, by_id(name), text, why)
            page = yield from _dismiss_popup(page)
    why = "User name and password are typed, so I log in."
    return (yield from click(page, locator("button", cls="secondary-action"), why))


def _dismiss_popup(page: Page) -> Plan:
    if not page.has("popup"):
        return page
    why = "A box that asks about leaving is in the way, so I cancel it."
    return (yield from click(page, by_id("popup-cancel"), why))


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
        why = f"This field is for '{caption}', which is '{text}'."
        page = yield from fill(page, locator("input", place=place), text, why)
    for name in ("Submit", "Search", "Go!"):
        if page.first(text=name) is not None:
            return (yield from submit(page, name))
    raise SkillError("there is nothing to hand the search in with")


def sign(page: Page) -> Plan:
    """Cancel at once, or scroll to the end, sign, and press the button in the goal."""
    if "Click the cancel button" in page.goal:
        return (yield from click(page, button("Cancel"), "The goal asks to cancel, so I do."))
    name, choice = parts(r'enter the name "(.*?)" then press "(Agree|Cancel)"', page.goal)
    text = by_id("text-area")(page)
    x, y = click_point(text)
    rest = round((text.scroll or (0, 0, 0, 1))[3])
    why = "The goal asks to read to the end, so I scroll all the way down."
    page = yield from do(Scroll(direction=Direction.DOWN, amount=rest, x=x, y=y), why)
    page = yield from fill(page, by_id("name"), name, f"I sign with the name '{name}'.")
    return (yield from click(page, button(choice), f"It is signed, so I press {choice}."))


def delete_file(page: Page) -> Plan:
    """List the files in the terminal and delete one with the extension in the goal."""
    why = "I click into the terminal to type there."
    page = yield from click_at(*click_point(page.by_id("terminal-contents")), why)
    page = yield from _enter("ls", "I list the files to see what there is.")
    files = page.all(cls="output")[-1].text.split()
    name = file_to_delete(files, page.goal)
    return (yield from _enter(f"rm {name}", f"'{name}' has the extension asked for: I delete it."))


def _enter(command: str, why: str) -> Plan:
    return (yield from do(TypeText(text=command, enter=True), why))


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
