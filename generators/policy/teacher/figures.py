"""Skills that tell figures apart: click one, count some, name one, sort them into boxes.

Figures are what is drawn in a grid: letters, digits and shapes. A goal names some by size, colour
and kind, each of which it may leave out.
"""

import re
from dataclasses import dataclass

from generators.browser.protocol import Node
from generators.policy.teacher.geometry import Point
from generators.policy.teacher.goals import parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import Plan, button, click_at, drag, press, spot, submit

SMALL_PX = 15
"""A figure drawn no larger than this is small, any other large."""

COLOURS = frozenset({"red", "green", "blue", "aqua", "black", "magenta", "yellow"})
"""The colours figures are drawn in."""

_SHAPES = {"circle": "circle", "rect": "rectangle", "polygon": "triangle"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One letter, digit or shape."""

    node: Node
    """Where it is."""
    name: str
    """The letter, the digit, or which shape."""
    kind: str
    """`letter`, `digit` or `shape`."""
    colour: str
    """By name."""
    size: str
    """`small` or `large`."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Which figures a goal means; None where it leaves that open."""

    size: str | None
    """`small` or `large`."""
    colour: str | None
    """By name."""
    what: str | None
    """A name or a kind."""

    def fits(self, figure: Figure) -> bool:
        """Say whether a figure is meant."""
        return (
            self.size in (None, figure.size)
            and self.colour in (None, figure.colour)
            and self.what in (None, figure.name, figure.kind)
        )


def figures(page: Page) -> list[Figure]:
    """Return the figures on the page, in the order they were drawn; empty frames are none."""
    return [
        _figure(node)
        for node in page.all("text", *_SHAPES)
        if node.attrs.get("fill", "none") != "none"
    ]


def _figure(node: Node) -> Figure:
    name = _SHAPES.get(node.tag, node.text)
    size = float(node.style["font-size"].removesuffix("px")) if node.tag == "text" else node.box[2]
    kind = "shape" if node.tag in _SHAPES else "digit" if name.isdigit() else "letter"
    return Figure(
        node=node,
        name=name,
        kind=kind,
        colour=node.attrs["fill"],
        size="small" if size <= SMALL_PX else "large",
    )


def wish(text: str) -> Wish:
    """Return which figures a description means, as `large red circle` or `small item`.

    Raises:
        Lost: it is no description.
    """
    colours = "|".join(sorted(COLOURS))
    found = re.fullmatch(rf"(?:(small|large) )?(?:({colours}) )?(\w+)", text.strip())
    if found is None:
        raise Lost(f"'{text}' describes no figure I know")
    size, colour, what = found.groups()
    return Wish(size=size, colour=colour, what=None if what == "item" else what)


_COLUMNS = 3
_MARGIN = 13
"""From the edge of a box to the middle of a figure put into it, px."""


def click_shape(page: Page) -> Plan:
    """Click a figure that fits the goal's description."""
    (what,) = parts(r"Click on an? (.*)", page.goal)
    fitting = [figure for figure in figures(page) if wish(what).fits(figure)]
    reached = [figure for figure in fitting if figure.node.point is not None]
    if not reached:
        raise Lost(f"there is no {what}")
    why = f"The goal asks for a {what}, and this is one: {_say(reached[0])}."
    return (yield from click_at(*spot(reached[0].node), why))


def _say(figure: Figure) -> str:
    kind = "" if figure.kind == "shape" else f"{figure.kind} "
    return f"a {figure.size} {figure.colour} {kind}{figure.name}"


def count_shapes(page: Page) -> Plan:
    """Press the button with the number of figures that fit the goal's description."""
    (what,) = parts(r"How many (.*)s are there\?", page.goal)
    count = sum(wish(what).fits(figure) for figure in figures(page))
    why = f"I count {count} of what the goal describes as '{what}'."
    return (yield from press(page, button(str(count)), why))


def name_shape(page: Page) -> Plan:
    """Press the button that names the one figure."""
    figure = figures(page)[0]
    word = {"digit": "number", "letter": "letter"}.get(figure.kind, figure.name)
    why = f"The figure is a {word}, so I press that button."
    return (yield from press(page, button(word.capitalize()), why))


def sort_shapes(page: Page) -> Plan:
    """Drag the figures the goal names into a box, and all others into the other if there is one."""
    what, place = parts(r"Drag all (\w+)(?: shapes)? into the (\w+) box", page.goal)
    meant = (
        Wish(size=None, colour=what, what=None)
        if what in COLOURS
        else Wish(size=None, colour=None, what=what.removesuffix("s"))
    )
    boxes = sorted(page.all("rect", where=_is_frame), key=lambda node: node.box[0])
    filled = [0] * len(boxes)
    for number, figure in enumerate(figures(page)):
        into = 0 if meant.fits(figure) else 1
        if into >= len(boxes):
            continue
        why = f"This is {_say(figure)}: it belongs into the {place if into == 0 else 'other'} box."
        start = spot(figures(page)[number].node)
        page = yield from drag(start, _slot(boxes[into], filled[into]), why)
        filled[into] += 1
    return (yield from submit(page))


def _is_frame(node: Node) -> bool:
    return node.attrs.get("fill") == "none"


def _slot(box: Node, number: int) -> Point:
    """Return where in a box the figure of that number goes, so that all of them stay in sight."""
    left, top, width, height = box.box
    row, column = divmod(number, _COLUMNS)
    across = (width - 2 * _MARGIN) / (_COLUMNS - 1) * column
    down = (height - 2 * _MARGIN) * row
    return round(left + _MARGIN + across), round(top + _MARGIN + down)
