"""What of a document is in sight: the part of it that a picture shows, and nothing else.

A policy that reads documents gets this part alone. Kept are elements that a click reaches and those with words in sight,
by the rule that the verifier `seen` uses (`sights` of an observation), with these words, the part of their boxes that is in
sight, and their states. Of what is cut off at an edge the picture shows that it goes on, and not how far; therefore its box
goes on by `GOES_ON` px, whatever it is in the document. Of a sheet that scrolls it shows how far it is scrolled and whether
that is the end. What a closed list has to choose from is not in sight.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from generators.browser.protocol import Node
from generators.policy.element_names import FIELDS, is_tiny
from schemas.episodes.observation import Box, Sight

GOES_ON = 40.0
"""How far the box of a thing that is cut off at an edge goes on beyond it, px."""

_SCROLLING = {"auto", "scroll"}
_SLACK = 1.0
_NEAR = 2.0
"""How far the box of words may be from that of a sight, px."""

_BAND = 64.0
"""Height of the bands by which sights are looked up, px."""

_GAP = "…"
"""What stands for words that something covers between others."""

_LONGEST = 200
"""Letters of a word that are compared: both lists shorten long ones."""

_UNWRITTEN = {"checkbox", "radio", "range", "color", "file", "image", "hidden", "submit", "button"}
"""Types of inputs whose value is not written in them as it is, or is their name."""

_PARTED = {"date", "time", "month", "week", "datetime-local"}
"""Types of inputs whose value is written in another form."""


@dataclass(frozen=True, slots=True)
class _Clip:
    """The part of the window in which an element can be in sight."""

    left: float
    top: float
    right: float
    bottom: float

    def within(self, box: Box) -> "_Clip":
        """Return the part of it that is in a box."""
        left, top, width, height = box
        return _Clip(
            max(self.left, left),
            max(self.top, top),
            min(self.right, left + width),
            min(self.bottom, top + height),
        )

    def cut(self, box: Box) -> Box:
        """Return a box, in hundredths of px, that goes on beyond the edges by `GOES_ON` where it does go on there."""
        left, top, width, height = box
        right, bottom = left + width, top + height
        first = left if left >= self.left - _SLACK else self.left - GOES_ON
        start = top if top >= self.top - _SLACK else self.top - GOES_ON
        last = right if right <= self.right + _SLACK else self.right + GOES_ON
        end = bottom if bottom <= self.bottom + _SLACK else self.bottom + GOES_ON
        sides = max(0.0, last - first), max(0.0, end - start)
        return (round(first, 2), round(start, 2), round(sides[0], 2), round(sides[1], 2))


class Sights:
    """The texts and drawn things that a picture shows; made of None where they were not recorded."""

    def __init__(self, sights: Sequence[Sight] | None) -> None:
        self.are_known = sights is not None
        self._bands: dict[int, list[Sight]] = {}
        for one in sights or ():
            for band in _bands(one.bbox):
                self._bands.setdefault(band, []).append(one)

    def show(self, word: str, box: Box) -> bool:
        """Return whether a word is in sight at its place."""
        wanted, middle = word[:_LONGEST], _middle(box)
        return any(
            _holds(one.bbox, middle) and wanted in one.text
            for one in self._bands.get(_band(middle[1]), ())
        )

    def draw(self, box: Box) -> bool:
        """Return whether something without words is in sight at just this place."""
        return any(
            not one.text and max(abs(a - b) for a, b in zip(one.bbox, box, strict=True)) <= _NEAR
            for one in self._bands.get(_band(_middle(box)[1]), ())
        )

    def lines(self, box: Box) -> list[str]:
        """Return the texts whose middle is in a box."""
        found = {
            id(one): one
            for band in _bands(box)
            for one in self._bands.get(band, ())
            if one.text and _holds(box, _middle(one.bbox))
        }
        return [one.text for one in sorted(found.values(), key=lambda one: one.bbox[1])]


def in_sight(root: Node, sights: Sequence[Sight] | None) -> Node:
    """Return the part of a document that is in sight.

    `sights` is what the picture shows; None: it was not recorded, so the words of what a click reaches count as in sight.
    """
    width, height = root.inner
    window = _Clip(0.0, 0.0, width, height)
    kept = _keep(root, Sights(sights), window, window, is_page=True)
    if kept is None:
        raise AssertionError("the page itself is always kept")
    return replace(kept, inner=root.inner)


def _keep(
    node: Node, sights: Sights, clip: _Clip, window: _Clip, *, is_page: bool = False
) -> Node | None:
    """Return what is in sight of an element; None: nothing. `is_page` is whether it is the page itself."""
    if node.style.get("position") == "fixed":
        clip = window
    is_page |= node.tag == "body"
    frame = is_frame(node) and not is_page
    inner = clip.within(node.box) if frame else clip
    children = [
        kept
        for child in (() if _is_closed_list(node) else node.children)
        if (kept := _keep(child, sights, inner, window)) is not None
    ]
    words = tuple(one for one in node.words if _shows(sights, node, *one))
    is_drawn = sights.draw(node.box) or (is_outline(node) and clip.cut(node.box) == node.box)
    is_seen = node.shown and (node.point is not None or bool(words) or is_drawn)
    if not (is_seen or children or is_page):
        return None
    own = _own_text(node, words, sights) if is_seen else ""
    if is_seen and _is_closed_list(node):
        own = node.selected or ""
    is_whole = is_seen and own == node.own_text and _has_all(node, children)
    kept = replace(
        node,
        attrs=node.attrs if is_seen else {},
        text=node.text if is_whole else _join(own, children),
        own_text=own,
        box=node.box if frame or is_page else _box(node, children, clip, is_seen=is_seen),
        words=words,
        scroll=_scroll(node),
        inner=node.inner if frame else _inner(node, clip),
        is_cut=_is_cut(node, own, children),
        children=children,
    )
    return _with_state(kept, sights, is_seen=is_seen)


def _shows(sights: Sights, node: Node, word: str, box: Box) -> bool:
    if not sights.are_known:
        return node.point is not None
    if not (box[2] and box[3]) and node.point is not None:  # an option has no boxes of its words
        box = (*node.point, 0.0, 0.0)
    return sights.show(word, box)


def _own_text(node: Node, words: Sequence[tuple[str, Box]], sights: Sights) -> str:
    """Return the words directly in an element that are in sight."""
    if len(words) == len(node.words) and (words or not node.own_text):
        return node.own_text
    if node.words:
        return _with_gaps(node, words)
    if not sights.are_known:
        return node.own_text if node.point is not None else ""
    shown = " ".join(sights.lines(node.box))  # a page with more words than are read one by one
    return node.own_text if node.own_text in shown else ""


def _with_gaps(node: Node, words: Sequence[tuple[str, Box]]) -> str:
    """Return the words of an element that are in sight, with a mark where something covers words between them."""
    shown = [one in words for one in node.words]
    if True not in shown:
        return ""
    first, last = shown.index(True), len(shown) - 1 - shown[::-1].index(True)
    told = list[str]()
    for (word, _), is_shown in zip(node.words[first : last + 1], shown[first:], strict=False):
        if is_shown or told[-1] != _GAP:
            told.append(word if is_shown else _GAP)
    return " ".join(told)


def _is_cut(node: Node, own: str, kept: Sequence[Node]) -> bool:
    """Return whether some text of an element that people read cannot be read: what fields hold is their value."""
    if node.tag in FIELDS or not node.shown:
        return False
    keys = {one.key for one in kept}
    lost = (one for one in node.children if one.key not in keys and one.text and one.shown)
    return own != node.own_text or any(one.is_cut for one in kept) or not all(map(is_tiny, lost))


def _is_closed_list(node: Node) -> bool:
    """Return whether an element is a list that shows none of its options but the chosen one."""
    is_closed = node.tag == "select" and "multiple" not in node.attrs
    return is_closed and node.attrs.get("size", "") in {"", "0", "1"}


def _has_all(node: Node, kept: Sequence[Node]) -> bool:
    """Return whether all text of an element's children is among what was kept of them."""
    texts = {one.key: one.text for one in kept}
    said = (one for one in node.children if one.text and (one.shown or one.text in node.text))
    return all(texts.get(one.key, "") == one.text for one in said)


