"""What of a picture can be remarked on: its rows, entries, facts, messages, fields, and where something stands in it.

Only what is wholly in sight counts, as the policy sees it.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from generators.browser.protocol import Node
from generators.policy.element_names import ROWS, is_field, words
from generators.policy.listed_rows import is_whole
from generators.policy.sight import Sight
from schemas.episodes.action import Action, Click, Drag, Hover, Select, TypeText, target_point
from schemas.tasks.reference import Do, ReferenceStep

LONGEST = 90
"""Longer texts are not quoted in remarks, in characters."""

_MESSAGES = {"status", "alert"}
_CLOSE = re.compile(r"[\s×.。]+$")
"""What stands behind a message: the mark that closes it, and the point of its sentence."""

_LISTS = {"tbody", "ul", "ol", "div"}
_ROWS = {"tr", "li"}
_BOXES = {"radio", "checkbox"}
_LETTER = re.compile(r"[^\W\d_]")
_TEXTS = {"text", "search", "number", "email", "tel", "url"}
_FIELD_ROLES = {"textbox", "searchbox", "spinbutton", "combobox"}
_LINKS = {"a", "summary"}

_NARROW, _WIDE, _FIRST_WIDE = 10.0, 20.0, 0x2E80
"""The width of a letter at most, px, and of those of East Asia, which have code points from here on."""

_PLACES = (
    ("at the top left", "at the top", "at the top right"),
    ("on the left", "in the middle", "on the right"),
    ("at the bottom left", "at the bottom", "at the bottom right"),
)
"""Parts of a window, from its top and from its left."""

_THIRDS = ((-1.0, 0.27), (0.38, 0.62), (0.73, 2.0))
"""Where each of three parts plainly is, as shares of a length; what lies between them is called nothing."""


def target_of(action: Action, sight: Sight) -> Node | None:
    """Return the element that an action's point is on, the innermost; None: it has no point, or nothing is there."""
    at = target_point(action)
    held = [one for one in sight.page.front.walk() if one.point is not None and one.point == at]
    return held[-1] if held else None


def is_on_field(action: Action, sight: Sight) -> bool:
    """Return whether an action is on a field, or on what has no words: a thought names nothing beside it."""
    if isinstance(action, TypeText | Select):
        return True
    target = target_of(action, sight)
    if target is None or not target.text:
        return target_point(action) is not None
    return is_field(target) or target.attrs.get("role") in _FIELD_ROLES


def may_name_others(action: Action, thought: str, sight: Sight) -> bool:
    """Return whether other things than that which an action is on can be named beside a thought: it tells them apart."""
    if is_on_field(action, sight):
        return False
    target = target_of(action, sight)
    points = isinstance(action, Click | Hover | Drag)
    if not points:
        return True
    name = "" if target is None else words(target.text)
    return any(map(str.isalnum, name)) and f'"{name}"' in thought


def place_of(action: Action, sight: Sight) -> str:
    """Return where in the window an action is; empty: between two of the places that have a name."""
    x, y = target_point(action) or (0.0, 0.0)
    width, height = sight.page.root.inner
    down, across = _third(y / height), _third(x / width)
    return "" if down is None or across is None else _PLACES[down][across]


def _third(share: float) -> int | None:
    """Return the third of a length that a share of it is plainly in; None: it is in none."""
    return next((at for at, (first, last) in enumerate(_THIRDS) if first <= share <= last), None)


def heading_of(sight: Sight) -> str | None:
    """Return the page's heading; None: none is in sight, or something covers a part of it."""
    heading = sight.page.window.heading
    cut = {one.text for one in sight.page.root.walk() if one.tag == "h1" and one.is_cut}
    return _short(heading[0]) if heading is not None and heading[0] not in cut else None


def messages(sight: Sight) -> Iterator[str]:
    """Yield what the page says of what was done."""
    for one in sight.elements():
        said = _short(_CLOSE.sub("", words(one.text)))
        if one.attrs.get("role") in _MESSAGES and said is not None:
            yield said.replace('"', "'")


class Rows(NamedTuple):
    """The rows of the longest list in front."""

    links: list[Node]
    """The link of each row that is wholly in sight, each of another name."""
    are_all: bool
    """Whether no other row of it is in sight in part."""
    is_alone: bool
    """Whether no other list is in sight."""
    are_below: bool
    """Whether each stands below the one before, and not beside it as a card."""

    @property
    def names(self) -> list[str]:
        """The words of the links."""
        return [words(one.text) for one in self.links]


def rows(sight: Sight) -> Rows:
    """Return the rows of the longest list in front."""
    pager = sight.page.pager()
    alike = [
        [entry for entry in entries_alike if any(part.point for part in entry.walk())]
        for one in sight.page.front.walk()
        if one.tag in _LISTS and one is not pager and not sight.page.is_in_navigation(one)
        for entries_alike in _alike(one)
    ]
    lists = [[(link, row) for row in shown for link in _link(row)] for shown in alike]
    at = max(range(len(lists)), key=lambda one: len(lists[one]), default=None)
    longest, in_sight = ([], []) if at is None else (lists[at], alike[at])
    whole = [one for one, row in longest if sight.holds(one) and is_whole(row, sight)]
    others = (one for one in lists if len(one) > 1 and not any(each in longest for each in one))
    named = {words(one.text): one for one in reversed(whole) if _is_name(one.text)}
    links = list(reversed(named.values()))
    return Rows(
        links,
        are_all=len(links) == len(in_sight),
        is_alone=next(others, None) is None,
        are_below=all(one.box[1] < other.box[1] for one, other in pairwise(links)),
    )


