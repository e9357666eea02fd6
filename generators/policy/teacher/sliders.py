"""Skills for sliders: learn from two places what the track means, aim, then step with the keys."""

import re
from collections.abc import Callable

from generators.browser.protocol import Node
from generators.policy.teacher.goals import part, whole
from generators.policy.teacher.page import Lost, Page, classes
from generators.policy.teacher.plan import Find, Plan, click_at, key, named, press, submit, the

Reading = Callable[[Page], int]
"""Reads the number a slider stands at."""

MOST_MOVES = 30
"""How often a slider is moved before giving up."""

_NEAR = 3
"""Steps that are better taken with the arrow keys than by aiming."""


def _position(slider: Node) -> float:
    """Return where the handle stands, as a share of the track.

    Raises:
        Lost: it does not say.
    """
    for node in slider.walk():
        found = re.search(r"(?:left|bottom): ([\d.]+)%", node.attrs.get("style", ""))
        if found is not None:
            return float(found[1]) / 100
    raise Lost("the slider has no handle")


def _point(slider: Node, share: float) -> tuple[float, float]:
    left, top, width, height = slider.box
    if "ui-slider-vertical" in classes(slider):
        return left + width / 2, top + min(max((1 - share) * height, 1), height - 1)
    return left + min(max(share * width, 1), width - 1), top + height / 2


def slide(page: Page, find: Find, reading: Reading, wanted: int) -> Plan:
    """Bring a slider to the number `wanted`.

    Raises:
        Lost: it does not get there.
    """
    known: dict[int, float] = {}
    aimed = False
    for _ in range(MOST_MOVES):
        value = reading(page)
        if value == wanted:
            return page
        known[value] = _position(find(page))
        says = f"The slider says {value} and {wanted} is wanted"
        if len(known) == 1:
            x, y = _point(find(page), float(wanted > value))
            page = yield from click_at(x, y, f"{says}; I try the track's end to learn its range.")
        elif aimed or abs(value - wanted) <= _NEAR:
            chord = "ArrowRight" if value < wanted else "ArrowLeft"
            page = yield from key(chord, f"{says}, so I move it one step.")
        else:
            aimed = True
            x, y = _point(find(page), _share(known, wanted))
            page = yield from click_at(x, y, f"{says}, so I click where {wanted} should be.")
    raise Lost(f"the slider does not get to {wanted}")


def _share(known: dict[int, float], wanted: int) -> float:
    """Return where on the track a number lies, given where two others do."""
    low, high = min(known), max(known)
    return known[low] + (known[high] - known[low]) * (wanted - low) / (high - low)


def slide_and_tick(page: Page) -> Plan:
    """Bring the slider to the goal's number, tick the box it names, submit."""
    wanted = int(part(r"Select (-?\d+) with the slider", page.goal))
    place = int(part(r"click the (\d)\w\w checkbox", page.goal))
    page = yield from slide(page, named("slider"), lambda now: whole(now.by_id("val").text), wanted)
    why = f"The goal asks for box number {place}, so I tick it."
    page = yield from press(page, the("input", place=place), why)
    return (yield from submit(page))
