"""Skills that choose: boxes to tick, options of a list, suggestions of a field, the best offer.

For goals that ask for similar words there is a small thesaurus: each line is a group of synonyms.
It is general knowledge of English and is not taken from any page.
"""

import re
from collections.abc import Callable
from functools import partial

from generators.browser.protocol import Node
from generators.policy.teacher.goals import nth, part, parts, quote, quotes, to_int
from generators.policy.teacher.page import Page, SkillError, classes, label, say
from generators.policy.teacher.primitives import (
    Locator,
    Plan,
    button,
    by_id,
    click,
    fill,
    locator,
    scroll_into_view,
    select_option,
    submit,
)
from generators.policy.teacher.skills.dates import pick_date

_SYNONYMS = """
big large huge enormous gigantic
small tiny little mini petite
red scarlet crimson vermillion
happy cheerful joyful gleeful delighted
sad unhappy sorrowful miserable tragic
angry mad furious irritated
evil wicked immoral sinful corrupt depraved
wrong incorrect mistaken erroneous
real genuine actual
strange odd peculiar unusual weird
stop cease halt end finish
scared terrified panicked fearful frightened afraid
quiet calm peaceful serene mild
old aged archaic
love like adore favor
kill murder assassinate
keep retain preserve sustain maintain
hide conceal camouflage
hate despise loathe detest dislike
funny humorous amusing comical laughable
fat fleshy plump chubby
stupid dumb dull unwise
delicious savory delectable appetizing
cut slice carve chop
brave courageous fearless
begin start initiate launch
answer reply response
television televisions tv tvs
house home houses homes
fire flame fires flames
pig pork swine
rabbit rabbits bunny bunnies
car cars automobile automobiles vehicle vehicles
"""


def are_synonyms(one: str, other: str) -> bool:
    """Return whether two words mean about the same."""
    pair = {one.lower(), other.lower()}
    return len(pair) == 1 or any(pair <= set(line.split()) for line in _SYNONYMS.splitlines())


_LIST = r"Select (?:words similar to )?(.*?)(?: from the (?:scroll )?list)? and click Submit"


def _listed_options(page: Page) -> list[str]:
    """Return the options that the goal lists; for `nothing` none."""
    text = part(_LIST, page.goal)
    return [] if text == "nothing" else text.split(", ")


def _checkbox(name: str) -> Locator:
    """Return the locator of the checkbox with that label."""

    def find(page: Page) -> Node:
        return page.one("input", within=page.one("label", text=name))

    return find


def tick(page: Page, *, synonyms: bool = False) -> Plan:
    """Tick the boxes that the goal lists, and no others; with `synonyms`, their synonyms too."""
    wanted = _listed_options(page)
    for name in [node.text for node in page.all("label")]:
        matches = [
            word for word in wanted if name == word or (synonyms and are_synonyms(name, word))
        ]
        if _checkbox(name)(page).checked == bool(matches):
            continue
        why = say(
            page,
            f"'{name}' is among what the goal lists and is not chosen yet, so I tick it.",
            f"The goal lists '{name}'; the mark before it is still empty, so I click there.",
            f"I see '{name}', which the goal asks for, so I mark it.",
        )
        if not matches:
            why = f"'{name}' is marked, but the goal does not list it, so I take the mark away."
        elif synonyms and matches[0] != name:
            why = say(
                page,
                f"'{name}' means much the same as '{matches[0]}', so I tick it.",
                f"The goal wants words like '{matches[0]}', and '{name}' is one: I tick it.",
            )
        page = yield from click(page, _checkbox(name), why)
    return (yield from submit(page))


tick_similar = partial(tick, synonyms=True)


def choose_options(page: Page) -> Plan:
    """Select the options that the goal lists, and submit."""
    for number, option in enumerate(_listed_options(page)):
        why = say(
            page, f"The goal asks for '{option}'.", f"'{option}' is what the goal wants chosen."
        )
        page = yield from select_option(page, locator("select"), option, why, more=number > 0)
    return (yield from submit(page))


