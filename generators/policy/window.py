"""Where in the window a thing can be in sight: within what scrolls it, and beside what lies over the page.

A bar at the bottom, a box in a corner and a header that stays hide what is under them. So a thing is brought to
where none of them is, as far as the page can be scrolled.
"""

import functools

from generators.browser.protocol import Node
from schemas.episodes.observation import Box

_SCROLLING = {"auto", "scroll"}
"""Values of `overflow-y` of what the wheel scrolls."""

_MOST_COVERED = 0.5
"""What is higher than this share of the window is beside or around what is on a page, and not over it."""

_LEAST_ROOM = 60
"""Where less than this is left of the window's height, px, what lies over it is left out of account."""

_WHOLE = {"tr", "li"}
"""Tags of what is read as a whole: a row of a table, an entry of a list."""


class Window:
    """The window over a page, as it was read once."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._parents = {id(child): node for node in root.walk() for child in node.children}
        self._over = [node for node in root.walk() if node.shown and self._is_over(node)]

    @functools.cached_property
    def heading(self) -> tuple[str, tuple[float, float]] | None:
        """Return the words and a point of the page's heading, over which no menu opens; None: none is in sight."""
        found = (node for node in self._root.walk() if node.tag == "h1" and node.shown)
        return next(((one.text, one.point) for one in found if one.point and one.text), None)

    def holder(self, thing: Node) -> Node | None:
        """Return the innermost element around a thing that scrolls by itself; None: the page does.

        What is around a popover does not scroll it.
        """
        around = list(reversed(self._path_to(thing)[1:-1]))
        free = next((at for at, one in enumerate(around) if "popover" in one.attrs), len(around))
        return next(
            (
                one
                for one in around[:free]
                if one.scroll is not None
                and one.tag != "body"
                and one.style.get("overflow-y") in _SCROLLING
                and one.scroll[3] > one.inner[1] + 1
            ),
            None,
        )

    def view(self, thing: Node) -> Box:
        """Return the part of the window in which a thing can be in sight."""
        width, height = self._root.inner
        left, start, right, end = 0.0, 0.0, width, height
        holder = self.holder(thing)
        if holder is not None:
            x, y, wide, high = holder.box
            left, right = max(0.0, x), min(width, x + wide)
            start, end = max(0.0, y), min(height, y + high)
        first, last = start, end
        for _, top, _, high in (one.box for one in self._covers(thing)):
            if top + high / 2 > height / 2:
                last = min(last, top)
            else:
                first = max(first, top + high)
        if last - first >= _LEAST_ROOM:
            start, end = first, last
        return (left, start, right - left, end - start)

    def around(self, thing: Node) -> list[Node]:
        """Return what is read together with a thing, if there is room for it: its row or entry, or a label's value."""
        path = self._path_to(thing)
        whole = [one for one in path[:-1] if one.tag in _WHOLE]
        read = path[-2:-1] if thing.tag == "dt" else whole[-1:]
        return [one for one in read if one.box[3] <= self.view(one)[3]]

    def is_at_end(self, holder: Node | None, *, down: bool) -> bool:
        """Return whether the page, and an element that scrolls on it, are known to go no further in a direction."""
        return all(_is_at_end(one, down=down) for one in (self._root, holder) if one is not None)

    def _path_to(self, thing: Node) -> list[Node]:
        """Return the elements from the root down to a thing."""
        path = [thing]
        while id(path[-1]) in self._parents:
            path.append(self._parents[id(path[-1])])
        return path[::-1]

    def _is_over(self, node: Node) -> bool:
        """Return whether an element lies over what is scrolled beneath it."""
        where, (_, top, _, height) = node.style.get("position"), node.box
        stays = where == "fixed" or (where == "sticky" and abs(top) <= 1)
        return stays and 0 < height <= self._root.inner[1] * _MOST_COVERED

    def _covers(self, thing: Node) -> list[Node]:
        """Return what may come to lie over a thing as it is scrolled; over a dialog nothing does."""
        if not self._over:
            return []
        path, (left, _, width, _) = self._path_to(thing), thing.box
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
    """Return whether all of a thing's height is in a part of the window, or as much as there is room for."""
    top, height = max(thing.box[1], view[1]), min(thing.box[3], view[3])
    bottom = min(thing.box[1] + thing.box[3], view[1] + view[3])
    return bottom - top >= height - 1


def _is_at_end(scrolls: Node, *, down: bool) -> bool:
    if scrolls.scroll is None:
        return False
    _, top, _, height = scrolls.scroll
    return top + scrolls.inner[1] >= height - 1 if down else top <= 0
