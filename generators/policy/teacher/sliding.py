"""Skills for sliders: learn the scale by pulling the handle to an end, then set it."""

from generators.policy.teacher.goals import nth, numbers, parts, whole
from generators.policy.teacher.page import Lost, Page, centre, classes
from generators.policy.teacher.primitives import Find, Plan, drag, key, named, press, submit, the

_KEYS = 12
"""The most presses of an arrow key to set right what a drag missed."""


def _handle(slider: Find, page: Page) -> tuple[float, float]:
    return centre(page.one(cls="ui-slider-handle", within=slider(page)).box)


def _shown(readout: Find, page: Page) -> int:
    return whole(readout(page).text)


def slide(page: Page, slider: Find, readout: Find, wanted: int) -> Plan:
    """Bring a slider to a value."""
    first, start = _shown(readout, page), _handle(slider, page)
    if first == wanted:
        return page
    why = f"The slider shows {first} and {wanted} is wanted; I pull it to its end to see its scale."
    page = yield from drag(start, _end(page, slider, rising=wanted > first), why)
    last, end = _shown(readout, page), _handle(slider, page)
    if last not in (first, wanted):
        part = (wanted - first) / (last - first)
        goal = (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)
        page = yield from drag(end, goal, f"The end is {last}, so {wanted} is about here.")
    return (yield from _set_right(page, readout, wanted))


def _end(page: Page, slider: Find, *, rising: bool) -> tuple[float, float]:
    track = slider(page)
    left, top, width, height = track.box
    if "ui-slider-vertical" in classes(track):
        return left + width / 2, top if rising else top + height
    return left + width if rising else left, top + height / 2


def _set_right(page: Page, readout: Find, wanted: int) -> Plan:
    for _ in range(_KEYS):
        value = _shown(readout, page)
        if value == wanted:
            return page
        way = "Right" if value < wanted else "Left"
        why = f"It shows {value} and {wanted} is wanted, so I move it by one with the keyboard."
        page = yield from key(f"Arrow{way}", why)
    raise Lost(f"the slider does not come to {wanted}")


def set_slider(page: Page) -> Plan:
    """Bring the one slider to the number the goal names and submit."""
    page = yield from slide(page, named("slider"), named("val"), numbers(page.goal)[0])
    return (yield from submit(page))


def set_sliders(page: Page) -> Plan:
    """Bring the sliders to the combination the goal names and submit."""
    for place, wanted in enumerate(numbers(page.goal), 1):
        page = yield from slide(page, named(f"slider-{place}"), named(f"val-{place}"), wanted)
    return (yield from submit(page))


def slide_and_tick(page: Page) -> Plan:
    """Bring the slider to the goal's number, tick the goal's box and submit."""
    value, place = parts(r"Select (-?\d+) with the slider, click the (\d)", page.goal)
    page = yield from slide(page, named("slider"), named("val"), int(value))
    box = the("input", place=int(place))
    why = f"The goal asks for the {nth(int(place))} checkbox, so I tick it."
    page = yield from press(page, box, why)
    return (yield from submit(page))
