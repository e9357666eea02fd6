"""The part of the window in which an element can be visible: inside its scroller and clear of overlays.

A bar at the bottom, a box in a corner and a sticky header hide the content under them. Therefore an element
is scrolled to a place without overlays, as far as the page can be scrolled.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

from generators.browser.protocol import Node
from schemas.episodes.observation import Box

_SCROLLING = {"auto", "scroll"}
"""Values of `overflow-y` with which the wheel scrolls an element."""

_MOST_COVERED = 0.5
"""An element higher than this share of the window is not an overlay but part of the page's layout."""

_LEAST_ROOM = 60
"""If overlays leave less than this height of the window, px, they are ignored."""

_WHOLE = {"tr", "li"}
"""Tags of elements that are read as a whole: a row of a table, an entry of a list."""


class ListEnd(NamedTuple):
    """Where a list ends."""

    at: float
    """How far down in the window, px."""
    holder: Node | None
    """The part that scrolls it; None: the page."""


class Window:
    """The window over a page as it was read once."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._parents = {id(child): node for node in root.walk() for child in node.children}
        self._over = [node for node in root.walk() if node.shown and self._is_over(node)]

    @functools.cached_property
    def heading(self) -> tuple[str, tuple[float, float]] | None:
        """Return the words and a point of the page's heading, over which no menu opens; None if it is not visible."""
        found = (node for node in self._root.walk() if node.tag == "h1" and node.shown)
        return next(((one.text, one.point) for one in found if one.point and one.text), None)

    def holder(self, thing: Node) -> Node | None:
        """Return the innermost scrolling element around an element; None: only the page scrolls.

        Ancestors of a popover do not scroll it.
        """
        around = list(reversed(self.path_to(thing)[1:-1]))
        free = next((at for at, one in enumerate(around) if "popover" in one.attrs), len(around))
        return next((one for one in around[:free] if self.scrolls(one)), None)

    def scrolls(self, node: Node) -> bool:
        """Return whether an element scrolls by itself, and has more than it shows."""
        return (
            node.scroll is not None
            and node is not self._root
            and node.tag != "body"
            and node.style.get("overflow-y") in _SCROLLING
            and node.scroll[3] > node.inner[1] + 1
        )

    def view_of(self, holder: Node | None) -> Box:
        """Return the part of the window that shows what scrolls in an element; None: what scrolls as the page."""
        covers = self._over if holder is None else self._covers(holder)
        return self._clear(self._whole(holder), covers)

    def view(self, thing: Node) -> Box:
        """Return the part of the window in which an element can be visible."""
        return self._clear(self._whole(self.holder(thing)), self._covers(thing))

    def _whole(self, holder: Node | None) -> Box:
        """Return the part of the window that an element has, or the window."""
        width, height = self._root.inner
        if holder is None:
            return (0.0, 0.0, width, height)
        x, y, wide, high = holder.box
        left, start = max(0.0, x), max(0.0, y)
        return (left, start, min(width, x + wide) - left, min(height, y + high) - start)

    def _clear(self, whole: Box, covers: Sequence[Node]) -> Box:
        """Return a part of the window without the overlays at its upper and lower end, if they leave room."""
        left, start, width, height = whole
        end = start + height
        first, last = start, end
        for _, top, _, high in (one.box for one in covers):
            if top + high / 2 > self._root.inner[1] / 2:
                last = min(last, top)
            else:
                first = max(first, top + high)
        if last - first >= _LEAST_ROOM:
            start, end = first, last
        return (left, start, width, end - start)

    def around(self, thing: Node) -> list[Node]:
        """Return the row, entry or labelled value that an element is read with, if the view has room for it."""
        path = self.path_to(thing)
        whole = [one for one in path[:-1] if one.tag in _WHOLE]
        read = path[-2:-1] if thing.tag == "dt" else whole[-1:]
        return [one for one in read if one.box[3] <= self.view(one)[3]]

    def is_at_end(self, holder: Node | None, *, down: bool, alone: bool = False) -> bool:
        """Return whether neither the page nor a scrolling element on it can scroll further in a direction.

        `alone`: whether the scrolling element cannot, or, where there is none, the page.
        """
        both = (self._root, holder) if not alone or holder is None else (holder,)
        return all(_is_at_end(one, down=down) for one in both if one is not None)

    def path_to(self, thing: Node) -> list[Node]:
        """Return the elements from the root down to an element."""
        path = [thing]
        while id(path[-1]) in self._parents:
            path.append(self._parents[id(path[-1])])
        return path[::-1]

    def _is_over(self, node: Node) -> bool:
        """Return whether an element stays in place over content that scrolls beneath it."""
        where, (_, top, _, height) = node.style.get("position"), node.box
        stays = where == "fixed" or (where == "sticky" and abs(top) <= 1)
        return stays and 0 < height <= self._root.inner[1] * _MOST_COVERED

    def _covers(self, thing: Node) -> list[Node]:
        """Return the overlays that may cover an element as it is scrolled; empty for parts of a dialog."""
        if not self._over:
            return []
        path, (left, _, width, _) = self.path_to(thing), thing.box
        if any(one.tag == "dialog" or "popover" in one.attrs for one in path):
            return []
        return [
            one
            for one in self._over
            if not any(one is other for other in path)
            and one.box[0] < left + width
            and left < one.box[0] + one.box[2]
        ]


def is_within(thing: Node, view: Box) -> bool:
    """Return whether an element's whole height, or as much as fits, is inside a part of the window."""
    top, height = max(thing.box[1], view[1]), min(thing.box[3], view[3])
    bottom = min(thing.box[1] + thing.box[3], view[1] + view[3])
    return bottom - top >= height - 1


def _is_at_end(scrolls: Node, *, down: bool) -> bool:
    if scrolls.scroll is None:
        return True
    _, top, _, height = scrolls.scroll
    return top + scrolls.inner[1] >= height - 1 if down else top <= 0
