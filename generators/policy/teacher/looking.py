"""Skills that look at the screenshot, and skills that count."""

import io
import math

from PIL import Image

from generators.policy.teacher.geometry import Point, corner_count
from generators.policy.teacher.goals import nth, part, to_int
from generators.policy.teacher.page import Page, SkillError, centre
from generators.policy.teacher.primitives import Plan, button, by_id, click, fill, locator, submit

_MIDDLE_GREY = 128
_DEGREES = 360
_SEARCHED = range(42, 10, -1)
"""Distances from the middle of a canvas at which an outline is searched for, px."""

_PITCH = 15 / 65, 15 / 112
"""From one box to the next in the picture of a number, as a share of its width and height."""

_FIRST = 9 / 65, 11 / 112
"""Where the middle of the first box is, likewise."""

_ROWS, _COLUMNS = 7, 4


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
    return (yield from click(page, button(count), f"I count {count} corners on this shape."))


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
    for number in range(_ROWS * _COLUMNS):
        row, column = divmod(number, _COLUMNS)
        x = left + width * (_FIRST[0] + _PITCH[0] * column)
        y = top + height * (_FIRST[1] + _PITCH[1] * row)
        if view.is_bright((x, y)):
            why = f"The {nth(column + 1)} box of row {row + 1} belongs to the {digit}: I tick it."
            page = yield from click(page, locator("input", place=number + 1), why)
    return (yield from submit(page))


def add_blocks(page: Page) -> Plan:
    """Count the blocks on both sides of the plus and type their sum."""
    one, other = (
        len(page.all(cls="addition-block", within=page.by_id(side)))
        for side in ("visual-1", "visual-2")
    )
    why = f"I count {one} and {other} blocks, which is {one + other} in all."
    page = yield from fill(page, by_id("math-answer"), str(one + other), why)
    return (yield from submit(page))


def mark_parity(page: Page) -> Plan:
    """Mark each number as odd or even and submit."""
    values = [to_int(node.text) for node in page.all(cls="display-number")]
    for place, value in enumerate(values, 1):
        kind = "odd" if value % 2 else "even"
        why = f"The {nth(place)} number, {value}, is {kind}, so I mark it as that."
        page = yield from click(page, locator("button", cls=kind, place=place), why)
    return (yield from submit(page))