def _join(own: str, children: Sequence[Node]) -> str:
    return " ".join(text for text in (own, *(one.text for one in children)) if text)


def _box(node: Node, children: Sequence[Node], clip: _Clip, *, is_seen: bool) -> Box:
    """Return the box of an element as far as it is in sight."""
    if is_seen or not children:
        return clip.cut(node.box)
    left = min(one.box[0] for one in children)
    top = min(one.box[1] for one in children)
    right = max(one.box[0] + one.box[2] for one in children)
    bottom = max(one.box[1] + one.box[3] for one in children)
    return (left, top, right - left, bottom - top)


def _inner(node: Node, clip: _Clip) -> tuple[float, float]:
    cut = clip.cut(node.box)
    return min(node.inner[0], cut[2]), min(node.inner[1], cut[3])


def is_outline(node: Node) -> bool:
    """Return whether an element is a drawn line around nothing, which is in sight though no click hits it."""
    return node.attrs.get("fill") == "none" and "stroke" in node.attrs


def is_frame(node: Node) -> bool:
    """Return whether an element scrolls by itself."""
    overflow = {node.style.get("overflow-x"), node.style.get("overflow-y")}
    return node.scroll is not None and bool(overflow & _SCROLLING)


def _scroll(node: Node) -> tuple[float, float, float, float] | None:
    """Return how far a sheet is scrolled, and that it goes on or not: by one more view, whatever there is."""
    if node.scroll is None:
        return None
    left, top, width, height = node.scroll
    across, down = node.inner
    goes_right, goes_down = left + across < width - _SLACK, top + down < height - _SLACK
    return (
        left,
        top,
        left + across * (2 if goes_right else 1),
        top + down * (2 if goes_down else 1),
    )


def _with_state(node: Node, sights: Sights, *, is_seen: bool) -> Node:
    """Return an element with the state of a control as the picture shows it."""
    if not is_seen:
        return replace(node, value=None, checked=None, selected=None, focused=False)
    kind = node.attrs.get("type", "text")
    value = node.value
    is_written = node.tag == "textarea" or (node.tag == "input" and kind not in _UNWRITTEN)
    if value and is_written and kind not in _PARTED and sights.are_known:
        value = _text_in_field(value, sights.lines(node.box), is_secret=kind == "password")
    kept = node.selected if node.tag == "select" or value == node.value else None
    return replace(node, value=value, selected=kept)


def _text_in_field(value: str, lines: Sequence[str], *, is_secret: bool) -> str:
    """Return the part of a field's value that is in sight."""
    if is_secret:
        return "•" * len(value)
    shown = " ".join(" ".join(lines).split())
    return value if " ".join(value.split()) in shown else "\n".join(lines)


def _bands(box: Box) -> Iterator[int]:
    yield from range(_band(box[1] - _NEAR), _band(box[1] + box[3] + _NEAR) + 1)


def _band(at: float) -> int:
    return int(at // _BAND)


def _middle(box: Box) -> tuple[float, float]:
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def _holds(box: Box, at: tuple[float, float]) -> bool:
    return -_NEAR <= at[0] - box[0] <= box[2] + _NEAR and -_NEAR <= at[1] - box[1] <= box[3] + _NEAR
