"""One snapshot of a page's document, and how a skill queries it.

Each reading of the document makes a new `Page`; nodes of an older one are stale. The banner that
states the goal and the other elements of the test harness are left out, because a skill gets the goal
as text and must not find it among the page's elements.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from generators.browser.protocol import Node
from schemas.episodes.action import Direction
from schemas.episodes.observation import Box

HARNESS_IDS = frozenset({"query", "reward-display", "click-canvas"})
"""Ids of the elements around the task on every page."""

_SCROLLING = frozenset({"auto", "scroll"})

_CUT_OFF = 0.3
"""Share of a thing's height that may be cut off where it is pointed at."""

NodeTest = Callable[[Node], bool]
"""A condition on one node."""


class SkillError(Exception):
    """A skill cannot go on; the text says why and becomes part of the last thought."""


_KINDS = {
    "a": "link",
    "button": "button",
    "h2": "heading",
    "img": "picture",
    "input": "field or box to tick",
    "label": "label",
    "li": "entry",
    "option": "option",
    "p": "paragraph",
    "select": "list",
    "textarea": "text field",
}
"""Names that people use for elements, by tag."""


def not_found(tags: tuple[str, ...], *, text: str | None = None, place: int = 1) -> SkillError:
    """Return the error that the page has no `place`-th such node, in words for what a person sees."""
    what = " or ".join(dict.fromkeys(_KINDS[tag] for tag in tags if tag in _KINDS))
    marks = f"that says {text}" if text else "of the kind that I look for"
    which = "" if place == 1 else f", or too few of them for number {place}"
    return SkillError(f"I see no {what or 'thing'} {marks}{which}")


def say(page: "Page", *ways: str) -> str:
    """Return one of several ways to say a thing, drawn by the goal and by what the page shows."""
    shown = " ".join(f"{node.own_text} {node.box}" for node in page.nodes if node.shown)
    return ways[zlib.crc32("\n".join((page.goal, shown, *ways)).encode()) % len(ways)]


def centre(box: Box) -> tuple[float, float]:
    """Return the middle of a box."""
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def classes(node: Node) -> frozenset[str]:
    """Return the classes of a node."""
    return frozenset(node.attrs.get("class", "").split())


def label(node: Node) -> str:
    """Return the visible text of a node, or of a button its value."""
    return node.text or (node.value if node.tag == "input" else None) or ""


def rest(frame: Node, way: Direction) -> float:
    """Return how far a box can be scrolled on, px."""
    left, top, width, height = frame.scroll or (0.0, 0.0, *frame.inner)
    return {
        Direction.UP: top,
        Direction.DOWN: height - frame.inner[1] - top,
        Direction.LEFT: left,
        Direction.RIGHT: width - frame.inner[0] - left,
    }[way]


def way_to(node: Node, frame: Node) -> Direction | None:
    """Return where a thing lies outside of the box that scrolls it; None: it lies within it, or is covered there."""
    left, top = (0.0, 0.0) if frame.tag == "html" else frame.box[:2]
    x, y = centre(node.box)
    if y >= top + frame.inner[1] or y <= top:
        return Direction.DOWN if y > top else Direction.UP
    if x >= left + frame.inner[0] or x <= left:
        return Direction.RIGHT if x > left else Direction.LEFT
    return None


def overhang(node: Node, frame: Node) -> float:
    """Return how far below a box a node reaches, or above it (less than 0), if much of it is cut off."""
    top, height = node.box[1], node.box[3]
    start = 0.0 if frame.tag == "html" else frame.box[1]
    below, above = top + height - start - frame.inner[1], start - top
    if height > frame.inner[1] or max(below, above) <= height * _CUT_OFF:
        return 0.0
    if below > above:
        return below if rest(frame, Direction.DOWN) >= below else 0.0
    return -above if rest(frame, Direction.UP) >= above else 0.0


