"""Skills that drag a thing to a place: into a box, in a direction, up a list, along a slider.

A slider's scale is learnt by pulling its handle to an end; then it is set.
"""

from generators.browser.protocol import Node
from generators.policy.teacher.geometry import Point, drop
from generators.policy.teacher.goals import nth, numbers, parts, whole
from generators.policy.teacher.page import Lost, Page, centre, classes
from generators.policy.teacher.primitives import (
    Find,
    Plan,
    drag,
    key,
    press,
    spot,
    submit,
    the,
    with_id,
)

_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}

_NUDGE = 25
"""How far a thing is dragged where any distance will do, px."""

_STRETCH = 15
"""How far an edge is dragged, px."""

_GRID = (
    "top left",
    "top center",
    "top right",
    "center left",
    "center",
    "center right",
    "bottom left",
    "bottom center",
    "bottom right",
)
"""The places of a grid of three by three, row by row."""


def _moved(start: Point, way: str, distance: float) -> Point:
    across, down = _WAYS[way]
    return start[0] + across * distance, start[1] + down * distance


def drag_into(page: Page) -> Plan:
    """Drag the small box into the middle of the large one and submit."""
    small, large = with_id("draggableSmall")(page), with_id("draggableLarge")(page)
    why = "The small box belongs inside the large one, so I drag it to the middle of that."
    page = yield from drag(centre(small.box), centre(large.box), why)
    return (yield from submit(page))


def drag_somewhat(page: Page) -> Plan:
    """Drag the one figure in the direction the goal names and submit."""
    (way,) = parts(r"Drag the \w+ (left|right|up|down)", page.goal)
    start = spot(page.one("circle", "rect", "polygon"))
    why = f"The goal asks to drag it {way}, so I do."
    page = yield from drag(start, _moved(start, way, _NUDGE), why)
    return (yield from submit(page))


def resize(page: Page) -> Plan:
    """Drag the edge of the text area that makes it smaller or larger as the goal says."""
    side, size = parts(r"the (width|height) is (smaller|larger)", page.goal)
    edge = the(cls="ui-resizable-e" if side == "width" else "ui-resizable-s")
    way = {
        ("width", "larger"): "right",
        ("width", "smaller"): "left",
        ("height", "larger"): "down",
        ("height", "smaller"): "up",
    }[side, size]
    start = spot(edge(page))
    why = f"The {side} is to be {size}, so I drag this edge {way}."
    page = yield from drag(start, _moved(start, way, _STRETCH), why)
    return (yield from submit(page))


def drag_item(page: Page) -> Plan:
    """Drag the item the goal names to the place it names, in a list or a grid."""
    name, place = parts(r"Drag ([\w-]+) (.*)\.", page.goal)
    items = page.all("li")
    found = [number for number, item in enumerate(items) if item.text == name]
    if not found:
        raise Lost(f"there is no item '{name}'")
    goal = _place(place, found[0], len(items))
    why = f"{name} is the {nth(found[0] + 1)} item and is wanted {place}, so I drag it there."
    return (yield from _move(items, found[0], goal, why))


def _move(items: list[Node], start: int, goal: int, why: str) -> Plan:
    """Drag an item to another's place; a list has one column, a grid three."""
    begin, end = drop([item.box for item in items], start, goal, columns=_columns(len(items)))
    return (yield from drag(begin, end, why))


def _columns(count: int) -> int:
    return 3 if count == len(_GRID) else 1


def _place(place: str, start: int, count: int) -> int:
    """Return the number, from 0, of the place meant."""
    columns = _columns(count)
    steps = {"up": -columns, "down": columns, "left": -1, "right": 1}
    way, words = place.partition(" ")[0], place.removeprefix("to the ")
    if way in steps:
        return start + steps[way]
    if words in _GRID and columns > 1:
        return _GRID.index(words)
    ends = {"top": 0, "bottom": count - 1}
    if words in ends:
        return ends[words]
    (number,) = parts(r"(\d+)\w\w position", words)
    return int(number) - 1


def sort_numbers(page: Page) -> Plan:
    """Drag numbers up a list, the lowest first, until all are in order, and submit."""
    for place in range(len(page.all("li"))):
        items = page.all("li")
        values = [whole(item.text) for item in items]
        lowest = values.index(min(values[place:]), place)
        if lowest != place:
            why = f"{values[lowest]} is the {nth(place + 1)} in order, so I drag it to that place."
            page = yield from _move(items, lowest, place, why)
    return (yield from submit(page))


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
    page = yield from slide(page, with_id("slider"), with_id("val"), numbers(page.goal)[0])
    return (yield from submit(page))


def set_sliders(page: Page) -> Plan:
    """Bring the sliders to the combination the goal names and submit."""
    for place, wanted in enumerate(numbers(page.goal), 1):
        page = yield from slide(page, with_id(f"slider-{place}"), with_id(f"val-{place}"), wanted)
    return (yield from submit(page))


def slide_and_tick(page: Page) -> Plan:
    """Bring the slider to the goal's number, tick the goal's box and submit."""
    value, place = parts(r"Select (-?\d+) with the slider, click the (\d)", page.goal)
    page = yield from slide(page, with_id("slider"), with_id("val"), int(value))
    box = the("input", place=int(place))
    why = f"The goal asks for the {nth(int(place))} checkbox, so I tick it."
    page = yield from press(page, box, why)
    return (yield from submit(page))
