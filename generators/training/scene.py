"""The things in a picture that an action can point at, each with a noun, a label and a box.

A step's row lists elements and sights separately: elements have roles but may be invisible; sights are
visible but have no roles. This module merges them. An element and the sights in it are one thing if
nothing else is in either, as a button, the span in it and its words. A thing without an element, as an
icon that is not clickable, counts too, since a reader sees it. A label element does not: its words stand
for themselves.

Nouns are plain words for what a reader sees; a role that the page made up has none. Steps of an earlier
version do not say what their picture shows. Their things have the page's words, and no place.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from schemas.episodes.episode import Step
from schemas.episodes.observation import Box, Element, Sight, Target

MAX_LISTED = 400
"""The maximum number of elements in the browser's list; a page with this number may have more."""

TEXT, ICON, BOX = PLAIN = "text", "icon", "box"
"""The nouns of things that have neither a known role nor a shape."""

MAX_QUOTED = 60
"""Characters of a text that is quoted."""

_ICON_PX = 24
"""The side up to which a thing without words, role or shape is an icon, CSS px."""

_BESIDE, _ABOVE = 40, 16
"""How far from a control its label may stand, beside it and above it, CSS px."""

_SAME = 0.6
"""The part of the area of both together in which two boxes are one, where no sight tells."""

_NAME_LENGTH = 200
"""The characters after which the browser cuts a name."""

_GOAL_WORDS, _GOAL_PART = 3, 0.6
"""An element that states the goal has at least this number, and this share, of the goal's words."""

_ROLES = {
    "button": "button", "link": "link", "checkbox": "checkbox", "radio": "radio button",
    "textbox": "text field", "searchbox": "text field", "spinbutton": "text field",
    "combobox": "list", "listbox": "list", "option": "option", "tab": "tab", "slider": "slider",
    "img": "image", "heading": "heading", "cell": "cell", "columnheader": "cell",
    "gridcell": "cell", "menuitem": "menu item",
}  # fmt: skip
_TAGS = {"a": "link", "input": "text field", "textarea": "text field", "img": "image"}
_SHAPES = {"circle": "circle", "rect": "rectangle"} | dict.fromkeys(
    ("ellipse", "polygon", "polyline", "path", "line"), "shape"
)
_BOXES = ("text field", "list")
"""Kinds that a reader might also call a box."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something in sight."""

    kind: str
    """The noun in expressions."""
    nouns: frozenset[str]
    """All nouns that a reader might use for it."""
    label: str
    """Its words, or those beside it that name it; empty if it has none."""
    box: Box
    """CSS px of the viewport."""
    content: frozenset[int]
    """The indexes of the sights in it; empty if it is not known to show."""
    element: Element | None
    """The element; None for a thing that only the picture has."""


def same_words(one: str, other: str) -> bool:
    """Return whether two texts read alike."""
    return _fold(one) == _fold(other)


@lru_cache(maxsize=4_096)
def _fold(text: str) -> tuple[str, ...]:
    return tuple(text.casefold().split())


def is_quotable(text: str) -> bool:
    """Return whether a text can stand between quotation marks, and is short enough to."""
    plain = text.isprintable() and '"' not in text
    return plain and 0 < len(text) <= MAX_QUOTED


def contains(box: Box, point: tuple[float, float]) -> bool:
    """Return whether a point is in a box or on its edge."""
    left, top, width, height = box
    return left <= point[0] <= left + width and top <= point[1] <= top + height


def centre(box: Box) -> tuple[float, float]:
    """Return the middle of a box."""
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def is_level(one: Box, other: Box) -> bool:
    """Return whether the middle of one of two boxes is level with the other."""
    middles = centre(one)[1], centre(other)[1]
    return one[1] <= middles[1] <= one[1] + one[3] or other[1] <= middles[0] <= other[1] + other[3]


