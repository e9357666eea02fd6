"""Skills that drag: into a box, in a direction, within a list, along a slider.

To learn the scale of a slider, a skill first drags its handle to one end.
"""

from generators.browser.protocol import Node
from generators.policy.teacher.geometry import Point, drag_path
from generators.policy.teacher.goals import nth, numbers, parts, to_int
from generators.policy.teacher.page import Page, SkillError, centre, classes, say
from generators.policy.teacher.primitives import (
    by_id,
    click,
    drag,
    locator,
    press_key,
    submit,
)
from generators.policy.teacher.scrolling import (
    Locator,
    Plan,
    click_point,
)

_DIRECTIONS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}

_NUDGE = 25
"""Distance that an item is dragged if any will do, px."""

_STRETCH = 15
"""Distance that an edge is dragged, px."""

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
"""The cells of a grid of three by three, row by row."""


def _offset_point(start: Point, way: str, distance: float) -> Point:
    """Return the point at a distance from `start` in one of the four directions."""
    across, down = _DIRECTIONS[way]
    return start[0] + across * distance, start[1] + down * distance


def drag_into(page: Page) -> Plan:
    """Drag the small box into the middle of the large one and submit."""
    small, large = by_id("draggableSmall")(page), by_id("draggableLarge")(page)
    why = say(
        page,
        "The small box belongs inside the large one, so I drag it to the middle of that.",
        "I see the small box outside of the large one: I take it and let it go inside.",
        "The goal wants the small box in the large one, so I move it to the middle there.",
    )
    page = yield from drag(centre(small.box), centre(large.box), why)
    return (yield from submit(page))


def drag_in_direction(page: Page) -> Plan:
    """Drag the only figure in the direction in the goal and submit."""
    (way,) = parts(r"Drag the \w+ (left|right|up|down)", page.goal)
    start = click_point(page.one("circle", "rect", "polygon"))
    why = say(
        page,
        f"I see one shape, and the goal wants it moved {way}, so I drag it that way.",
        f"The shape is to go {way}, so I take it and pull it {way}.",
    )
    page = yield from drag(start, _offset_point(start, way, _NUDGE), why)
    return (yield from submit(page))


def resize(page: Page) -> Plan:
    """Make the text area smaller or larger, as the goal says, by dragging an edge."""
    side, size = parts(r"the (width|height) is (smaller|larger)", page.goal)
    edge = locator(cls="ui-resizable-e" if side == "width" else "ui-resizable-s")
    way = {
        ("width", "larger"): "right",
        ("width", "smaller"): "left",
        ("height", "larger"): "down",
        ("height", "smaller"): "up",
    }[side, size]
    start = click_point(edge(page))
    why = say(
        page,
        f"The {side} of the text box is to be {size}, so I drag its edge {way}.",
        f"To make the box's {side} {size}, I take the edge here and pull it {way}.",
    )
    page = yield from drag(start, _offset_point(start, way, _STRETCH), why)
    return (yield from submit(page))


def drag_item(page: Page) -> Plan:
    """Drag the item the goal names to the place it names, in a list or a grid."""
    name, place = parts(r"Drag ([\w-]+) (.*)\.", page.goal)
    items = page.all("li")
    found = [number for number, item in enumerate(items) if item.text == name]
    if not found:
        raise SkillError(f"there is no item '{name}'")
    goal = _target_index(place, found[0], len(items))
    why = say(
        page,
        f"'{name}' is the {nth(found[0] + 1)} item and is to go {place}, so I drag it there.",
        f"The goal wants '{name}' moved {place}; I see it in place {found[0] + 1} and drag it.",
    )
    return (yield from _move_item(items, found[0], goal, why))


def _move_item(items: list[Node], start: int, goal: int, why: str) -> Plan:
    """Drag an item to another's position; a list has one column, a grid three."""
    begin, end = drag_path([item.box for item in items], start, goal, columns=_columns(len(items)))
    return (yield from drag(begin, end, why))


def _columns(count: int) -> int:
    return 3 if count == len(_GRID) else 1


