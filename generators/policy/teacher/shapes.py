"""Skills that tell figures apart: click one, count some, name one, sort them into boxes."""

from generators.browser.protocol import Node
from generators.policy.teacher.figures import COLOURS, Figure, Wish, figures, wish
from generators.policy.teacher.geometry import Point
from generators.policy.teacher.goals import parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import Plan, button, click_at, drag, press, spot, submit

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
