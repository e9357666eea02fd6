"""What a skill may ask of a page: one reading of the document, and where things are on it.

A `Page` is made anew from each reading, and nodes of an older one say nothing about it. The
banner that states the goal and the harness's own furniture are not part of it: a skill knows the
goal as text and should not find it again among the page's elements.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from generators.browser.protocol import Node
from schemas.observation import Box

FURNITURE = frozenset({"query", "reward-display", "sync-task-cover", "click-canvas"})
"""Ids of what surrounds the task on every page."""

COVER = "sync-task-cover"
"""Id of what hides a page whose task is over."""

_SCROLLING = frozenset({"auto", "scroll"})

Test = Callable[[Node], bool]
"""A question about one node."""


class Lost(Exception):
    """A skill does not find what it needs; the text says what, for the last thought."""


def missing(
    tags: tuple[str, ...], *, cls: str | None = None, text: str | None = None, place: int = 1
) -> Lost:
    """Return the complaint that the `place`-th such node is not there."""
    which = "" if place == 1 else f"number {place} of any"
    what = " or ".join(tags) or "element"
    marks = (f"of class {cls}" if cls else "", f"that says '{text}'" if text else "")
    return Lost(" ".join(filter(None, ["there is no", which, what, *marks])))


def centre(box: Box) -> tuple[float, float]:
    """Return the middle of a box."""
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def classes(node: Node) -> frozenset[str]:
    """Return the classes of a node."""
    return frozenset(node.attrs.get("class", "").split())


def label(node: Node) -> str:
    """Return what a person would call a node: its text, or what its button says."""
    return node.text or (node.value if node.tag == "input" else None) or ""


@dataclass(slots=True)
class Page:
    """One reading of a page, with the goal that is pursued on it."""

    goal: str
    """In words."""
    url: str
    """Where it is."""
    root: Node
    """The whole document."""
    picture: bytes = field(default=b"", repr=False)
    """The screenshot, for what only a look at it tells, as a canvas."""
    nodes: tuple[Node, ...] = field(init=False)
    """All of it but the furniture, in document order."""
    _parents: dict[int, Node] = field(init=False)

    def __post_init__(self) -> None:
        """Lay out the tree for questions."""
        self._parents = {}
        self.nodes = tuple(self._lay_out(self.root))

    def _lay_out(self, node: Node) -> Iterator[Node]:
        if node.attrs.get("id") in FURNITURE:
            return
        yield node
        for child in node.children:
            self._parents[id(child)] = node
            yield from self._lay_out(child)

    @property
    def over(self) -> bool:
        """The page says that the task is over."""
        return any(
            node.attrs.get("id") == COVER and node.style.get("display") != "none"
            for node in self.root.walk()
        )

    def all(
        self,
        *tags: str,
        within: Node | None = None,
        cls: str | None = None,
        text: str | None = None,
        where: Test | None = None,
        shown: bool = True,
    ) -> list[Node]:
        """Return the nodes of any of `tags` (all tags if none) that pass every test given.

        `text` is the whole text of the node; `shown` leaves out what is not rendered.
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

    def maybe(
        self,
        *tags: str,
        within: Node | None = None,
        cls: str | None = None,
        text: str | None = None,
        where: Test | None = None,
        shown: bool = True,
    ) -> Node | None:
        """Return the first such node, as `all` finds them; None if there is none."""
        found = self.all(*tags, within=within, cls=cls, text=text, where=where, shown=shown)
        return found[0] if found else None

    def one(
        self,
        *tags: str,
        within: Node | None = None,
        cls: str | None = None,
        text: str | None = None,
        where: Test | None = None,
        shown: bool = True,
    ) -> Node:
        """Return the first such node.

        Raises:
            Lost: there is none.
        """
        found = self.maybe(*tags, within=within, cls=cls, text=text, where=where, shown=shown)
        if found is None:
            raise missing(tags, cls=cls, text=text)
        return found

    def by_id(self, name: str) -> Node:
        """Return the node of an id, rendered or not.

        Raises:
            Lost: there is none.
        """
        return self.one(where=lambda node: node.attrs.get("id") == name, shown=False)

    def has(self, name: str) -> bool:
        """Say whether a node of this id is there and rendered."""
        return self.maybe(where=lambda node: node.attrs.get("id") == name) is not None

    def parent(self, node: Node) -> Node | None:
        """Return what holds a node; None for the document itself."""
        return self._parents.get(id(node))

    def above(self, node: Node) -> Iterator[Node]:
        """Yield what holds a node, from the inside out."""
        while (found := self.parent(node)) is not None:
            yield found
            node = found

    def scroller(self, node: Node) -> Node | None:
        """Return the nearest box around a node that can scroll; None if only the page can."""
        for outer in self.above(node):
            overflow = {outer.style.get("overflow-x"), outer.style.get("overflow-y")}
            if outer.scroll is not None and overflow & _SCROLLING:
                return outer
        return None
