"""Rows of a list in sight: which element is the row of a name, whether all of it is in sight, and what it says."""

import re
from collections.abc import Sequence

from generators.browser.protocol import Node
from generators.policy.element_names import ROWS, words
from generators.policy.sight import Sight
from generators.policy.window import is_within
from schemas.tasks.reference import Fact

_HOLDERS = {"ul", "ol", "tbody", "table", "main", "section", "form", "dialog", "body", "html"}
"""Tags of elements that hold several rows."""


def row_of(node: Node, sight: Sight) -> Node:
    """Return the row, entry or card that an element is in."""
    path = sight.page.window.path_to(node)
    row = node
    for one in reversed(path[:-1]):
        if one.tag in _HOLDERS:
            break
        row = one
        if one.tag in ROWS:
            break
    return row


def rows_like(row: Node, sight: Sight) -> Sequence[Node]:
    """Return the other rows of a row's list, as far as they were seen."""
    path = sight.page.window.path_to(row)
    beside = path[-2].children if len(path) > 1 else []
    return [one for one in beside if one is not row and one.tag == row.tag and one.text]


def is_whole(node: Node, sight: Sight) -> bool:
    """Return whether the whole of an element is in sight, or as much as there is room for."""
    return is_within(node, sight.page.window.view(node))


def says(node: Node, fact: Fact) -> bool:
    """Return whether an element's text has a fact's value as words of its own; without a value all do."""
    if fact.value is None:
        return True
    said = re.escape(words(fact.value))
    return re.search(rf"(?<!\w){said}(?!\w)", words(node.text)) is not None


def is_label_written(label: str, sight: Sight) -> bool:
    """Return whether a picture shows a label, by itself or before its value."""
    shown = (words(one.own_text) for one in sight.page.front.walk() if one.point is not None)
    return any(label in text for text in shown)
