"""Skills that draw: a dot at a computed place, a line through a dot, a point on a grid."""

import math

from generators.policy.teacher.geometry import (
    Point,
    bisector_end,
    inset,
    midpoint,
    right_angle_end,
)
from generators.policy.teacher.goals import part
from generators.policy.teacher.page import Page, SkillError, centre, say
from generators.policy.teacher.primitives import (
    by_id,
    click,
    click_at,
    drag,
    submit,
)
from generators.policy.teacher.scrolling import (
    Plan,
)
from schemas.episodes.observation import Box

HALF_LINE = 20
"""Half of the length of a drawn line, px."""

_RIM = 3
"""Width of the rim of the drawing in which no dot is placed, px."""

_BUTTON = 4
"""Height by which the button below overlaps the drawing, px."""


def _place_dot(page: Page, target: Point, why: str) -> Plan:
    """Click to put the blue dot on `target`; click once more if it misses."""
    x, y = round(target[0]), round(target[1])
    page = yield from click_at(x, y, why)
    landed = centre(page.by_id("blue-circle").box)
    off_x, off_y = round(landed[0] - target[0]), round(landed[1] - target[1])
    if off_x or off_y:
        why = "The dot does not lie quite where I want it, so I click again a little beside."
        page = yield from click_at(x - off_x, y - off_y, why)
    return page


def _drawing_area(page: Page) -> Box:
    left, top, width, height = inset(page.by_id("svg-grid").box, _RIM)
    return left, top, width, height - _BUTTON


def _circle_centres(page: Page, *fills: str) -> list[Point]:
    """Return the centre of the next circle of each fill, in the order they were drawn."""
    circles = page.all("circle")
    out: list[Point] = []
    for fill in fills:
        circle = next((node for node in circles if node.attrs.get("fill") == fill), None)
        if circle is None:
            raise SkillError(f"there is no {fill} point")
        circles.remove(circle)
        out.append(centre(circle.box))
    return out


def mark_centre(page: Page) -> Plan:
    """Mark the centre of the circle and submit."""
    why = say(
        page,
        "This is the middle of the circle, so I click it.",
        "I see the circle; its centre is as far from the left as from the right: here.",
        "The goal wants the circle's centre marked, which is at this point.",
    )
    page = yield from _place_dot(page, centre(page.one("circle").box), why)
    return (yield from submit(page))


def mark_midpoint(page: Page) -> Plan:
    """Mark the point half-way between two points and submit."""
    one, other = _circle_centres(page, "black", "black")
    why = say(
        page,
        "This is half-way between the two points, so I click here.",
        "I see two black points; the middle of the line between them is here.",
        "Equally far from both points is this place, so I put the dot on it.",
    )
    page = yield from _place_dot(page, midpoint(one, other), why)
    return (yield from submit(page))


def make_right_angle(page: Page) -> Plan:
    """Add the point that makes a right angle at the blue point, and submit."""
    end, corner = _circle_centres(page, "black", "blue")
    target = right_angle_end(end, corner, _drawing_area(page))
    if target is None:
        raise SkillError("the right angle lies outside the drawing")
    why = say(
        page,
        "A line from the blue point to here is at a right angle to the other, so I click.",
        "Seen from the blue point, this place is square to the line that is drawn.",
    )
    page = yield from _place_dot(page, target, why)
    return (yield from submit(page))


def bisect_angle(page: Page) -> Plan:
    """Add a point on the bisector of the angle at the blue point, and submit."""
    one, other, corner = _circle_centres(page, "black", "black", "blue")
    target = bisector_end(one, corner, other, _drawing_area(page))
    if target is None:
        raise SkillError("the line that halves the angle lies outside the drawing")
    why = say(
        page,
        "A line from the blue point to here halves the angle, so I click.",
        "Seen from the blue point, this place lies midway between the two lines.",
    )
    page = yield from _place_dot(page, target, why)
    return (yield from submit(page))


def draw_line(page: Page) -> Plan:
    """Draw a horizontal or vertical line through the dot and submit."""
    way = part(r"Draw a (horizontal|vertical) line", page.goal)
    x, y = (math.floor(at) for at in centre(page.by_id("circ").box))
    across, down = (HALF_LINE, 0) if way == "horizontal" else (0, HALF_LINE)
    why = say(
        page,
        f"The line is to be {way} and run through the dot, so I draw it across the dot.",
        f"I see the dot; a {way} line through it begins on one side and ends on the other.",
    )
    page = yield from drag((x - across, y - down), (x + across, y + down), why)
    return (yield from submit(page))


def click_coordinate(page: Page) -> Plan:
    """Click the point of the grid whose coordinates are in the goal."""
    name = part(r"grid coordinate (\(-?\d,-?\d\))", page.goal)
    across, up = (int(number) for number in name.strip("()").split(","))
    why = say(
        page,
        f"This is the point {name} of the grid, so I click it.",
        f"Counted from where the axes cross, {across} along x and {up} along y is this point.",
    )
    return (yield from click(page, by_id(name), why))
