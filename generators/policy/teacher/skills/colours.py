"""Skills about colours: click one, select the shades of one, enter one.

A colour comes as CSS text; here it is parsed, written as hexadecimal digits, or named by its hue.
"""

import colorsys
import re

from PIL import ImageColor

from generators.policy.teacher.goals import nth, part
from generators.policy.teacher.page import Page, SkillError, classes, say
from generators.policy.teacher.primitives import (
    by_id,
    click,
    fill,
    locator,
    submit,
)
from generators.policy.teacher.scrolling import (
    Plan,
    click_point,
)

Colour = tuple[int, int, int]
"""Red, green, blue, each from 0 to 255."""

_HUES = {"red": 0, "orange": 36, "yellow": 60, "green": 120, "blue": 220, "purple": 275}
"""Hues that goals name, in degrees."""

_GREY = 0.1
"""Saturation below which a colour has no hue."""


def parse_colour(text: str) -> Colour:
    """Return the colour that CSS writes as `rgb(1, 2, 3)`, `#010203` or by name.

    Raises:
        SkillError: it is not an opaque colour.
    """
    computed = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", text)
    if computed is not None:
        return int(computed[1]), int(computed[2]), int(computed[3])
    refusal = SkillError(f"'{text}' is not an opaque colour that I know")
    try:
        parts = ImageColor.getrgb(text)
    except ValueError:
        raise refusal from None
    match parts:
        case (red, green, blue):
            return red, green, blue
        case _:
            raise refusal


def to_hex(colour: Colour) -> str:
    """Return a colour as six hexadecimal digits."""
    return "".join(f"{part:02x}" for part in colour)


def hue_name(colour: Colour) -> str | None:
    """Return the basic hue a colour is a shade of; None for black, white and greys."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(part / 255 for part in colour))
    if saturation < _GREY or lightness in (0, 1):
        return None
    degrees = hue * 360
    return min(_HUES, key=lambda name: abs((degrees - _HUES[name] + 180) % 360 - 180))


def click_colour(page: Page) -> Plan:
    """Click the box of the colour in the goal."""
    name = part(r"Click on the (.+) colored box", page.goal)
    wanted = parse_colour(name)
    boxes = locator(
        cls="color", where=lambda node: parse_colour(node.style["background-color"]) == wanted
    )
    why = say(
        page,
        f"The goal asks for {name}, and this box is {name}, so I click it.",
        f"I see one box in {name} among the others: it is the one to click.",
        f"This is the {name} box, so I click it.",
    )
    return (yield from click(page, boxes, why))


def select_shades(page: Page) -> Plan:
    """Click every shade of the colour in the goal, and submit."""
    wanted = part(r"all the shades of (\w+)", page.goal)
    area = page.by_id("area")
    colours = [parse_colour(n.style["background-color"]) for n in page.all("span", within=area)]
    for place, colour in enumerate(colours, 1):
        if hue_name(colour) == wanted:
            why = say(
                page,
                f"This square, the {nth(place)}, is a shade of {wanted}, so I select it.",
                f"Square number {place} is {wanted}, if lighter or darker, so it belongs to them.",
                f"I look for {wanted}: the {nth(place)} square has it, so I mark that.",
            )
            page = yield from click(page, locator("span", place=place), why)
    return (yield from submit(page))


def enter_named_colour(page: Page) -> Plan:
    """Enter the colour in the goal."""
    name = part(r"Select (\w+) with the color picker", page.goal)
    return (yield from _enter_colour(page, parse_colour(name), name))


def enter_shown_colour(page: Page) -> Plan:
    """Enter the colour that the banner shows."""
    for node in page.root.walk():
        if "cc" in classes(node):
            colour = parse_colour(node.style["background-color"])
            return (yield from _enter_colour(page, colour, "the colour shown"))
    raise SkillError("the banner shows no colour")


def _enter_colour(page: Page, colour: Colour, name: str) -> Plan:
    """Type a colour into the picker's field, close the picker and submit."""
    code = to_hex(colour)
    why = say(
        page,
        f"The code of {name} is '{code}', so I type that into the picker's field.",
        f"The field holds a colour as six digits; for {name} they are '{code}'.",
    )
    page = yield from fill(page, by_id("col"), code, why)
    if by_id("subbtn")(page).point is None:
        why = "The picker lies over the button, so I click beside it to close it."
        page = yield from click(page, by_id("wrap"), why)
    click_point(by_id("subbtn")(page))
    return (yield from submit(page))