class Scene:
    """A step's picture as things."""

    def __init__(self, step: Step, goal: str) -> None:
        self.blind = step.sights is None
        """Whether the step does not say what its picture shows."""
        self.crowded = len(step.elements) >= MAX_LISTED
        """Whether the page may have elements that are not in the list."""
        self.sights: Sequence[Sight] = step.sights or ()
        """The sights of the picture."""
        self._centres = [(index, *centre(one.bbox)) for index, one in enumerate(self.sights)]
        self._goals = [item.bbox for item in step.elements if _tells(item, goal)]
        listed = [item for item in step.elements if item.tag != "label" or self.blind]
        shown = [item for item in listed if self._is_visible(item)]
        self.things = [self._of_element(item) for item in shown]
        """All things."""
        if not self.blind:
            self.things = self._merge(self.things)

    def thing_of(self, target: Target) -> Thing:
        """Return the thing of a target: the one with the same content, or a new one."""
        assert target.bbox is not None  # noqa: S101 - a step without a box gives no line
        content = self._content(target.bbox)
        label = (target.name or target.text or "").strip() if self.blind else self._words(content)
        has_words = bool(label) or any(self.sights[n].text for n in content)
        kind = _kind(target.role or "", target.tag, target.bbox, has_words=has_words)
        nouns = _nouns(kind, "" if self.blind else label)
        own = Thing(kind, nouns, label, target.bbox, content, None)
        for one in () if self.blind else self.things:
            if is_same(one, own):
                own = _join(one, own)
        return own

    def is_goal(self, box: Box) -> bool:
        """Return whether a box is where the page itself states the goal."""
        return any(contains(goal, centre(box)) for goal in self._goals)

    @cached_property
    def anchors(self) -> list[tuple[int, float, float, str]]:
        """The sights whose words a place may refer to: index, middle (CSS px) and words."""
        return [
            (index, x, y, text)
            for index, x, y in self._centres
            if is_quotable(text := self.sights[index].text)
            and not self.is_goal(self.sights[index].bbox)
        ]

    def _is_visible(self, item: Element) -> bool:
        if item.visible <= 0 or item.bbox[2] <= 0 or item.bbox[3] <= 0:
            return False
        drawn = (one.bbox for one in self.sights if not one.text)
        return (
            not item.covered
            or any(_overlap(box, item.bbox) > _SAME for box in drawn)
            or (bool(item.name) and same_words(item.name, self._words(self._content(item.bbox))))
        )

    def _content(self, box: Box) -> frozenset[int]:
        left, top, width, height = box
        right, bottom = left + width, top + height
        return frozenset(
            [index for index, x, y in self._centres if left <= x <= right and top <= y <= bottom]
        )

    def _words(self, content: frozenset[int]) -> str:
        """Return the words among some sights; empty if a reader would read them in another order."""
        shown = [self.sights[n] for n in sorted(content) if self.sights[n].text]
        for one, following in itertools.pairwise(shown):
            is_after = one.bbox[0] < following.bbox[0] and is_level(one.bbox, following.bbox)
            if not is_after and centre(following.bbox)[1] < one.bbox[1] + one.bbox[3]:
                return ""
        return " ".join(one.text for one in shown)

    def _of_element(self, item: Element) -> Thing:
        if self.blind:
            label = (item.name or item.text).strip()
            kind = _kind(item.role, item.tag, item.bbox, has_words=bool(label))
            return Thing(kind, _nouns(kind, ""), label, item.bbox, frozenset(), item)
        content = self._content(item.bbox)
        words = self._words(content)
        has_words = any(self.sights[n].text for n in content)
        if not item.interactive and not same_words(words, item.text):
            words = ""  # some of the words belong to things inside it
        kind = _kind(item.role, item.tag, item.bbox, has_words=has_words)
        nouns, box = _nouns(kind, words), item.bbox
        if kind == TEXT and content and not item.interactive:
            box = _around([self.sights[n].bbox for n in content])
        label = words if words or kind in PLAIN else self._beside(item)
        return Thing(kind, nouns, label, box, content, item)

    def _beside(self, item: Element) -> str:
        """Return the name of a control if the picture shows it beside or right above it."""
        left, top, width, _ = item.bbox
        for one in self.sights:
            x, y, wide, high = one.bbox
            gap = max(x - left - width, left - x - wide)
            in_row = is_level(one.bbox, item.bbox)
            above = abs(x - left) <= _BESIDE and 0 <= top - y - high <= _ABOVE
            if same_words(one.text, item.name) and (above or (in_row and gap <= _BESIDE)):
                return one.text
        return ""

    def _merge(self, found: Sequence[Thing]) -> list[Thing]:
        """Return things that are not one another, and the sights that are in none of them alone."""
        things: list[Thing] = []
        showing: dict[frozenset[int], int] = {}
        drawn = [self._of_sight(index) for index in range(len(self.sights))]
        for one in [*found, *drawn]:
            at = showing.get(one.content)
            if not one.content:
                at = next((n for n, other in enumerate(things) if is_same(one, other)), None)
            if at is not None:
                things[at] = _join(things[at], one)
                continue
            if one.content:
                showing[one.content] = len(things)
            things.append(one)
        return things

    def _of_sight(self, index: int) -> Thing:
        one = self.sights[index]
        kind = _kind("", "", one.bbox, has_words=bool(one.text))
        content = self._content(one.bbox) | {index}
        return Thing(kind, _nouns(kind, one.text), one.text, one.bbox, content, None)


