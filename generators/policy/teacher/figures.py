"""Skills that tell figures apart: click one, count some, name one, sort them into boxes.

Figures are what is drawn in a grid: letters, digits and shapes. A goal names some by size, colour
and kind, each of which it may leave out.
"""

import re
from dataclasses import dataclass

from generators.browser.protocol import Node
from generators.policy.teacher.geometry import Point
from generators.policy.teacher.goals import parts
from generators.policy.teacher.page import Page, SkillError
from generators.policy.teacher.primitives import (
    Plan,
    button,
    click,
    click_at,
    click_point,
    drag,
    submit,
)

SMALL_PX = 15
"""Size of the largest small figure; any other is large."""

COLOURS = frozenset({"red", "green", "blue", "aqua", "black", "magenta", "yellow"})
"""The colours of figures."""

_SHAPES = {"circle": "circle", "rect": "rectangle", "polygon": "triangle"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One letter, digit or shape."""

    node: Node
    """The element."""
    name: str
    """The letter, the digit, or the shape's name."""
    kind: str
    """`letter`, `digit` or `shape`."""
    colour: str
    """By name."""
    size: str
    """`small` or `large`."""


@dataclass(frozen=True, slots=True)
class FigureDescription:
    """What a goal says of the figures it means; None where it does not say."""

    size: str | None
    """`small` or `large`."""
    colour: str | None
    """By name."""
    what: str | None
    """A name or a kind."""

    def matches(self, figure: Figure) -> bool:
        """Return whether a figure fits the description."""
        return (
            self.size in (None, figure.size)
            and self.colour in (None, figure.colour)
            and self.what in (None, figure.name, figure.kind)
        )


def figures(page: Page) -> list[Figure]:
    """Return the figures on the page, in the order they were drawn, without the empty frames."""
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


def parse_description(text: str) -> FigureDescription:
    """Parse the description of a figure, as `large red circle` or `small item`.

    Raises:
        SkillError: the text is not a description.
    """
    colours = "|".join(sorted(COLOURS))
    match = re.fullmatch(rf"(?:(small|large) )?(?:({colours}) )?(\w+)", text.strip())
    if match is None:
        raise SkillError(f"'{text}' describes no figure I know")
    size, colour, what = match.groups()
    return FigureDescription(size=size, colour=colour, what=None if what == "item" else what)


_COLUMNS = 3
_MARGIN = 13
"""From the edge of a box to the middle of a figure put into it, px."""


def click_shape(page: Page) -> Plan:
    """Click a figure that matches the goal's description."""
    (what,) = parts(r"Click on an? (.*)", page.goal)
    matches = [figure for figure in figures(page) if parse_description(what).matches(figure)]
    reachable = [figure for figure in matches if figure.node.point is not None]
    if not reachable:
        raise SkillError(f"there is no {what}")
    why = f"The goal asks for a {what}, and this is one: {_describe(reachable[0])}."
    return (yield from click_at(*click_point(reachable[0].node), why))


def _describe(figure: Figure) -> str:
    kind = "" if figure.kind == "shape" else f"{figure.kind} "
    return f"a {figure.size} {figure.colour} {kind}{figure.name}"


def count_shapes(page: Page) -> Plan:
    """Press the button with the number of figures that match the goal's description."""
    (what,) = parts(r"How many (.*)s are there\?", page.goal)
    count = sum(parse_description(what).matches(figure) for figure in figures(page))
    why = f"I count {count} of what the goal describes as '{what}'."
    return (yield from click(page, button(str(count)), why))


def name_shape(page: Page) -> Plan:
    """Press the button that names the only figure."""
    figure = figures(page)[0]
    word = {"digit": "number", "letter": "letter"}.get(figure.kind, figure.name)
    why = f"The figure is a {word}, so I press that button."
    return (yield from click(page, button(word.capitalize()), why))


def sort_shapes(page: Page) -> Plan:
    """Drag the figures in the goal into a box, and all others into the second box if there is one."""
    what, place = parts(r"Drag all (\w+)(?: shapes)? into the (\w+) box", page.goal)
    description = (
        FigureDescription(size=None, colour=what, what=None)
        if what in COLOURS
        else FigureDescription(size=None, colour=None, what=what.removesuffix("s"))
    )
    frames = page.all("rect", where=lambda node: node.attrs.get("fill") == "none")
    boxes = sorted(frames, key=lambda node: node.box[0])
    counts = [0] * len(boxes)
    for number, figure in enumerate(figures(page)):
        into = 0 if description.matches(figure) else 1
        if into >= len(boxes):
            continue
        why = f"This is {_describe(figure)}: it belongs into the {place if into == 0 else 'other'} box."
        start = click_point(figures(page)[number].node)
        page = yield from drag(start, _slot(boxes[into], counts[into]), why)
        counts[into] += 1
    return (yield from submit(page))


def _slot(box: Node, number: int) -> Point:
    """Return where in a box its figure of that number goes, so that no figure covers another."""
    left, top, width, height = box.box
    row, column = divmod(number, _COLUMNS)
    across = (width - 2 * _MARGIN) / (_COLUMNS - 1) * column
    down = (height - 2 * _MARGIN) * row
    return round(left + _MARGIN + across), round(top + _MARGIN + down)
