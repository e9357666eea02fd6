"""What a skill may decide, and the few moves that nearly all of them are made of.

A skill is a generator: it is given the page, yields a decision, and is handed the page as it
stands afterwards. So it reads as a story and keeps its place by itself; `yield from` makes one
move out of others. A move returns the page it left behind. No move reads anything itself or
knows a browser, so that a plan is tested with pages made by hand.
"""

from collections.abc import Callable, Generator
from typing import Protocol

from generators.browser.protocol import Node
from generators.policy.protocol import Decision
from generators.policy.teacher.page import Lost, Page, Test, centre, missing
from schemas.action import (
    Action,
    Click,
    Direction,
    Drag,
    Hover,
    Key,
    Scroll,
    Select,
    TypeText,
    Wait,
)
from schemas.episode import ThoughtSource

Plan = Generator[Decision, Page, Page]
"""Yields decisions, is sent the page after each, returns the last."""

Find = Callable[[Page], Node]
"""Finds one node on a page; raises `Lost` if it is not there."""

SCROLLS = 12
"""The most turns of the wheel to bring one thing into view."""


class Skill(Protocol):
    """How one kind of task is done."""

    def __call__(self, page: Page) -> Plan:
        """Start doing the task on this page."""
        ...


def do(action: Action, why: str) -> Plan:
    """Take one action, for a reason."""
    return (yield Decision(action=action, thought=why, thought_source=ThoughtSource.TEMPLATE))


def wait(ms: int, why: str) -> Plan:
    """Let time pass."""
    return (yield from do(Wait(ms=ms), why))


def key(chord: str, why: str) -> Plan:
    """Press a chord."""
    return (yield from do(Key(key=chord), why))


def spot(node: Node) -> tuple[float, float]:
    """Return where a click reaches a node.

    Raises:
        Lost: nowhere.
    """
    if node.point is None:
        raise Lost(f"'{node.text or node.tag}' cannot be reached")
    return node.point


def click_at(x: float, y: float, why: str, *, count: int = 1) -> Plan:
    """Click at a point."""
    return (yield from do(Click(x=x, y=y, count=count), why))


def drag(start: tuple[float, float], end: tuple[float, float], why: str) -> Plan:
    """Drag from a point to another."""
    action = Drag(x=start[0], y=start[1], to_x=end[0], to_y=end[1])
    return (yield from do(action, why))


def reveal(page: Page, find: Find) -> Plan:
    """Scroll until a click can reach what `find` finds.

    Raises:
        Lost: it cannot be brought into view.
    """
    for _ in range(SCROLLS):
        node = find(page)
        if node.point is not None:
            return page
        page = yield from _turn(page, node)
    raise Lost(f"'{find(page).text or find(page).tag}' does not come into view")


def _turn(page: Page, node: Node) -> Plan:
    """Turn the wheel once, so that `node` comes nearer to the middle of what scrolls."""
    outer = page.scroller(node)
    frame = page.root if outer is None else outer
    width, height = frame.inner
    left, top = (0.0, 0.0) if outer is None else outer.box[:2]
    x, y = centre(node.box)
    down, right = y - (top + height / 2), x - (left + width / 2)
    if abs(down) >= abs(right):
        direction = Direction.DOWN if down > 0 else Direction.UP
    else:
        direction = Direction.RIGHT if right > 0 else Direction.LEFT
    amount = max(1, round(max(abs(down), abs(right))))
    over = (left + width / 2, top + height / 2) if outer is None else spot(outer)
    action = Scroll(direction=direction, amount=amount, x=over[0], y=over[1])
    name = node.text[:40] or node.tag
    return (yield from do(action, f"'{name}' is out of view, so I scroll {direction.value}."))


def press(page: Page, find: Find, why: str, *, count: int = 1) -> Plan:
    """Click what `find` finds, brought into view first."""
    page = yield from reveal(page, find)
    x, y = spot(find(page))
    return (yield from click_at(x, y, why, count=count))


def write(page: Page, find: Find, text: str, why: str) -> Plan:
    """Put `text` into a field in place of what it holds; do nothing if it holds that already."""
    page = yield from reveal(page, find)
    field = find(page)
    if field.value == text:
        return page
    x, y = spot(field)
    action = TypeText(text=text, x=x, y=y, overwrite=bool(field.value))
    return (yield from do(action, why))


def choose(page: Page, find: Find, option: str, why: str) -> Plan:
    """Choose an option of a list."""
    page = yield from reveal(page, find)
    x, y = spot(find(page))
    return (yield from do(Select(x=x, y=y, option=option), why))


def the(
    *tags: str,
    cls: str | None = None,
    text: str | None = None,
    where: Test | None = None,
    place: int = 1,
) -> Find:
    """Return how to find a rendered node by what `Page.all` asks for: the `place`-th, from 1.

    A negative place counts from the end.
    """

    def find(page: Page) -> Node:
        found = page.all(*tags, cls=cls, text=text, where=where)
        if len(found) < abs(place):
            raise missing(tags, cls=cls, text=text, place=place)
        return found[place - 1 if place > 0 else place]

    return find


def button(text: str) -> Find:
    """Return how to find what says `text`: a real button, or the innermost element that does."""

    def find(page: Page) -> Node:
        real = page.maybe("button", "input", text=text)
        return _innermost(page.one(text=text)) if real is None else real

    return find


def _innermost(node: Node) -> Node:
    for child in node.children:
        if child.shown and child.text == node.text:
            return _innermost(child)
    return node


def with_id(name: str) -> Find:
    """Return how to find the node of an id."""
    return lambda page: page.by_id(name)


def submit(page: Page, text: str = "Submit") -> Plan:
    """Press the button that hands in the work."""
    return (yield from press(page, button(text), f"Everything is set, so I press {text}."))


def hover(page: Page, find: Find, why: str) -> Plan:
    """Move the pointer onto what `find` finds, brought into view first."""
    page = yield from reveal(page, find)
    x, y = spot(find(page))
    return (yield from do(Hover(x=x, y=y), why))


def scroll_through(page: Page, find: Find, direction: Direction, why: str) -> Plan:
    """Turn the wheel over a box of text until its top or bottom is in sight."""
    for _ in range(SCROLLS):
        node = find(page)
        if node.scroll is None:
            return page
        _, top, _, height = node.scroll
        rest = round(height - node.inner[1] - top if direction is Direction.DOWN else top)
        if rest <= 1:
            return page
        x, y = spot(node)
        amount = min(rest, max(1, round(node.inner[1])))
        page = yield from do(Scroll(direction=direction, amount=amount, x=x, y=y), why)
    raise Lost("the text has no end")
