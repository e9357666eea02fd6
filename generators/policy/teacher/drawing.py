"""Skills that draw: a dot at a computed place, a line through a dot, a point on a grid."""

import math

from generators.browser.protocol import Node
from generators.policy.teacher.geometry import (
    Point,
    bisector_end,
    inset,
    midpoint,
    right_angle_end,
)
from generators.policy.teacher.goals import part
from generators.policy.teacher.page import Lost, Page, centre
from generators.policy.teacher.primitives import Plan, click_at, drag, press, submit, with_id
from schemas.observation import Box

HALF_LINE = 20
"""Half of the length of a drawn line, px."""

_RIM = 3
"""Width of the rim of the drawing where a dot would be set by a click outside it, px."""

_BUTTON = 4
"""How far the button below reaches into the drawing, px."""


def _place(page: Page, target: Point, why: str) -> Plan:
    """Click so that the blue dot comes to lie on `target`; once more if it does not."""
    x, y = round(target[0]), round(target[1])
    page = yield from click_at(x, y, why)
    landed = centre(page.by_id("blue-circle").box)
    off_x, off_y = round(landed[0] - target[0]), round(landed[1] - target[1])
    if off_x or off_y:
        why = "The dot does not lie quite where I want it, so I click again a little beside."
        page = yield from click_at(x - off_x, y - off_y, why)
    return page


def _frame(page: Page) -> Box:
    left, top, width, height = inset(page.by_id("svg-grid").box, _RIM)
    return left, top, width, height - _BUTTON


def _circles(page: Page, *fills: str) -> list[Point]:
    """Return the centre of the next circle of each fill, in the order they were drawn."""
    circles = page.all("circle")
    out: list[Point] = []
    for fill in fills:
        circle = next((node for node in circles if node.attrs.get("fill") == fill), None)
        if circle is None:
            raise Lost(f"there is no {fill} point")
        circles.remove(circle)
        out.append(centre(circle.box))
    return out


def mark_centre(page: Page) -> Plan:
    """Mark the centre of the circle and submit."""
    circle: Node = page.one("circle")
    why = "This is the middle of the circle, so I click it."
    page = yield from _place(page, centre(circle.box), why)
    return (yield from submit(page))


def mark_midpoint(page: Page) -> Plan:
    """Mark the point half-way between the two points and submit."""
    one, other = _circles(page, "black", "black")
    why = "This is half-way between the two points, so I click here."
    page = yield from _place(page, midpoint(one, other), why)
    return (yield from submit(page))


def make_right_angle(page: Page) -> Plan:
    """Add the point that makes a right angle at the blue point, and submit."""
    end, corner = _circles(page, "black", "blue")
    target = right_angle_end(end, corner, _frame(page))
    if target is None:
        raise Lost("the right angle lies outside the drawing")
    why = "A line from the blue point to here is at a right angle to the other, so I click."
    page = yield from _place(page, target, why)
    return (yield from submit(page))


def bisect_angle(page: Page) -> Plan:
    """Add a point on the line that halves the angle at the blue point, and submit."""
    one, other, corner = _circles(page, "black", "black", "blue")
    target = bisector_end(one, corner, other, _frame(page))
    if target is None:
        raise Lost("the line that halves the angle lies outside the drawing")
    why = "A line from the blue point to here halves the angle, so I click."
    page = yield from _place(page, target, why)
    return (yield from submit(page))


def draw_line(page: Page) -> Plan:
    """Draw a horizontal or vertical line through the dot and submit."""
    way = part(r"Draw a (horizontal|vertical) line", page.goal)
    x, y = (math.floor(at) for at in centre(page.by_id("circ").box))
    across, down = (HALF_LINE, 0) if way == "horizontal" else (0, HALF_LINE)
    why = f"The line is to be {way} and run through the dot, so I draw it across the dot."
    page = yield from drag((x - across, y - down), (x + across, y + down), why)
    return (yield from submit(page))


def click_coordinate(page: Page) -> Plan:
    """Click the point of the grid whose coordinate the goal names."""
    name = part(r"grid coordinate (\(-?\d,-?\d\))", page.goal)
    return (yield from press(page, with_id(name), f"This is the point {name}, so I click it."))