def _target_index(place: str, start: int, count: int) -> int:
    """Return the index, from 0, that the words of a goal mean."""
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
    """Sort a list of numbers by dragging, the lowest first, and submit."""
    for place in range(len(page.all("li"))):
        items = page.all("li")
        values = [to_int(item.text) for item in items]
        lowest = values.index(min(values[place:]), place)
        if lowest != place:
            low = values[lowest]
            why = say(
                page,
                f"'{low}' is the {nth(place + 1)} in order, so I drag it to that place.",
                f"Of the numbers from place {place + 1} on, '{low}' is the lowest: it goes there.",
                f"'{low}' stands in place {lowest + 1} and belongs in place {place + 1}.",
            )
            page = yield from _move_item(items, lowest, place, why)
    return (yield from submit(page))


_MAX_KEY_PRESSES = 12
"""Largest number of presses of an arrow key, to correct a drag's error."""


def _handle_position(slider: Locator, page: Page) -> tuple[float, float]:
    return centre(page.one(cls="ui-slider-handle", within=slider(page)).box)


def _read_value(readout: Locator, page: Page) -> int:
    return to_int(readout(page).text)


def slide(page: Page, slider: Locator, readout: Locator, wanted: int) -> Plan:
    """Set a slider to a value."""
    first, start = _read_value(readout, page), _handle_position(slider, page)
    if first == wanted:
        return page
    why = say(
        page,
        f"The slider shows {first} and {wanted} is wanted; I pull it to its end to see its scale.",
        f"It stands at {first}. To learn how far {wanted} is, I first drag the handle to the end.",
    )
    page = yield from drag(start, _track_end(page, slider, rising=wanted > first), why)
    last, end = _read_value(readout, page), _handle_position(slider, page)
    if last not in (first, wanted):
        part = (wanted - first) / (last - first)
        goal = (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)
        why = say(
            page,
            f"The end is {last}, so {wanted} is about here.",
            f"From {first} at the start to {last} at the end, {wanted} must lie near this point.",
        )
        page = yield from drag(end, goal, why)
    return (yield from _step_to(page, readout, wanted))


def _track_end(page: Page, slider: Locator, *, rising: bool) -> tuple[float, float]:
    track = slider(page)
    left, top, width, height = track.box
    if "ui-slider-vertical" in classes(track):
        return left + width / 2, top if rising else top + height
    return left + width if rising else left, top + height / 2


def _step_to(page: Page, readout: Locator, wanted: int) -> Plan:
    for _ in range(_MAX_KEY_PRESSES):
        value = _read_value(readout, page)
        if value == wanted:
            return page
        way = "Right" if value < wanted else "Left"
        why = say(
            page,
            f"It shows {value} and {wanted} is wanted, so I move it by one with the keyboard.",
            f"{value} is not quite {wanted}: the arrow key moves the handle a little.",
        )
        page = yield from press_key(f"Arrow{way}", why)
    raise SkillError(f"the slider does not come to {wanted}")


def set_slider(page: Page) -> Plan:
    """Set the only slider to the number in the goal and submit."""
    page = yield from slide(page, by_id("slider"), by_id("val"), numbers(page.goal)[0])
    return (yield from submit(page))


def set_sliders(page: Page) -> Plan:
    """Set the sliders to the combination in the goal and submit."""
    for place, wanted in enumerate(numbers(page.goal), 1):
        page = yield from slide(page, by_id(f"slider-{place}"), by_id(f"val-{place}"), wanted)
    return (yield from submit(page))


def slide_and_tick(page: Page) -> Plan:
    """Set the slider to the goal's number, tick the goal's box and submit."""
    value, place = parts(r"Select (-?\d+) with the slider, click the (\d)", page.goal)
    page = yield from slide(page, by_id("slider"), by_id("val"), int(value))
    box = locator("input", place=int(place))
    why = say(
        page,
        f"The goal asks for the {nth(int(place))} checkbox, which is this one, so I tick it.",
        f"Counted from the left, this is checkbox number {place}: I tick it.",
    )
    page = yield from click(page, box, why)
    return (yield from submit(page))
