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
from generators.policy.teacher.page import NodeTest, Page, SkillError, centre, not_found
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
"""Yields decisions, is sent the page after each, returns the last page."""

Locator = Callable[[Page], Node]
"""Finds one node on a page; raises `SkillError` if the page has none."""

MAX_SCROLLS = 12
"""Turns of the wheel to bring one node into view."""


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


def scroll_into_view(page: Page, find: Locator) -> Plan:
    """Scroll until a click can reach the node.

    Raises:
        SkillError: it does not come into view.
    """
    for _ in range(MAX_SCROLLS):
        node = find(page)
        if node.point is not None:
            return page
        page = yield from _scroll_towards(page, node)
    raise SkillError(f"'{find(page).text or find(page).tag}' does not come into view")


def _scroll_towards(page: Page, node: Node) -> Plan:
    """Turn the wheel once to bring `node` nearer to the middle of the box that scrolls."""
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
    over = (left + width / 2, top + height / 2) if outer is None else click_point(outer)
    action = Scroll(direction=direction, amount=amount, x=over[0], y=over[1])
    name = node.text[:40] or node.tag
    return (yield from do(action, f"'{name}' is out of view, so I scroll {direction.value}."))


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


def select_option(page: Page, find: Locator, option: str, why: str) -> Plan:
    """Select an option of a list."""
    page = yield from scroll_into_view(page, find)
    x, y = click_point(find(page))
    return (yield from do(Select(x=x, y=y, option=option), why))


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
