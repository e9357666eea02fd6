"""The document of a page as an episode has seen it: what is in sight now, and what is remembered of what was before.

Each look adds what is in sight to it. What has been scrolled away stays as it was shown, at the place of its sheet where it
stood, without a point to click. Where something was remembered and something else is in sight, it is forgotten; so is all
of a page when another one is loaded. A policy that reads this document instead of the page's own knows nothing that no
picture has shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from generators.browser.protocol import Node
from generators.policy.in_sight import in_sight, is_frame
from generators.policy.window import Window
from schemas.episodes.observation import Box, Observation

_OVER = {"absolute", "fixed", "sticky"}
"""Values of `position` with which an element may lie over others."""


@dataclass(slots=True)
class _Kept:
    """An element that was in sight."""

    node: Node
    """As it was shown last."""
    parent: int | None
    """The key of what it is in; None for the root."""
    sheet: int | None
    """The key of the part that scrolls it; None: it stays in the window."""
    at: Box
    """Its box, px from the sheet's top left."""
    children: list[int] = field(default_factory=list)
    """The keys of what is in it, in order."""
    whole: tuple[tuple[str, ...], str] | None = None
    """The texts of which it consisted when all of it was in sight, and all its text; None: it never was."""


class SeenDocument:
    """What an episode has seen of the page that is open."""

    def __init__(self) -> None:
        self._page: tuple[str, int | None, int] | None = None
        self._kept: dict[int, _Kept] = {}

    def look(self, root: Node, observation: Observation) -> Node:
        """Add what is in sight of a document, and return all that is known of it."""
        state = observation.page
        page = (state.url, state.tab, root.key)
        if page != self._page:
            self._page, self._kept = page, {}
        now = in_sight(root, observation.sights)
        shown = {node.key: node for node in now.walk()}
        self._add(now, None, now.key)
        self._forget(now, shown)
        return self._build(now.key, shown)

    def _add(self, node: Node, parent: int | None, sheet: int | None) -> None:
        """Note an element that is in sight, and all in it."""
        if node.style.get("position") == "fixed":
            sheet = None
        kept = self._kept.get(node.key)
        origin = self._origin(sheet, {})
        x, y, width, height = node.box
        at = (x - origin[0], y - origin[1], width, height)
        own = node.own_text
        if kept is not None and own != kept.node.own_text and own in kept.node.own_text:
            own = kept.node.own_text  # the rest of it has left the window
        children = _merged(kept.children if kept else [], [one.key for one in node.children])
        whole = kept.whole if kept else None
        self._kept[node.key] = _Kept(
            replace(node, own_text=own), parent, sheet, at, children, whole
        )
        is_page = parent is None or node.tag == "body"
        inner = node.key if is_frame(node) and not is_page else sheet
        for child in node.children:
            self._add(child, node.key, inner)

    def _origin(
        self, sheet: int | None, known: dict[int, tuple[float, float]]
    ) -> tuple[float, float]:
        """Return where the top left of a sheet is now, px of the window."""
        if sheet is None:
            return (0.0, 0.0)
        if sheet not in known:
            kept = self._kept.get(sheet)
            if kept is None:  # the page itself, before it is noted
                return (0.0, 0.0)
            left, top = (kept.node.scroll or (0.0, 0.0))[:2]
            if kept.parent is None:
                known[sheet] = (-left, -top)
            else:
                x, y = self._origin(kept.sheet, known)
                known[sheet] = (x + kept.at[0] - left, y + kept.at[1] - top)
        return known[sheet]

    def _forget(self, now: Node, shown: dict[int, Node]) -> None:
        """Forget what is not in sight where it was, unless something lies over it that is."""
        window, origins = Window(now), dict[int, tuple[float, float]]()
        over = [one for one in shown.values() if one.style.get("position") in _OVER]
        views = dict[int | None, Box]()
        inside = {id(self._kept[key]) for key in self._kept if key in shown}
        for key in list(_inner_first(self._kept, now.key)):
            kept = self._kept[key]
            kept.children = [child for child in kept.children if self._is_in(child, key)]
            if id(kept) in inside or kept.children:
                continue
            sheet = None if kept.sheet == now.key else kept.sheet
            if sheet not in views:
                holder = shown.get(sheet) if sheet is not None else None
                is_away = sheet is not None and holder is None
                views[sheet] = (0.0, 0.0, 0.0, 0.0) if is_away else window.view_of(holder)
            box = _moved(kept, self._origin(kept.sheet, origins))
            covers = (one for one in over if _has_middle(one.box, box))
            if _has_middle(views[sheet], box) and not any(
                not self._is_around(one.key, kept) for one in covers
            ):
                del self._kept[key]
        there = set(_inner_first(self._kept, now.key))
        self._kept = {key: kept for key, kept in self._kept.items() if key in there}

    def _is_around(self, key: int, kept: _Kept) -> bool:
        """Return whether an element contains what was in sight."""
        parent = kept.parent
        while parent is not None and parent != key:
            around = self._kept.get(parent)
            parent = None if around is None else around.parent
        return parent == key

    def _is_in(self, child: int, key: int) -> bool:
        """Return whether an element is in another one still."""
        kept = self._kept.get(child)
        return kept is not None and kept.parent == key

    def _build(self, key: int, shown: dict[int, Node]) -> Node:
        """Return an element with all that is known to be in it."""
        return self._node(key, shown, {})

    def _node(
        self, key: int, shown: dict[int, Node], origins: dict[int, tuple[float, float]]
    ) -> Node:
        kept = self._kept[key]
        children = [
            self._node(child, shown, origins) for child in kept.children if self._is_in(child, key)
        ]
        parts = (kept.node.own_text, *(f"{one.key} {one.text}" for one in children))
        seen = shown.get(key)
        is_now = seen is not None and all(one.key in shown for one in children)
        if is_now and seen is not None and seen.own_text == kept.node.own_text:
            kept.whole = parts, seen.text
        text = " ".join(
            part for part in (kept.node.own_text, *(one.text for one in children)) if part
        )
        if kept.whole is not None and kept.whole[0] == parts:
            text = kept.whole[1]
        if seen is not None:
            return replace(kept.node, text=text, children=children)
        box = _moved(kept, self._origin(kept.sheet, origins))
        return replace(kept.node, text=text, children=children, box=box, point=None, words=())


def _merged(before: Sequence[int], now: Sequence[int]) -> list[int]:
    """Return the keys of before and now in one order: those of now in theirs, and each other one behind what it followed."""
    current, out = set(now), list(now)
    last: int | None = None
    for key in before:
        if key not in current:
            out.insert(0 if last is None else out.index(last) + 1, key)
        last = key
    return out


def _inner_first(kept: dict[int, _Kept], root: int) -> Iterator[int]:
    """Yield the keys of all elements that hang together with the root, each after those in it."""
    order, pending = list[int](), [root]
    while pending:
        key = pending.pop()
        if key in kept:
            order.append(key)
            pending += kept[key].children
    yield from reversed(order)


def _moved(kept: _Kept, origin: tuple[float, float]) -> Box:
    return (kept.at[0] + origin[0], kept.at[1] + origin[1], kept.at[2], kept.at[3])


def _has_middle(view: Box, box: Box) -> bool:
    """Return whether the middle of a box is in a part of the window."""
    x, y = box[0] + box[2] / 2 - view[0], box[1] + box[3] / 2 - view[1]
    return 0 < x < view[2] and 0 < y < view[3]
