"""A document in which everything out of sight is another: what a policy that sees could not tell from the true one.

Changed are the words that no picture shows, their number and length, the order and number of what is out of sight (closed
tabs, menus and lists as well as rows below the window), its ids, classes, addresses, states and places, how far a thing goes
on that is cut off at an edge, and how long a sheet is of which the end is not in sight. What may stay: what is in sight,
with where its pixels are and its attributes; the frames of parts that scroll by themselves; how far a sheet is scrolled,
and whether that is its end, as a scroll bar shows it.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from generators.browser.protocol import Node
from schemas.episodes.observation import Box, Sight

_WORDS = [
    "amber",
    "basalt",
    "cedar",
    "dune",
    "ember",
    "fjord",
    "grove",
    "harbour",
    "isle",
    "juniper",
    "kelp",
    "lagoon",
]
_SCROLLING = {"auto", "scroll"}
_NEAR = 2.0
_MIN_BEYOND, _MAX_BEYOND = 5, 900
"""How far what is out of sight goes on beyond an edge, px."""


class Swap:
    """The changes of one episode: the same kinds at each step, drawn anew."""

    def __init__(self, seed: str) -> None:
        self._random = Random(f"swap {seed}")
        self._has_more = self._random.choice((True, False))
        self._mask = self._random.getrandbits(40)
        self._sights: Sequence[Sight] | None = None

    def of(self, root: Node, sights: Sequence[Sight] | None) -> Node:
        """Return the document with all that is out of sight changed; `sights` is what the picture shows."""
        self._sights = sights
        width, height = root.inner
        swapped = self._change(root, (0.0, 0.0, width, height), is_page=True)
        return replace(swapped, inner=root.inner)

    def _is_seen(self, node: Node) -> bool:
        """Return whether anything of an element itself is in sight."""
        is_outline = node.attrs.get("fill") == "none" and "stroke" in node.attrs
        if node.point is not None or is_outline:
            return True
        return any(self._shows(word, _at(node, box)) for word, box in node.words) or any(
            not one.text and _is_near(one.bbox, node.box) for one in self._sights or ()
        )

    def _shows(self, word: str, box: Box) -> bool:
        middle = (box[0] + box[2] / 2, box[1] + box[3] / 2)
        return any(
            word[:200] in one.text and _holds(one.bbox, middle) for one in self._sights or ()
        )

    def _change(self, node: Node, clip: Box, *, is_page: bool = False) -> Node:
        """Return an element of which something is in sight, or what it is in, with the rest of it changed."""
        is_frame = _scrolls(node) and not is_page and node.tag != "body"
        inner = _meet(clip, node.box) if is_frame else clip
        children = self._children(node, inner)
        own = self._own_text(node) if self._is_seen(node) else self._words(node.own_text)
        is_same = own == node.own_text and all(
            one.text == other.text for one, other in zip(children, node.children, strict=False)
        )
        is_same &= len(children) == len(node.children)
        text = node.text
        if not is_same:
            text = " ".join(part for part in (own, *(one.text for one in children)) if part)
        is_cut = not (is_page or is_frame or node.tag == "body")
        return replace(
            node,
            key=node.key ^ self._mask,
            text=text,
            own_text=own,
            box=self._cut(node.box, clip) if is_cut else node.box,
            words=tuple(self._word(node, *one) for one in node.words),
            scroll=self._longer(node),
            value=self._value(node),
            children=children,
        )

    def _children(self, node: Node, clip: Box) -> list[Node]:
        out, hidden = list[Node](), list[Node]()
        for child in node.children:
            if any(map(self._is_seen, child.walk())) or child.tag == "body":
                out += self._hidden(hidden)
                hidden = []
                out.append(self._change(child, clip))
            else:
                hidden.append(child)
        return [*out, *self._hidden(hidden)]

    def _hidden(self, nodes: Sequence[Node]) -> list[Node]:
        """Return other elements for some that are out of sight: in another order, more of them or fewer."""
        changed = [self._replace(one) for one in reversed(nodes)]
        if not self._has_more:
            return changed[: len(changed) // 2]
        more = changed * self._random.randint(1, 2)
        return [*changed, *(self._again(one) for one in more[: 2 + len(changed) // 2])]

    def _again(self, node: Node) -> Node:
        """Return one more element like one that is out of sight."""
        children = [self._again(one) for one in node.children]
        return self._replace(replace(node, key=self._random.getrandbits(50), children=children))

    def _replace(self, node: Node) -> Node:
        """Return another element for one that is out of sight."""
        children = [self._replace(one) for one in node.children]
        own = self._words(node.own_text)
        x, y, width, height = node.box
        grown = height * self._random.uniform(0.5, 3.0)
        return replace(
            node,
            key=node.key ^ self._mask,
            attrs={
                name: value if name in {"type", "role"} else self._words(value or "x")
                for name, value in node.attrs.items()
            },
            own_text=own,
            text=" ".join(part for part in (own, *(one.text for one in children)) if part),
            box=(x, y + self._random.randint(0, _MAX_BEYOND), width, grown),
            words=tuple((self._words(word), box) for word, box in node.words),
            value=None if node.value is None else self._words(node.value),
            checked=None if node.checked is None else not node.checked,
            selected=None if node.selected is None else self._words(node.selected),
            scroll=self._longer(node),
            children=children,
        )

    def _own_text(self, node: Node) -> str:
        """Return the text directly in an element, with other words for those out of sight."""
        if self._sights is None or not node.words:
            return node.own_text
        if all(self._shows(word, _at(node, box)) for word, box in node.words):
            return node.own_text
        return " ".join(self._word(node, *one)[0] for one in node.words)

    def _word(self, node: Node, word: str, box: Box) -> tuple[str, Box]:
        if self._sights is None or self._shows(word, _at(node, box)):
            return word, box
        return self._words(word), box

    def _words(self, text: str) -> str:
        """Return other words, of another number and length."""
        count = max(1, len(text.split()) + self._random.choice((-2, -1, 1, 3)))
        return " ".join(self._random.choice(_WORDS) for _ in range(count)) if text else text

    def _value(self, node: Node) -> str | None:
        """Return the text of a field, with other words for those that are scrolled out of it."""
        kind = node.attrs.get("type", "text")
        is_text = node.tag == "textarea" or (node.tag == "input" and kind in {"text", "search"})
        if not node.value or not is_text or self._sights is None:
            return node.value
        lines = [one.text for one in self._sights if _holds(node.box, _middle(one.bbox))]
        shown = " ".join(" ".join(lines).split())
        if " ".join(node.value.split()) in shown:
            return node.value
        return " ".join(
            word if word in shown else self._words(word) for word in node.value.split(" ")
        )

    def _cut(self, box: Box, clip: Box) -> Box:
        """Return a box that goes on elsewhere beyond the edges of what shows it."""
        left, top, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
        first, start, last, end = clip[0], clip[1], clip[0] + clip[2], clip[1] + clip[3]
        if top < start - 1:
            top = start - self._beyond()
        if bottom > end + 1:
            bottom = end + self._beyond()
        if left < first - 1:
            left = first - self._beyond()
        if right > last + 1:
            right = last + self._beyond()
        return (left, top, max(0.0, right - left), max(0.0, bottom - top))

    def _beyond(self) -> float:
        return float(self._random.randint(_MIN_BEYOND, _MAX_BEYOND))

    def _longer(self, node: Node) -> tuple[float, float, float, float] | None:
        """Return the extent of a sheet, another one where its end is not in sight."""
        if node.scroll is None:
            return None
        left, top, width, height = node.scroll
        if left + node.inner[0] < width - 1:
            width = left + node.inner[0] + self._beyond()
        if top + node.inner[1] < height - 1:
            height = top + node.inner[1] + self._beyond()
        return (left, top, width, height)


def _at(node: Node, box: Box) -> Box:
    """Return where a word stands: an option of a list has no boxes of its words."""
    return box if (box[2] and box[3]) or node.point is None else (*node.point, 0.0, 0.0)


def _scrolls(node: Node) -> bool:
    overflow = {node.style.get("overflow-x"), node.style.get("overflow-y")}
    return node.scroll is not None and bool(overflow & _SCROLLING)


def _meet(one: Box, other: Box) -> Box:
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right = min(one[0] + one[2], other[0] + other[2])
    bottom = min(one[1] + one[3], other[1] + other[3])
    return (left, top, max(0.0, right - left), max(0.0, bottom - top))


def _middle(box: Box) -> tuple[float, float]:
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def _holds(box: Box, at: tuple[float, float]) -> bool:
    x, y = at[0] - box[0], at[1] - box[1]
    return -_NEAR <= x <= box[2] + _NEAR and -_NEAR <= y <= box[3] + _NEAR


def _is_near(one: Box, other: Box) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= _NEAR
