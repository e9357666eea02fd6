"""Skills that have to look: at a canvas, at a picture, at blocks and numbers to be counted.

The first two read the screenshot, pixel by pixel, at the places where the document says the picture
is, because no document describes it.
"""

import io
import math

from PIL import Image

from generators.policy.teacher.geometry import Point, sides
from generators.policy.teacher.goals import nth, part, whole
from generators.policy.teacher.page import Lost, Page, centre
from generators.policy.teacher.primitives import Plan, button, press, submit, the, with_id, write

_MIDDLE_GREY = 128
_DEGREES = 360
_SEARCHED = range(42, 10, -1)
"""Distances from the middle of a canvas at which an outline is searched for, px."""

_PITCH = 15 / 65, 15 / 112
"""From one box to the next in the picture of a number, as a share of its width and height."""

_FIRST = 9 / 65, 11 / 112
"""Where the middle of the first box is, likewise."""

_ROWS, _COLUMNS = 7, 4


class Look:
    """A screenshot, asked by places on the page."""

    def __init__(self, page: Page) -> None:
        image = Image.open(io.BytesIO(page.picture)).convert("L")
        self._greys, self._width = image.tobytes(), image.width
        self._scale = image.width / page.root.inner[0]

    def bright(self, point: Point) -> bool:
        """Say whether the page is nearer to white than to black there.

        Raises:
            Lost: the screenshot ends before.
        """
        x, y = (int(at * self._scale) for at in point)
        if not (0 <= x < self._width and 0 <= y < len(self._greys) // self._width):
            raise Lost("what I have to look at is out of view")
        return self._greys[y * self._width + x] > _MIDDLE_GREY


def count_sides(page: Page) -> Plan:
    """Count the sides of the outline drawn on the canvas and press the button that says so."""
    look, middle = Look(page), centre(page.one("canvas").box)
    radii = [_radius(look, middle, math.radians(degree)) for degree in range(_DEGREES)]
    count = str(sides(radii))
    return (yield from press(page, button(count), f"I count {count} corners on this shape."))


def _radius(look: Look, middle: Point, way: float) -> float:
    """Return how far from the middle the outline is in one direction."""
    for distance in _SEARCHED:
        spot = middle[0] + distance * math.cos(way), middle[1] + distance * math.sin(way)
        if not look.bright(spot):
            return distance
    return 0.0


def copy_number(page: Page) -> Plan:
    """Tick the boxes that are light in the picture beside them, and submit."""
    digit = part(r'Draw the number "(\d)"', page.goal)
    look, (left, top, width, height) = Look(page), page.one("img").box
    for number in range(_ROWS * _COLUMNS):
        row, column = divmod(number, _COLUMNS)
        x = left + width * (_FIRST[0] + _PITCH[0] * column)
        y = top + height * (_FIRST[1] + _PITCH[1] * row)
        if look.bright((x, y)):
            why = f"The {nth(column + 1)} box of row {row + 1} belongs to the {digit}: I tick it."
            page = yield from press(page, the("input", place=number + 1), why)
    return (yield from submit(page))


def add_blocks(page: Page) -> Plan:
    """Count the blocks on both sides of the plus and type how many there are in all."""
    one, other = (
        len(page.all(cls="addition-block", within=page.by_id(side)))
        for side in ("visual-1", "visual-2")
    )
    why = f"I count {one} and {other} blocks, which is {one + other} in all."
    page = yield from write(page, with_id("math-answer"), str(one + other), why)
    return (yield from submit(page))


def mark_parity(page: Page) -> Plan:
    """Mark each number as odd or even and submit."""
    values = [whole(node.text) for node in page.all(cls="display-number")]
    for place, value in enumerate(values, 1):
        kind = "odd" if value % 2 else "even"
        why = f"The {nth(place)} number, {value}, is {kind}, so I mark it as that."
        page = yield from press(page, the("button", cls=kind, place=place), why)
    return (yield from submit(page))