@dataclass(slots=True)
class Page:
    """One snapshot of a page, and the goal of the task."""

    goal: str
    """The goal in words."""
    url: str
    """The page's address."""
    root: Node
    """The whole document."""
    picture: bytes = field(default=b"", repr=False)
    """The screenshot, for what the document does not describe, as a canvas."""
    nodes: tuple[Node, ...] = field(init=False)
    """All of it but the harness, in document order."""
    _parents: dict[int, Node] = field(init=False)

    def __post_init__(self) -> None:
        """Index the tree."""
        self._parents = {}
        self.nodes = tuple(self._walk(self.root))

    def _walk(self, node: Node) -> Iterator[Node]:
        if node.attrs.get("id") in HARNESS_IDS:
            return
        yield node
        for child in node.children:
            self._parents[id(child)] = node
            yield from self._walk(child)

    def all(
        self,
        *tags: str,
        within: Node | None = None,
        cls: str | None = None,
        text: str | None = None,
        where: NodeTest | None = None,
        shown: bool = True,
    ) -> list[Node]:
        """Return the nodes of any of `tags` (all tags if none) that pass every test given.

        `text` is the whole text of the node. With `shown`, nodes that are not rendered are left out.
        """
        pool = self.nodes if within is None else tuple(within.walk())
        return [
            node
            for node in pool
            if (not tags or node.tag in tags)
            and (not shown or node.shown)
            and (cls is None or cls in classes(node))
            and (text is None or label(node) == text)
            and (where is None or where(node))
        ]

    def first(
        self,
        *tags: str,
        within: Node | None = None,
        cls: str | None = None,
        text: str | None = None,
        where: NodeTest | None = None,
        shown: bool = True,
    ) -> Node | None:
        """Return the first of the nodes that `all` returns, or None."""
        nodes = self.all(*tags, within=within, cls=cls, text=text, where=where, shown=shown)
        return nodes[0] if nodes else None

    def one(
        self,
        *tags: str,
        within: Node | None = None,
        cls: str | None = None,
        text: str | None = None,
        where: NodeTest | None = None,
        shown: bool = True,
    ) -> Node:
        """Return the first of the nodes that `all` returns.

        Raises:
            SkillError: it returns no node.
        """
        node = self.first(*tags, within=within, cls=cls, text=text, where=where, shown=shown)
        if node is None:
            raise not_found(tags, text=text)
        return node

    def by_id(self, name: str) -> Node:
        """Return the node of an id, rendered or not.

        Raises:
            SkillError: the page has no such node.
        """
        return self.one(where=lambda node: node.attrs.get("id") == name, shown=False)

    def has(self, name: str) -> bool:
        """Return whether a node of this id is rendered."""
        return self.first(where=lambda node: node.attrs.get("id") == name) is not None

    def parent(self, node: Node) -> Node | None:
        """Return the parent of a node; None for the document itself."""
        return self._parents.get(id(node))

    def ancestors(self, node: Node) -> Iterator[Node]:
        """Yield the ancestors of a node, from the inside out."""
        while (parent := self.parent(node)) is not None:
            yield parent
            node = parent

    def caption(self, field: Node) -> str:
        """Return the caption of a field: the hint in it, or its label; empty without both."""
        parent = self.parent(field)
        near = [outer for outer in self.ancestors(field) if outer.tag == "label"]
        for node, following in pairwise(parent.children if parent else ()):
            near += [node] if following is field and node.tag == "label" else []
        near += self.all(
            "label", where=lambda one: one.attrs.get("for") == field.attrs.get("id", "")
        )
        texts = (field.attrs.get("placeholder", ""), *(node.text for node in near))
        return next((text for text in (text.strip(" :.") for text in texts) if text), "")

    def frames(self) -> list[Node]:
        """Return the boxes in sight that scroll what is in them, the largest first, and last the page itself."""
        boxes = [
            node
            for node in self.nodes
            if node.scroll is not None
            and node.point is not None
            and node.tag not in {"html", "body", "textarea"}
            and {node.style.get("overflow-x"), node.style.get("overflow-y")} & _SCROLLING
        ]
        return [*sorted(boxes, key=lambda one: -one.inner[0] * one.inner[1]), self.root]

    def scroller(self, node: Node) -> Node | None:
        """Return the nearest ancestor that can scroll; None if only the page can."""
        for outer in self.ancestors(node):
            overflow = {outer.style.get("overflow-x"), outer.style.get("overflow-y")}
            if outer.scroll is not None and overflow & _SCROLLING:
                return outer
        return None