def pick_suggestion(page: Page, find: Locator, text: str, *, ending: str = "") -> Plan:
    """Type `text` into a field and take the first suggestion that contains it and ends in `ending`."""
    why = say(
        page,
        f"I type '{text}' to see what is suggested.",
        f"The field suggests what fits once something stands in it, so I write '{text}'.",
    )
    page = yield from fill(page, find, text, why)

    def fits(node: Node) -> bool:
        return (
            "ui-menu-item-wrapper" in classes(node)
            and text in node.text
            and node.text.endswith(ending)
        )

    suggestion = page.first(where=fits)
    if suggestion is None:
        raise SkillError(f"nothing that fits '{text}' is suggested")
    ends = f" and ends in '{ending}'" if ending else ""
    why = say(
        page,
        f"'{suggestion.text}' is suggested: it has '{text}'{ends}, so I take it.",
        f"Of the suggestions, '{suggestion.text}' is the first with '{text}' that fits{ends and ' its end'}.",
    )
    return (yield from click(page, locator(where=fits), why))


def autocomplete(page: Page) -> Plan:
    """Enter an item with the prefix, and perhaps the suffix, that the goal quotes."""
    start, ending = [*quotes(page.goal), ""][:2]
    page = yield from pick_suggestion(page, locator("input"), start, ending=ending)
    return (yield from submit(page))


def spin(page: Page) -> Plan:
    """Set a spinner to the number in the goal, one click at a time."""
    wanted = int(part(r"Select (-?\d+) with the spinner", page.goal))
    while (value := to_int(locator("input")(page).value or "0")) != wanted:
        way = "up" if value < wanted else "down"
        why = say(
            page,
            f"The field shows {value} and {wanted} is wanted, so I press the arrow {way}.",
            f"{value} is {'less' if way == 'up' else 'more'} than {wanted}, so I turn it {way} by one.",
            f"It stands at {value}; the goal says {wanted}, so it must go {way}.",
        )
        page = yield from click(page, locator("a", cls=f"ui-spinner-{way}"), why)
    return (yield from submit(page))


def pick_from_dropdown(page: Page) -> Plan:
    """Open a styled drop-down, take the option in the goal, and press the button that the goal quotes."""
    option = part(r"Choose (.*?) from the dropdown", page.goal)
    why = f"The drop-down does not show '{option}', which the goal asks for, so I open it."
    page = yield from click(page, locator(cls="selectric"), why)
    because = f"The part of the list that I see has no '{option}'"
    page = yield from scroll_into_view(page, locator("li", text=option), because)
    why = say(
        page,
        f"The open list has '{option}', which the goal asks for, so I take it.",
        f"Here in the list is '{option}': I choose it.",
    )
    page = yield from click(page, locator("li", text=option), why)
    return (yield from submit(page, quote(page.goal)))


def pick_radio_and_write(page: Page) -> Plan:
    """Select the radio button and fill the text field whose positions are in the goal."""
    radio = int(part(r"Check the (\d)\w\w radio", page.goal))
    text, place = quote(page.goal), int(part(r"into the (\d)\w\w textbox", page.goal))
    radios = locator("input", where=lambda n: n.attrs.get("type") == "radio", place=radio)
    fields = locator("input", where=lambda n: n.attrs.get("type") == "text", place=place)
    why = say(
        page,
        f"The goal wants the {nth(radio)} of the round buttons: counted from the first, this one.",
        f"This is round button number {radio} in the row, the one to choose.",
    )
    page = yield from click(page, radios, why)
    why = say(
        page,
        f"'{text}' belongs into the {nth(place)} text field, which is this one.",
        f"The goal wants '{text}' in field number {place}, so I type it here.",
    )
    page = yield from fill(page, fields, text, why)
    return (yield from submit(page))


_PRICE, _DURATION = r"\$(\d+)", r"(\d+)h (\d+)m"

_CRITERIA: dict[str, tuple[str, Callable[[list[list[int]]], list[int]]]] = {
    "cheapest": (_PRICE, min),
    "most expensive": (_PRICE, max),
    "shortest": (_DURATION, min),
    "longest": (_DURATION, max),
}
"""What an offer's text is searched for, and which of the values wins."""


