"""The actions that skills are built from: click, fill, scroll, drag, wait.

A skill is a generator: it starts with the page, yields a decision, and is sent the page as it is
after that decision was carried out. So its code reads in the order of its actions and it keeps no
state of its own; `yield from` builds one action from others. Every action returns the page that it
left behind. None reads a page itself or knows a browser, so tests play skills on pages that they
build.
"""

from collections.abc import Callable, Generator
from typing import Protocol

from generators.browser.protocol import Node
from generators.policy.protocol import Decision
from generators.policy.teacher.page import NodeTest, Page, SkillError, not_found
from schemas.action import (
    Action,
    Click,
    Direction,
    Drag,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    Scroll,
    TypeText,
    Wait,
)
from schemas.episode import ThoughtSource

Plan = Generator[Decision, Page, Page]
"""Yields decisions, is sent the page after each, returns the last page."""

Locator = Callable[[Page], Node]
"""Finds one node on a page; raises `SkillError` if the page has none."""

MAX_SCROLLS = 24
"""Turns of the wheel to bring one node into view."""

_CUT_OFF = 0.3
"""Share of a thing's height that may be cut off where it is pointed at."""

_SCROLLED = 0.7
"""Share of what a box shows by which a turn of the wheel moves it: the rest shows where one was."""


class Skill(Protocol):
    """Solves one kind of task."""

    def __call__(self, page: Page) -> Plan:
        """Return the plan that solves the task on this page."""
        ...


def do(action: Action, why: str) -> Plan:
    """Take one action; `why` is the thought."""
    return (yield Decision(action=action, thought=why, thought_source=ThoughtSource.TEMPLATE))


def wait(ms: int, why: str) -> Plan:
    """Wait; `ms` is in the page's time."""
    return (yield from do(Wait(ms=ms), why))


def press_key(chord: str, why: str) -> Plan:
    """Press a chord."""
    return (yield from do(Key(key=chord), why))


def click_point(node: Node) -> tuple[float, float]:
    """Return a point at which a click reaches a node.

    Raises:
        SkillError: there is none.
    """
    if node.point is None:
        raise SkillError(f"'{node.text or node.tag}' cannot be reached")
    return node.point


def click_at(x: float, y: float, why: str, *, count: int = 1) -> Plan:
    """Click at a point."""
    return (yield from do(Click(x=x, y=y, count=count), why))


def drag(start: tuple[float, float], end: tuple[float, float], why: str) -> Plan:
    """Drag from one point to another."""
    action = Drag(x=start[0], y=start[1], to_x=end[0], to_y=end[1])
    return (yield from do(action, why))


def scroll_into_view(
    page: Page, find: Locator, because: str = "What I look for is not in sight"
) -> Plan:
    """Scroll until a click can reach the node; `because` begins the thought.

    Nobody knows where a thing is that was not in sight yet, so the wheel is turned by less than the box
    shows at once, down to its end and then up to its beginning.

    Raises:
        SkillError: it does not come into view.
    """
    way = Direction.DOWN
    for _ in range(MAX_SCROLLS):
        node = find(page)
        frame = page.scroller(node) or page.root
        if node.point is not None:
            cut = _overhang(node, frame)
            if not cut:
                return page
            side = Direction.DOWN if cut > 0 else Direction.UP
            page = yield from _turn(page, frame, side, abs(cut), "It is in sight only in part")
            continue
        way = next((one for one in (way, *_TURNS[way]) if _rest(frame, one) > 1), way)
        page = yield from scroll_on(page, frame, way, because)
    raise SkillError(f"'{find(page).text or find(page).tag}' does not come into view")


def _overhang(node: Node, frame: Node) -> float:
    """Return how far below a box a node reaches, or above it (less than 0), if much of it is cut off."""
    top, height = node.box[1], node.box[3]
    start = 0.0 if frame.tag == "html" else frame.box[1]
    below, above = top + height - start - frame.inner[1], start - top
    if height > frame.inner[1] or max(below, above) <= height * _CUT_OFF:
        return 0.0
    if below > above:
        return below if _rest(frame, Direction.DOWN) >= below else 0.0
    return -above if _rest(frame, Direction.UP) >= above else 0.0


_TURNS = {
    Direction.DOWN: (Direction.RIGHT, Direction.UP),
    Direction.RIGHT: (Direction.UP, Direction.LEFT),
    Direction.UP: (Direction.LEFT,),
    Direction.LEFT: (),
}
"""Where to look on where nothing more is in a direction."""


def _rest(frame: Node, way: Direction) -> float:
    """Return how far a box can be scrolled on, px."""
    left, top, width, height = frame.scroll or (0.0, 0.0, *frame.inner)
    return {
        Direction.UP: top,
        Direction.DOWN: height - frame.inner[1] - top,
        Direction.LEFT: left,
        Direction.RIGHT: width - frame.inner[0] - left,
    }[way]


