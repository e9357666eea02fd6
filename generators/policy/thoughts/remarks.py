"""Remarks: what a picture shows beside the reason for an action, as its heading, a message, rows, or what a field holds."""

import re
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from generators.browser.protocol import Node
from generators.policy.element_names import words
from generators.policy.sight import Sight
from generators.policy.thoughts.vary import sentences, vary
from schemas.episodes.action import (
    Action,
    Answer,
    Click,
    Drag,
    Hover,
    Scroll,
    Select,
    TypeText,
    target_point,
)

_LONGEST = 90
"""Longer texts are not quoted in remarks, in characters."""

_MESSAGES = {"status", "alert"}
_CLOSE = re.compile(r"[\s×.]+$")
"""What stands behind a message: the mark that closes it, and the point of its sentence."""

_LISTS = {"tbody", "ul", "ol", "div"}
_TEXTS = {"text", "search", "number", "email", "tel", "url"}
_FEWEST = 3
"""So many rows make a list of which something is said."""

_PLACES = (
    ("at the top left", "at the top", "at the top right"),
    ("on the left", "in the middle", "on the right"),
    ("at the bottom left", "at the bottom", "at the bottom right"),
)
"""Parts of a window, in thirds, from its top and from its left."""


class Remark(NamedTuple):
    """A remark, without its words."""

    key: str
    """Which sentences say it."""
    name: str
    """What it is about, as the picture shows it."""
    other: str = ""
    """A second such text; empty: there is none."""


def remark(
    action: Action, thought: str, sight: Sight, random: Random, *, is_new_page: bool, label: str
) -> str:
    """Return a thought with a remark on the picture, drawn from what it shows; as it was where there is nothing to say.

    Args:
        action: what is done.
        thought: the reason for it.
        sight: the picture.
        random: draws the remark and its words.
        is_new_page: whether the page was not in the picture before.
        label: the words by which the step names its element; empty: it has none.
    """
    found = list(_remarks(action, sight, is_new_page=is_new_page, label=label))
    found = [one for one in found if f'"{one.name}"' not in thought or one.key == "holds"]
    if not found:
        return thought
    one = random.choice(found)
    said = vary(random.choice(sentences("remarks")[one.key]), random)
    said = said.format(name=one.name, other=one.other, place=one.name)
    return f"{thought} {said}" if one.key == "place" else f"{said} {thought}"


def _remarks(action: Action, sight: Sight, *, is_new_page: bool, label: str) -> Iterator[Remark]:
    """Yield what can be said; beside what is done to a field nothing else that can be clicked is named."""
    if isinstance(action, Click | Hover | Drag):
        yield Remark("place", _place(action, sight))
    if is_on_field(action, sight):
        yield from _content(action, sight, label)
        return
    heading = sight.page.window.heading
    if is_new_page and heading is not None and len(heading[0]) <= _LONGEST:
        yield Remark("arrived", words(heading[0]))
    for one in sight.elements():
        if one.attrs.get("role") in _MESSAGES and one.text and len(one.text) <= _LONGEST:
            said = _CLOSE.sub("", words(one.text))
            yield Remark("told", said.replace('"', "'"))
    if isinstance(action, Scroll | Answer) or not sight.page.is_in_navigation(
        _target(action, sight)
    ):
        yield from _rows(sight)


def is_on_field(action: Action, sight: Sight) -> bool:
    """Return whether an action is on something that no text in the picture names: a thought names nothing beside it."""
    if isinstance(action, TypeText | Select):
        return True
    target = _target(action, sight)
    return target_point(action) is not None and (target is None or not target.text)


def _content(action: Action, sight: Sight, label: str) -> Iterator[Remark]:
    """Yield what a field holds before it is filled."""
    target = _target(action, sight)
    if target is None or not label or label[:1] in {"#", "."}:
        return
    value = words(target.value or target.selected or "")
    is_text = target.tag == "textarea" or target.attrs.get("type", "text") in _TEXTS
    if not value and is_text and target.tag != "select":
        yield Remark("empty", label)
    elif value and len(value) <= _LONGEST and (is_text or target.tag == "select"):
        yield Remark("holds", label, value)


def _rows(sight: Sight) -> Iterator[Remark]:
    """Yield the first and the last row, wholly in sight, of the longest list in front."""
    pager = sight.page.pager()
    lists = [
        [words(link.text) for entry in one.children for link in _link(entry, sight)]
        for one in sight.page.front.walk()
        if one.tag in _LISTS and one is not pager and not sight.page.is_in_navigation(one)
    ]
    longest = max(lists, key=len, default=[])
    named = [one for one in dict.fromkeys(longest) if len(one) <= _LONGEST]
    if len(named) >= _FEWEST:
        yield Remark("rows", named[0], named[-1])


def _link(entry: Node, sight: Sight) -> Iterator[Node]:
    """Yield the first link of an entry of a list, if it is wholly in sight."""
    link = next((one for one in entry.walk() if one.tag == "a" and one.text), None)
    if link is not None and sight.holds(link):
        yield link


def _target(action: Action, sight: Sight) -> Node | None:
    """Return the element that an action's point is on, the innermost; None: it has no point, or nothing is there."""
    at = target_point(action)
    held = [one for one in sight.page.front.walk() if one.point is not None and one.point == at]
    return held[-1] if held else None


def _place(action: Action, sight: Sight) -> str:
    x, y = target_point(action) or (0.0, 0.0)
    width, height = sight.page.root.inner
    down, across = (min(2, max(0, int(at * 3 / size))) for at, size in ((y, height), (x, width)))
    return _PLACES[down][across]