def take_best(page: Page) -> Plan:
    """Take the offer that the goal's superlative selects."""
    criterion = part(r"(cheapest|most expensive|shortest|longest)", page.goal)
    pattern, best = _CRITERIA[criterion]
    values: list[tuple[list[int], str]] = []
    while len(values) < len(page.all(cls="flight")):
        button_below = _offer_button(len(values) + 1)
        page = yield from scroll_into_view(page, button_below, "There may be more offers")
        offer = page.all(cls="flight")[len(values)]
        numbers = [int(number) for number in parts(pattern, offer.text)]
        values.append((numbers, part(f"({pattern})", offer.text)))
    if not values:
        raise SkillError("there are no offers")
    found = [numbers for numbers, _ in values]
    place = found.index(best(found))
    of = ", ".join(f"'{text}'" for _, text in values)
    find = _offer_button(place + 1)
    best_one, press = values[place][1], label(find(page))
    why = say(
        page,
        f"Of {of} the {criterion} is '{best_one}', so I press '{press}' below it.",
        f"I have seen {of}: '{best_one}' is the {criterion}, and '{press}' beneath takes it.",
    )
    because = f"The best offer, '{best_one}', is out of sight now"
    page = yield from scroll_into_view(page, find, because)
    return (yield from click(page, find, why))


def _offer_button(place: int) -> Locator:
    """Return the locator of the button that books an offer, below all that the offer says."""
    offer = locator(cls="flight", place=place)
    return lambda page: page.one("button", within=offer(page))


def book_flight(page: Page) -> Plan:
    """Fill in the search for a flight, search, and book the best offer."""
    start, end, month, day, year = parts(
        r"from: (.*?) to: (.*?) on (\d\d)/(\d\d)/(\d{4})", page.goal
    )
    page = yield from pick_suggestion(page, by_id("flight-from"), start)
    page = yield from pick_suggestion(page, by_id("flight-to"), end)
    page = yield from pick_date(page, by_id("datepicker"), (int(month), int(day), int(year)))
    page = yield from click(
        page, button("Search"), "Places and date are filled in, so I press 'Search'."
    )
    return (yield from take_best(page))


def order_food(page: Page) -> Plan:
    """Order what the goal lists, or as many pieces of the first item of a kind as it says."""
    match = re.search(r"each item: (.*)", page.goal)
    for name in match[1].split(",") if match is not None else ():
        why = say(
            page,
            f"'{name.strip()}' is to be ordered, so I press the plus beside it.",
            f"The goal lists '{name.strip()}'; I see it on the menu and add one.",
        )
        plus = _add_button(_named(name.strip()))
        page = yield from scroll_into_view(page, plus, f"I do not see '{name.strip()}' yet")
        page = yield from click(page, plus, why)
    if match is None:
        count, kind = parts(r"Order (\d+) items that are (\S+)", page.goal)
        for number in range(1, int(count) + 1):
            why = say(
                page,
                f"This dish has the sign for '{kind}': I add number {number} of {count}.",
                f"I need {count} that are '{kind}', and this one is: the plus makes it {number}.",
            )
            plus = _add_button(_of_kind(kind))
            page = yield from scroll_into_view(page, plus, f"No sign for '{kind}' is in sight")
            page = yield from click(page, plus, why)
    because = "All is in the order, but I do not see how to send it"
    page = yield from scroll_into_view(page, button("Order!"), because)
    return (yield from click(page, button("Order!"), "All is in the order, so I press 'Order!'."))


def _named(name: str) -> Callable[[Page, Node], bool]:
    return lambda page, item: page.one(cls="item-name", within=item).text == name


def _of_kind(kind: str) -> Callable[[Page, Node], bool]:
    def fits(page: Page, item: Node) -> bool:
        signs = page.all("img", within=item, where=lambda node: node.attrs.get("alt") == kind)
        return bool(signs)

    return fits


def _add_button(fits: Callable[[Page, Node], bool]) -> Locator:
    """Return the locator of the plus beside the first item of the menu that fits."""

    def find(page: Page) -> Node:
        for item in page.all(cls="food-item"):
            if fits(page, item):
                return page.one(cls="add", within=item)
        raise SkillError("nothing on the menu is what the goal asks for")

    return find