def _alike(holder: Node) -> Iterator[list[Node]]:
    """Yield the entries of a list that are of one kind: rows of a table or list, or boxes of one class."""
    kinds: dict[str, list[Node]] = {}
    for one in holder.children:
        names = [] if one.tag in _ROWS else one.attrs.get("class", "").split()
        kinds.setdefault(" ".join((one.tag, *names[:1])), []).append(one)
    yield from kinds.values()


def _link(entry: Node) -> Iterator[Node]:
    """Yield the first link of an entry of a list, if any of it is in sight."""
    links = (one for one in entry.walk() if one.tag == "a" and one.text)
    link = next((one for one in links if one.attrs.get("role") != "button"), None)
    if link is not None and link.shown and link.point is not None:
        yield link


def neighbours(target: Node, listed: list[Node]) -> tuple[str, str] | None:
    """Return the names of the rows just above and below one; None: one of them is not in sight."""
    for one, middle, other in zip(listed, listed[1:], listed[2:], strict=False):
        is_one = words(middle.text) == words(target.text)
        if is_one and one.box[1] < middle.box[1] < other.box[1]:
            return words(one.text), words(other.text)
    return None


def entries(target: Node | None, sight: Sight) -> list[str]:
    """Return the other entries of the navigation that an element is an entry of, nearest first."""
    if target is None or not sight.page.is_in_navigation(target):
        return []
    others = [
        one
        for one in sight.elements()
        if one.tag in _LINKS and one is not target and sight.page.is_in_navigation(one)
    ]
    others.sort(key=lambda one: abs(one.box[0] - target.box[0]) + abs(one.box[1] - target.box[1]))
    named = (words(one.text) for one in others if _is_name(one.text))
    return [one for one in dict.fromkeys(named) if one != words(target.text)]


def facts(sight: Sight) -> Iterator[tuple[str, str]]:
    """Yield the labels with their values that a page says of one thing, and not of each row of a list."""
    for one in sight.page.front.walk():
        for label, value in pairwise(one.children):
            is_pair = (label.tag, value.tag) == ("dt", "dd")
            if not (is_pair and sight.holds(label) and sight.holds(value)):
                continue
            is_listed = any(each.tag in ROWS for each in sight.page.window.path_to(label))
            has_several = sum(bool(each.own_text) for each in value.walk()) > 1
            said, told = _short(label.text), _short(value.text)
            if said and told and not (is_listed or has_several):
                yield said, told


def has_page_beside(sight: Sight) -> bool:
    """Return whether the page of a row stands beside its list."""
    parts = (one for one in sight.page.front.walk() if one.tag == "aside")
    return any(each.tag == "dt" for one in parts for each in one.walk())


def labels(sight: Sight) -> list[str]:
    """Return the labels of the fields of a form that changes something, from its top; none if it has boxes to tick too."""
    forms = (one for one in sight.page.front.walk() if one.tag == "form")
    posts = (one for one in forms if one.attrs.get("method", "get").casefold() == "post")
    parts = [one for form in posts for one in form.walk()]
    boxes = [one for one in parts if one.attrs.get("type") in _BOXES]
    if any(one.point is not None for one in boxes):
        return []
    ids = {one.attrs["id"] for one in boxes if "id" in one.attrs}
    named = (
        words(one.text).rstrip(" *:")
        for one in parts
        if one.tag in {"label", "legend"} and sight.holds(one) and _is_name(one.text)
        if one.attrs.get("for") not in ids and not any(each in boxes for each in one.walk())
    )
    return list(dict.fromkeys(named))


def content(target: Node) -> str | None:
    """Return what a field holds, empty: nothing; None: that is not written in it, or too long."""
    is_list = target.tag == "select"  # whose value is none of the words that it shows
    value = words(target.selected or "") if is_list else words(target.value or "")
    is_text = target.tag == "textarea" or target.attrs.get("type", "text") in _TEXTS
    if is_list:
        return _short(value)
    return (_short(value) if value else "") if is_text and is_field(target) else None


def may_be_cut(text: str, field: Node) -> bool:
    """Return whether a field may be too narrow for all of what it holds, so that the picture shows its beginning alone."""
    width = sum(_WIDE if ord(one) >= _FIRST_WIDE else _NARROW for one in text)
    return field.tag != "textarea" and width > field.box[2]


def holds_text(label: str, text: str, sight: Sight) -> bool:
    """Return whether a field of a label is wholly in sight and shows just this text."""
    field = sight.page.find(ReferenceStep(do=Do.TYPE, on=label, text=text))
    return field is not None and sight.holds(field) and content(field) == words(text) != ""


def _short(text: str) -> str | None:
    """Return a text with its white space collapsed; None: it is empty or too long to be quoted."""
    said = words(text)
    return said if 0 < len(said) <= LONGEST and '"' not in said else None


def _is_name(text: str) -> bool:
    """Return whether a text may be quoted as a name: it has two letters, and is no number of a day or a page."""
    return _short(text) is not None and len(_LETTER.findall(text)) > 1
