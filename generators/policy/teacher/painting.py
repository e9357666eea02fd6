"""Skills about colours: click one, gather the shades of one, enter one."""

from generators.policy.teacher.colours import Colour, hexadecimal, hue_name, parse
from generators.policy.teacher.goals import nth, part
from generators.policy.teacher.page import Lost, Page, classes
from generators.policy.teacher.primitives import Plan, named, press, spot, submit, the, write


def click_colour(page: Page) -> Plan:
    """Click the box of the colour the goal names."""
    name = part(r"Click on the (.+) colored box", page.goal)
    wanted = parse(name)
    boxes = the(cls="color", where=lambda node: parse(node.style["background-color"]) == wanted)
    return (yield from press(page, boxes, f"This box is {name}, so I click it."))


def select_shades(page: Page) -> Plan:
    """Click every shade of the colour the goal names, and submit."""
    wanted = part(r"all the shades of (\w+)", page.goal)
    area = page.by_id("area")
    colours = [parse(n.style["background-color"]) for n in page.all("span", within=area)]
    for place, colour in enumerate(colours, 1):
        if hue_name(colour) == wanted:
            why = f"The {nth(place)} square is a shade of {wanted}, so I select it."
            page = yield from press(page, the("span", place=place), why)
    return (yield from submit(page))


def enter_named_colour(page: Page) -> Plan:
    """Enter the colour the goal names."""
    name = part(r"Select (\w+) with the color picker", page.goal)
    return (yield from _enter(page, parse(name), name))


def enter_shown_colour(page: Page) -> Plan:
    """Enter the colour that the banner shows."""
    for node in page.root.walk():
        if "cc" in classes(node):
            colour = parse(node.style["background-color"])
            return (yield from _enter(page, colour, "the colour shown"))
    raise Lost("the banner shows no colour")


def _enter(page: Page, colour: Colour, name: str) -> Plan:
    """Type a colour as the picker's field takes it, close the picker and submit."""
    code = hexadecimal(colour)
    why = f"In hexadecimal {name} is {code}, so I type that into the picker's field."
    page = yield from write(page, named("col"), code, why)
    if named("subbtn")(page).point is None:
        why = "The picker lies over the button, so I click beside it to close it."
        page = yield from press(page, named("wrap"), why)
    spot(named("subbtn")(page))
    return (yield from submit(page))