def is_same(one: Thing, other: Thing) -> bool:
    """Return whether two things are one: they show the same, or their boxes are the same."""
    if one.content or other.content:
        return one.content == other.content
    return _overlap(one.box, other.box) > _SAME


def is_part(one: Thing, whole: Thing) -> bool:
    """Return whether all that a thing shows is in another one, so that pointing there is no other act."""
    if one.content:
        return one.content <= whole.content
    return contains(whole.box, centre(one.box))


def _join(one: Thing, other: Thing) -> Thing:
    """Return two things as one: the more telling noun, with its box."""
    told = [item for item in (one, other) if item.kind not in PLAIN] or [one, other]
    known = [item for item in told if item.element is not None] or told
    usable = [item for item in known if item.element and item.element.interactive] or known
    best = min(usable, key=lambda item: item.box[2] * item.box[3])
    label, nouns = one.label or other.label, one.nouns | other.nouns
    return Thing(told[0].kind, nouns, label, best.box, one.content, best.element)


def _kind(role: str, tag: str, box: Box, *, has_words: bool) -> str:
    known = _ROLES.get(role) or _SHAPES.get(tag) or (None if role else _TAGS.get(tag))
    if known is not None:
        return known
    if has_words:
        return TEXT
    return ICON if max(box[2:]) <= _ICON_PX else BOX


def _nouns(kind: str, words: str) -> frozenset[str]:
    nouns = {kind}
    if words:
        nouns.add(TEXT)
    if kind in _BOXES:
        nouns.add(BOX)
    if kind in _SHAPES.values():
        nouns.add("shape")
    return frozenset(nouns)


def _tells(item: Element, goal: str) -> bool:
    """Return whether an element has the words of a goal and no others: all in order, or most."""
    words, told = item.name.casefold().split(), goal[:_NAME_LENGTH].casefold().split()
    if len(item.name) >= _NAME_LENGTH:
        words.pop()  # it may be cut
    rest = iter(goal.casefold().split())
    most = len(words) >= max(_GOAL_WORDS, _GOAL_PART * len(told))
    return most and all(word in rest for word in words)


def _overlap(one: Box, other: Box) -> float:
    """Return the part of the area of two boxes that they share."""
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    shared = max(0.0, width) * max(0.0, height)
    return shared / max(1e-9, one[2] * one[3] + other[2] * other[3] - shared)


def _around(boxes: Sequence[Box]) -> Box:
    left, top = min(one[0] for one in boxes), min(one[1] for one in boxes)
    right = max(one[0] + one[2] for one in boxes)
    bottom = max(one[1] + one[3] for one in boxes)
    return left, top, right - left, bottom - top
