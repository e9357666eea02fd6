"""Skills that choose among things on offer: boxes to tick, options of a list, words that fit.

Goals that ask for similar words are read with a pocket thesaurus: a line is a group, and two words
are alike if one line has both. It is knowledge of English, as any reader has it, and not part of any
page.
"""

from functools import partial

from generators.browser.protocol import Node
from generators.policy.teacher.goals import part, quote, quoted, whole
from generators.policy.teacher.page import Lost, Page, classes
from generators.policy.teacher.primitives import Find, Plan, choose, press, submit, the, write

_GROUPS = """
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


def alike(one: str, other: str) -> bool:
    """Say whether two words mean much the same."""
    pair = {one.lower(), other.lower()}
    return len(pair) == 1 or any(pair <= set(line.split()) for line in _GROUPS.splitlines())


_LISTED = r"Select (?:words similar to )?(.*?)(?: from the (?:scroll )?list)? and click Submit"


def _wanted(page: Page) -> list[str]:
    """Return what the goal lists; `nothing` is an empty list."""
    text = part(_LISTED, page.goal)
    return [] if text == "nothing" else text.split(", ")


def _box_of(name: str) -> Find:
    """Return how to find the box to tick beside a name."""

    def find(page: Page) -> Node:
        return page.one("input", within=page.one("label", text=name))

    return find


def tick(page: Page, *, loosely: bool = False) -> Plan:
    """Tick the boxes the goal lists, and no others; `loosely`: those that mean the same."""
    wanted = _wanted(page)
    for name in [node.text for node in page.all("label")]:
        meant = [word for word in wanted if name == word or (loosely and alike(name, word))]
        if _box_of(name)(page).checked == bool(meant):
            continue
        why = f"'{name}' is among what the goal lists, so I tick it."
        if loosely and meant:
            why = f"'{name}' means much the same as '{meant[0]}', so I tick it."
        page = yield from press(page, _box_of(name), why)
    return (yield from submit(page))


tick_similar = partial(tick, loosely=True)


def choose_options(page: Page) -> Plan:
    """Choose the options the goal lists."""
    for option in _wanted(page):
        page = yield from choose(page, the("select"), option, f"The goal asks for '{option}'.")
    return (yield from submit(page))


def pick_suggestion(page: Page, find: Find, text: str, *, ending: str = "") -> Plan:
    """Type `text` into a field and take the first suggestion that holds it and ends as said."""
    page = yield from write(page, find, text, f"I type '{text}' to see what is suggested.")

    def fits(node: Node) -> bool:
        return (
            "ui-menu-item-wrapper" in classes(node)
            and text in node.text
            and node.text.endswith(ending)
        )

    found = page.maybe(where=fits)
    if found is None:
        raise Lost(f"nothing that fits '{text}' is suggested")
    why = f"'{found.text}' is suggested and fits, so I take it."
    return (yield from press(page, the(where=fits), why))


def autocomplete(page: Page) -> Plan:
    """Enter an item that starts, and perhaps ends, as the goal quotes."""
    start, ending = [*quoted(page.goal), ""][:2]
    page = yield from pick_suggestion(page, the("input"), start, ending=ending)
    return (yield from submit(page))


def spin(page: Page) -> Plan:
    """Bring a spinner to the number the goal names, one click at a time."""
    wanted = int(part(r"Select (-?\d+) with the spinner", page.goal))
    while (value := whole(the("input")(page).value or "0")) != wanted:
        way = "up" if value < wanted else "down"
        why = f"The spinner shows {value} and {wanted} is wanted, so I turn it {way}."
        page = yield from press(page, the("a", cls=f"ui-spinner-{way}"), why)
    return (yield from submit(page))


def pick_from_drawer(page: Page) -> Plan:
    """Open a drop-down made of boxes, take the option the goal names, and press its button."""
    option = part(r"Choose (.*?) from the dropdown", page.goal)
    why = f"The goal asks for '{option}', so I open the drop-down."
    page = yield from press(page, the(cls="selectric"), why)
    why = f"This is '{option}', so I take it."
    page = yield from press(page, the("li", text=option), why)
    return (yield from submit(page, quote(page.goal)))


def pick_radio_and_write(page: Page) -> Plan:
    """Mark the radio button and fill the text field whose places the goal names."""
    radio = int(part(r"Check the (\d)\w\w radio", page.goal))
    text, place = quote(page.goal), int(part(r"into the (\d)\w\w textbox", page.goal))
    radios = the("input", where=lambda n: n.attrs.get("type") == "radio", place=radio)
    fields = the("input", where=lambda n: n.attrs.get("type") == "text", place=place)
    page = yield from press(page, radios, f"The goal asks for radio button number {radio}.")
    page = yield from write(page, fields, text, f"The goal asks for {text} in field {place}.")
    return (yield from submit(page))