def can_scroll_down(frame: Node) -> bool:
    """Return whether there is more below what a box shows."""
    return _rest(frame, Direction.DOWN) > 1


def scroll_on(page: Page, frame: Node, way: Direction, because: str) -> Plan:
    """Turn the wheel once over a box, by most of what it shows."""
    extent = frame.inner[way in (Direction.UP, Direction.DOWN)] * _SCROLLED
    return (yield from _turn(page, frame, way, extent, because))


def _turn(page: Page, frame: Node, way: Direction, amount: float, because: str) -> Plan:
    whole = frame is page.root
    x, y = (frame.inner[0] / 2, frame.inner[1] / 2) if whole else click_point(frame)
    action = Scroll(direction=way, amount=max(1, round(amount)), x=x, y=y)
    return (yield from do(action, f"{because}, so I scroll {way.value}."))


def click(page: Page, find: Locator, why: str, *, count: int = 1) -> Plan:
    """Scroll the node into view and click it."""
    page = yield from scroll_into_view(page, find)
    x, y = click_point(find(page))
    return (yield from click_at(x, y, why, count=count))


def fill(page: Page, find: Locator, text: str, why: str) -> Plan:
    """Replace a field's text; a field that has that text already is left alone."""
    page = yield from scroll_into_view(page, find)
    field = find(page)
    if field.value == text:
        return page
    x, y = click_point(field)
    action = TypeText(text=text, x=x, y=y, overwrite=bool(field.value))
    return (yield from do(action, why))


def select_option(page: Page, find: Locator, option: str, why: str, *, more: bool = False) -> Plan:
    """Select an option of a list; with `more`, beside those that are selected.

    A list that shows its options takes clicks. One that does not is opened and told the name by keys: its
    options are on no picture.
    """
    page = yield from scroll_into_view(page, find)
    if "multiple" in find(page).attrs:
        return (yield from _click_option(page, find, option, why, more=more))
    if find(page).selected == option:
        return page
    page = yield from click(page, find, f"{why} The list shows another, so I open it.")
    page = yield from do(TypeText(text=option), f"I type '{option}' to find it in the list.")
    return (yield from press_key("Enter", "The list has it now, so I take it."))


def _click_option(page: Page, find: Locator, option: str, why: str, *, more: bool) -> Plan:
    listed: Locator = lambda now: now.one("option", within=find(now), text=option, shown=False)  # noqa: E731 - used once
    page = yield from scroll_into_view(page, listed)
    if not more:
        return (yield from click(page, listed, why))
    page = yield from do(KeyDown(key="Control"), "It is not the first, so I hold Control down.")
    page = yield from click(page, listed, why)
    return (yield from do(KeyUp(key="Control"), "It is chosen as well, so I let Control go."))


def locator(
    *tags: str,
    cls: str | None = None,
    text: str | None = None,
    where: NodeTest | None = None,
    place: int = 1,
) -> Locator:
    """Return the locator of the `place`-th of the nodes that `Page.all` returns, from 1.

    A negative place counts from the end.
    """

    def find(page: Page) -> Node:
        nodes = page.all(*tags, cls=cls, text=text, where=where)
        if len(nodes) < abs(place):
            raise not_found(tags, cls=cls, text=text, place=place)
        return nodes[place - 1 if place > 0 else place]

    return find


def button(text: str) -> Locator:
    """Return the locator of a button by its text: a real one, or the innermost element with it."""

    def find(page: Page) -> Node:
        real = page.first("button", "input", text=text)
        if real is not None:
            return real
        node = page.one(text=text)
        while same := [n for n in node.children if n.shown and n.text == node.text]:
            node = same[0]
        return node

    return find


def by_id(name: str) -> Locator:
    """Return the locator of a node by its id."""
    return lambda page: page.by_id(name)


def submit(page: Page, text: str = "Submit") -> Plan:
    """Press the button that submits."""
    return (yield from click(page, button(text), f"Everything is set, so I press {text}."))


def hover(page: Page, find: Locator, why: str) -> Plan:
    """Scroll the node into view and move the pointer onto it."""
    page = yield from scroll_into_view(page, find)
    x, y = click_point(find(page))
    return (yield from do(Hover(x=x, y=y), why))


def scroll_through(page: Page, find: Locator, direction: Direction, why: str) -> Plan:
    """Turn the wheel over a text until its top or bottom is visible.

    Raises:
        SkillError: it has none within reach.
    """
    for _ in range(MAX_SCROLLS):
        node = find(page)
        if node.scroll is None:
            return page
        _, top, _, height = node.scroll
        rest = round(height - node.inner[1] - top if direction is Direction.DOWN else top)
        if rest <= 1:
            return page
        x, y = click_point(node)
        amount = min(rest, max(1, round(node.inner[1])))
        page = yield from do(Scroll(direction=direction, amount=amount, x=x, y=y), why)
    raise SkillError("the text has no end")
