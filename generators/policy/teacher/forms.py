"""Skills that fill a form: text into its fields, and then the button that hands it in."""

from generators.browser.protocol import Node
from generators.policy.teacher.goals import parts, quote
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import Plan, named, press, submit, the, write


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
            page = yield from write(page, named(name), text, why)
            page = yield from _send_away(page)
    why = "User name and password are typed, so I log in."
    return (yield from press(page, the("button", cls="secondary-action"), why))


def _send_away(page: Page) -> Plan:
    if not page.has("popup"):
        return page
    why = "A box that asks about leaving is in the way, so I cancel it."
    return (yield from press(page, named("popup-cancel"), why))


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
