"""Skills that choose: boxes to tick, options of a list, suggestions of a field.

For goals that ask for similar words there is a small thesaurus: each line is a group of synonyms.
It is general knowledge of English and is not taken from any page.
"""

from functools import partial

from generators.browser.protocol import Node
from generators.policy.teacher.goals import nth, part, quote, quotes, to_int
from generators.policy.teacher.page import Page, SkillError, classes, say
from generators.policy.teacher.primitives import (
    click,
    fill,
    locator,
    select_option,
    submit,
)
from generators.policy.teacher.scrolling import (
    Locator,
    Plan,
    look_through,
    scroll_into_view,
)

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
    page = yield from look_through(page, "There are more boxes below")
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
