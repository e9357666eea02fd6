"""Skills that recognise and count: figures of a drawing, sides of an outline, light boxes, blocks.

Figures are letters, digits and shapes. A goal names some by size, colour and kind, each of which it may
leave out. Properties that the document does not describe are read from the screenshot's pixels.
"""

import io
import math
import re
from dataclasses import dataclass

from PIL import Image

from generators.browser.protocol import Node
from generators.policy.teacher.geometry import Point, corner_count
from generators.policy.teacher.goals import nth, part, parts, to_int
from generators.policy.teacher.page import Page, SkillError, centre, say
from generators.policy.teacher.primitives import (
    button,
    by_id,
    click,
    click_at,
    drag,
    fill,
    locator,
    submit,
)
from generators.policy.teacher.scrolling import (
    Plan,
    click_point,
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
    """The colour's name."""
    size: str
    """`small` or `large`."""


@dataclass(frozen=True, slots=True)
class FigureDescription:
    """A goal's description of its figures; None for unstated properties."""

    size: str | None
    """`small` or `large`."""
    colour: str | None
    """The colour's name."""
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


_BOX_COLUMNS = 3
_MARGIN = 13
"""Distance from the edge of a box to the centre of a figure put into it, px."""


def click_shape(page: Page) -> Plan:
    """Click a figure that matches the goal's description."""
    (what,) = parts(r"Click on an? (.*)", page.goal)
    matches = [figure for figure in figures(page) if parse_description(what).matches(figure)]
    reachable = [figure for figure in matches if figure.node.point is not None]
    if not reachable:
        raise SkillError(f"there is no {what}")
    found = _describe(reachable[0])
    why = say(
        page,
        f"I see {found} here, which is what the goal asks for.",
        f"Here is {found}: that is what I look for, so I click it.",
        f"The goal says {what}, and this is {found}.",
    )
    return (yield from click_at(*click_point(reachable[0].node), why))


def _describe(figure: Figure) -> str:
    kind = "" if figure.kind == "shape" else f"{figure.kind} "
    return f"a {figure.size} {figure.colour} {kind}{figure.name}"


def count_shapes(page: Page) -> Plan:
    """Press the button with the number of figures that match the goal's description."""
    (what,) = parts(r"How many (.*)s are there\?", page.goal)
    count = sum(parse_description(what).matches(figure) for figure in figures(page))
    why = say(
        page,
        f"I count {count} of what the goal asks for, so I press '{count}'.",
        f"Going through the picture I find {count} that fit, so the answer is '{count}'.",
    )
    return (yield from click(page, button(str(count)), why))


def name_shape(page: Page) -> Plan:
    """Press the button that names the only figure."""
    figure = figures(page)[0]
    word = {"digit": "number", "letter": "letter"}.get(figure.kind, figure.name)
    name = word.capitalize()
    why = say(
        page,
        f"The figure in the picture is a {word}, so I press '{name}'.",
        f"I see a {figure.size} {figure.colour} {word}, and '{name}' is the button for it.",
    )
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
        box = place if into == 0 else "other"
        why = say(
            page,
            f"This is {_describe(figure)}: it belongs into the {box} box.",
            f"I take {_describe(figure)} and drag it into the {box} box, as the goal sorts it.",
        )
        start = click_point(figures(page)[number].node)
        page = yield from drag(start, _slot(boxes[into], counts[into]), why)
        counts[into] += 1
    return (yield from submit(page))


def _slot(box: Node, number: int) -> Point:
    """Return where in a box its figure of that number goes, so that no figure covers another."""
    left, top, width, height = box.box
    row, column = divmod(number, _BOX_COLUMNS)
    across = (width - 2 * _MARGIN) / (_BOX_COLUMNS - 1) * column
    down = (height - 2 * _MARGIN) * row
    return round(left + _MARGIN + across), round(top + _MARGIN + down)


_MIDDLE_GREY = 128
_DEGREES = 360
_SEARCHED = range(42, 10, -1)
"""Distances from the middle of a canvas at which an outline is searched for, px."""

_PITCH = 15 / 65, 15 / 112
"""Distance between two boxes in the picture of a number, as shares of its width and height."""

_FIRST = 9 / 65, 11 / 112
"""Position of the first box's centre, likewise."""

_DIGIT_ROWS, _DIGIT_COLUMNS = 7, 4


class GreyscaleView:
    """The screenshot of a page in shades of grey, by points of the page."""

    def __init__(self, page: Page) -> None:
        image = Image.open(io.BytesIO(page.picture)).convert("L")
        self._greys, self._width = image.tobytes(), image.width
        self._scale = image.width / page.root.inner[0]

    def is_bright(self, point: Point) -> bool:
        """Return whether the page is nearer to white than to black at a point.

        Raises:
            SkillError: the point is outside the screenshot.
        """
        x, y = (int(at * self._scale) for at in point)
        if not (0 <= x < self._width and 0 <= y < len(self._greys) // self._width):
            raise SkillError("what I have to look at is out of view")
        return self._greys[y * self._width + x] > _MIDDLE_GREY


def count_sides(page: Page) -> Plan:
    """Count the sides of the outline on the canvas and press the button with that number.

    The document does not describe what a canvas shows, so the skill reads the screenshot.
    """
    view, middle = GreyscaleView(page), centre(page.one("canvas").box)
    radii = [_radius(view, middle, math.radians(degree)) for degree in range(_DEGREES)]
    count = str(corner_count(radii))
    why = say(
        page,
        f"I count {count} corners on this shape, so I press '{count}'.",
        f"The outline has {count} straight sides, so the answer is '{count}'.",
    )
    return (yield from click(page, button(count), why))


def _radius(view: GreyscaleView, middle: Point, angle: float) -> float:
    """Return how far from the middle the outline is, at an angle in radians."""
    for distance in _SEARCHED:
        point = middle[0] + distance * math.cos(angle), middle[1] + distance * math.sin(angle)
        if not view.is_bright(point):
            return distance
    return 0.0


def copy_number(page: Page) -> Plan:
    """Tick the boxes that are light in the picture of a digit beside them, and submit."""
    digit = part(r'Draw the number "(\d)"', page.goal)
    view, (left, top, width, height) = GreyscaleView(page), page.one("img").box
    for number in range(_DIGIT_ROWS * _DIGIT_COLUMNS):
        row, column = divmod(number, _DIGIT_COLUMNS)
        x = left + width * (_FIRST[0] + _PITCH[0] * column)
        y = top + height * (_FIRST[1] + _PITCH[1] * row)
        if view.is_bright((x, y)):
            why = say(
                page,
                f"The {nth(column + 1)} box of row {row + 1} belongs to the {digit}: I tick it.",
                f"In the picture of the {digit}, row {row + 1} is light in place {column + 1}.",
                f"Row {row + 1}, box {column + 1} is part of the {digit} that is shown: I mark it.",
            )
            page = yield from click(page, locator("input", place=number + 1), why)
    return (yield from submit(page))


def add_blocks(page: Page) -> Plan:
    """Count the blocks on both sides of the plus and type their sum."""
    one, other = (
        len(page.all(cls="addition-block", within=page.by_id(side)))
        for side in ("visual-1", "visual-2")
    )
    why = say(
        page,
        f"I count {one} and {other} blocks, which is {one + other} in all.",
        f"There are {one} blocks on one side and {other} on the other, so {one + other} together.",
    )
    page = yield from fill(page, by_id("math-answer"), str(one + other), why)
    return (yield from submit(page))


def mark_parity(page: Page) -> Plan:
    """Mark each number as odd or even and submit."""
    values = [to_int(node.text) for node in page.all(cls="display-number")]
    for place, value in enumerate(values, 1):
        kind = "odd" if value % 2 else "even"
        why = say(
            page,
            f"The {nth(place)} number, {value}, is {kind}, so I mark it as that.",
            f"The number here is {value}, which {'leaves one over' if value % 2 else 'can be halved'}:"
            f" it is {kind}.",
            f"In row {place} stands {value}, which is {kind}: I press that beside it.",
        )
        page = yield from click(page, locator("button", cls=kind, place=place), why)
    return (yield from submit(page))
