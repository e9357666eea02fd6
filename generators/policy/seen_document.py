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

_MIN_COVER = 1.5
"""How large what lies over a thing is at least, in its areas; what is smaller has taken its place."""


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
    part: Box
    """The part of it that was in sight, px from the sheet's top left."""
    came: int
    """The look since which it has been in sight at each one until the last at which it was."""
    last: int
    """The last look at which it was in sight."""
    children: list[int] = field(default_factory=list)
    """The keys of what is in it, in order."""
    whole: tuple[tuple[str, ...], str] | None = None
    """The texts of which it consisted when all of it was in sight, and all its text; None: it never was."""


class SeenDocument:
    """What an episode has seen of the page that is open."""

    def __init__(self) -> None:
        self._page: tuple[str, int | None, int] | None = None
        self._kept: dict[int, _Kept] = {}
        self._looks = 0
        self._cut: set[int] = set()
        self._window: Box = (0.0, 0.0, 0.0, 0.0)

    def look(self, root: Node, observation: Observation) -> Node:
        """Add what is in sight of a document, and return all that is known of it."""
        state = observation.page
        page = (state.url, state.tab, root.key)
        if page != self._page:
            self._page, self._kept = page, {}
        now = in_sight(root, observation.sights)
        self._looks += 1
        self._window = (0.0, 0.0, *root.inner)
        shown = {node.key: node for node in now.walk()}
        self._cut = {
            one.key
            for one in root.walk()
            if one.key in shown and one.own_text != shown[one.key].own_text
        }
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
        if kept is not None and node.key in self._cut and own in kept.node.own_text:
            own = kept.node.own_text  # the rest of it has left the window
        children = _merge(kept.children if kept else [], [one.key for one in node.children])
        whole = kept.whole if kept else None
        is_new = kept is None or kept.last < self._looks - 1
        came = self._looks if kept is None or is_new else kept.came
        noted = replace(node, own_text=own)
        left, top, width, height = _meet(node.box, self._window)
        part = (left - origin[0], top - origin[1], width, height)
        self._kept[node.key] = _Kept(
            noted, parent, sheet, at, part, came, self._looks, children=children, whole=whole
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
        """Forget what is not in sight where it was, and all in it, unless something has come to lie over it."""
        window, origins = Window(now), dict[int, tuple[float, float]]()
        over = [one for one in shown.values() if one.style.get("position") in _OVER]
        views = dict[int | None, Box]()
        inside = {id(self._kept[key]) for key in self._kept if key in shown}
        for key in list(_inner_first(self._kept, now.key)):
            kept = self._kept[key]
            kept.children = [child for child in kept.children if self._is_in(child, key)]
            if id(kept) in inside:
                continue
            sheet = kept.sheet
            if sheet not in views:
                views[sheet] = self._view(window, sheet, now, shown)
            if not _has_middle(views[sheet], _move(kept.part, self._origin(kept.sheet, origins))):
                continue
            lost = self._outermost_lost(key, shown)
            whole = _move(lost.part, self._origin(lost.sheet, origins))
            if not any(
                self._kept[one.key].came > kept.last and _covers(one.box, whole) for one in over
            ):
                del self._kept[key]
        there = set(_inner_first(self._kept, now.key))
        self._kept = {key: kept for key, kept in self._kept.items() if key in there}

    def _view(self, window: Window, sheet: int | None, now: Node, shown: dict[int, Node]) -> Box:
        """Return where what a sheet holds can be in sight; what stays in the window lies over all else."""
        if sheet is None:
            return self._window
        if sheet == now.key:
            return window.view_of(None)
        return window.view_of(shown[sheet]) if sheet in shown else (0.0, 0.0, 0.0, 0.0)

    def _outermost_lost(self, key: int, shown: dict[int, Node]) -> _Kept:
        """Return the outermost of the elements around one that are no more in sight either, or the element."""
        kept = self._kept[key]
        while kept.parent is not None and kept.parent not in shown:
            kept = self._kept[kept.parent]
        return kept

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
        box = _move(kept.at, self._origin(kept.sheet, origins))
        return replace(kept.node, text=text, children=children, box=box, point=None, words=())


def _merge(before: Sequence[int], now: Sequence[int]) -> list[int]:
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


def _move(box: Box, origin: tuple[float, float]) -> Box:
    return (box[0] + origin[0], box[1] + origin[1], box[2], box[3])


def _meet(box: Box, view: Box) -> Box:
    """Return the part of a box that is in another one, or all of it if none is."""
    left, top = max(box[0], view[0]), max(box[1], view[1])
    width = min(box[0] + box[2], view[0] + view[2]) - left
    height = min(box[1] + box[3], view[1] + view[3]) - top
    return (left, top, width, height) if min(width, height) > 0 else box


def _covers(over: Box, box: Box) -> bool:
    """Return whether something lies over all of a box and is more than another thing in its place."""
    inside = over[0] <= box[0] + 1 and over[1] <= box[1] + 1
    inside &= box[0] + box[2] <= over[0] + over[2] + 1 and box[1] + box[3] <= over[1] + over[3] + 1
    return inside and over[2] * over[3] > _MIN_COVER * box[2] * box[3]


def _has_middle(view: Box, box: Box) -> bool:
    """Return whether the middle of a box is in a part of the window."""
    x, y = box[0] + box[2] / 2 - view[0], box[1] + box[3] / 2 - view[1]
    return 0 < x < view[2] and 0 < y < view[3]
