"""How a skill scrolls: to what it has seen, through what it has not, and through a text.

It holds what every other action of a skill is built from too: a plan, one action, and the point of a node.
"""

from collections.abc import Callable, Generator

from generators.browser.protocol import Node
from generators.policy.protocol import Decision
from generators.policy.teacher.page import Page, SkillError, label, overhang, rest, say, way_to
from schemas.episodes.action import Action, Direction, Scroll
from schemas.episodes.episode import ThoughtSource

Plan = Generator[Decision, Page, Page]
"""Yields decisions, is sent the page after each, returns the last page."""

Locator = Callable[[Page], Node]
"""Finds one node on a page; raises `SkillError` if the page has none."""

MAX_SCROLLS = 24
"""Turns of the wheel to bring one node into view."""

_SCROLLED = 0.7
"""Share of a box's visible height by which one turn of the wheel moves it; the rest keeps the context."""


_LONGEST_NAME = 40
"""Letters of a text by which a thing is called."""

_REACH = 0.8
"""Share of a text's visible height by which it is scrolled on; the rest keeps the context."""


def do(action: Action, why: str) -> Plan:
    """Take one action; `why` is the thought."""
    return (yield Decision(action=action, thought=why, thought_source=ThoughtSource.TEMPLATE))


def name_of(node: Node) -> str:
    """Return a name for a node that is out of sight."""
    return label(node) if 0 < len(label(node)) <= _LONGEST_NAME else "what I look for"


def _why_not_seen(page: Page, node: Node) -> str:
    """Return the beginning of a thought about a node that is out of sight."""
    name = name_of(node)
    return say(page, f"I do not see {name} here", f"Nothing in sight is {name}")


def click_point(node: Node) -> tuple[float, float]:
    """Return a point at which a click reaches a node.

    Raises:
        SkillError: the node has no such point.
    """
    if node.point is None:
        raise SkillError(f"something lies over {name_of(node)}, so I cannot reach it")
    return node.point


def scroll_into_view(page: Page, find: Locator, because: str | None = None) -> Plan:
    """Scroll until a click can reach the node; `because` begins the thought, None: by the node's name.

    A thing that was in sight before is gone back to. The place of another one cannot be known, so the wheel turns in
    steps smaller than the visible part of a box, down to its end and then up to its beginning.

    Raises:
        SkillError: it does not come into view.
    """
    way, search = Direction.DOWN, Search()
    for _ in range(MAX_SCROLLS):
        try:
            node = find(page)
        except SkillError:
            page = yield from search.go_on(page, because or "What I look for is not in sight")
            continue
        frame = page.scroller(node) or page.root
        if node.point is not None:
            cut = overhang(node, frame)
            if not cut:
                return page
            side = Direction.DOWN if cut > 0 else Direction.UP
            why = because or _why_not_seen(page, node)
            if abs(cut) < node.box[3] / 2:
                edge = "lower" if cut > 0 else "upper"
                why = f"I see {name_of(node)} only in part, cut off at the {edge} edge"
            page = yield from _turn(page, frame, side, abs(cut), why)
            continue
        if frame.point is None and frame is not page.root:
            frame = page.root
        there = way_to(node, frame)
        ways = (there,) if there is not None else (way, *_TURNS[way])
        way = next((one for one in ways if rest(frame, one) > 1), way)
        page = yield from scroll_on(page, frame, way, because or _why_not_seen(page, node))
    raise SkillError(f"{name_of(find(page))} does not come into view")


class Search:
    """A look through all that a page can scroll, for what was not in sight yet."""

    def __init__(self) -> None:
        self._ways: dict[int, Direction | None] = {}
        """By the key of a box that scrolls, where it is looked through now; None: all of it was."""
        self._began_inside: set[int] = set()

    def go_on(self, page: Page, because: str) -> Plan:
        """Turn the wheel once over the first box that has more.

        Raises:
            SkillError: all was looked through.
        """
        for frame in page.frames():
            if frame.key not in self._ways:
                self._ways[frame.key] = Direction.DOWN
                if rest(frame, Direction.UP) > 1:
                    self._began_inside.add(frame.key)
            way = self._ways[frame.key]
            if way is Direction.DOWN and rest(frame, way) <= 1:
                way = Direction.UP if frame.key in self._began_inside else None
            if way is Direction.UP and rest(frame, way) <= 1:
                way = None
            self._ways[frame.key] = way
            if way is not None:
                return (yield from scroll_on(page, frame, way, because))
        raise SkillError(f"{because}, and I have looked through all of the page")


def look_through(page: Page, because: str) -> Plan:
    """Bring all of a page into sight once, down to the end of all that scrolls; `because` begins each thought."""
    for frame in page.frames():
        for _ in range(MAX_SCROLLS):
            now = next((one for one in page.frames() if one.key == frame.key), None)
            if now is None or not can_scroll_down(now):
                break
            page = yield from scroll_on(page, now, Direction.DOWN, because)
    return page


_TURNS = {
    Direction.DOWN: (Direction.RIGHT, Direction.UP),
    Direction.RIGHT: (Direction.UP, Direction.LEFT),
    Direction.UP: (Direction.LEFT,),
    Direction.LEFT: (),
}
"""Where to look on where nothing more is in a direction."""


def can_scroll_down(frame: Node) -> bool:
    """Return whether a box can scroll further down."""
    return rest(frame, Direction.DOWN) > 1


def scroll_on(page: Page, frame: Node, way: Direction, because: str) -> Plan:
    """Turn the wheel once over a box, by most of its visible height."""
    extent = frame.inner[way in (Direction.UP, Direction.DOWN)] * _SCROLLED
    return (yield from _turn(page, frame, way, extent, because))


def _turn(page: Page, frame: Node, way: Direction, amount: float, because: str) -> Plan:
    whole = frame is page.root
    x, y = (frame.inner[0] / 2, frame.inner[1] / 2) if whole else click_point(frame)
    action = Scroll(direction=way, amount=max(1, round(amount)), x=x, y=y)
    return (yield from do(action, f"{because}, so I scroll {way.value}."))


def scroll_through(page: Page, find: Locator, direction: Direction, why: str) -> Plan:
    """Turn the wheel over a text until its top or bottom is visible, by most of what it shows, so that nothing is skipped.

    Raises:
        SkillError: it has none within reach.
    """
    for _ in range(MAX_SCROLLS):
        node = find(page)
        left = round(rest(node, direction))
        if left <= 1:
            return page
        x, y = click_point(node)
        amount = min(left, max(1, round(node.inner[1] * _REACH)))
        page = yield from do(Scroll(direction=direction, amount=amount, x=x, y=y), why)
    raise SkillError("the text has no end")
