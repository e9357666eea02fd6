"""The page's elements as BrowserGym tells them: a tree of accessibility, a document, and what is known of each.

Stepmill tells elements as lines, `button "Save" at 120,48`, those in sight alone. Each gets an id of this observation, and
stands in the tree right below the root. Of its box only the middle is known, so its box is one px wide and high.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

Json = dict[str, Any]

_LINE = re.compile(
    r'(?P<role>\S+) "(?P<name>.*?)"(?: = "(?P<value>.*)")? at (?P<x>-?\d+),(?P<y>-?\d+)', re.DOTALL
)
_ELEMENT, _TEXT = 1, 3
"""Types of nodes of a document."""


class ToldElement(NamedTuple):
    """An element."""

    bid: str
    """Its id in this observation."""
    role: str
    """Its role, or its tag where it has none."""
    name: str
    """Its name, or its text."""
    value: str | None
    """What it holds; None: it is nothing that holds a value."""
    x: float
    """Its middle, CSS px from the left."""
    y: float
    """Its middle, CSS px from the top."""


def read_elements(lines: Sequence[str]) -> list[ToldElement]:
    """Return the elements that lines tell; a line that is none is left out."""
    found = [match for line in lines if (match := _LINE.fullmatch(line))]
    return [
        ToldElement(
            bid=str(number),
            role=match["role"],
            name=match["name"],
            value=match["value"],
            x=float(match["x"]),
            y=float(match["y"]),
        )
        for number, match in enumerate(found)
    ]


def axtree_of(elements: Sequence[ToldElement], title: str) -> Json:
    """Return the tree of accessibility."""
    children = [f"n{one.bid}" for one in elements]
    root = {
        "nodeId": "root",
        "role": {"type": "role", "value": "RootWebArea"},
        "name": {"type": "computedString", "value": title},
        "properties": [],
        "childIds": children,
    }
    return {"nodes": [root, *(_node_of(one) for one in elements)]}


def _node_of(element: ToldElement) -> Json:
    node: Json = {
        "nodeId": f"n{element.bid}",
        "role": {"type": "role", "value": element.role},
        "name": {"type": "computedString", "value": element.name},
        "properties": [],
        "childIds": [],
        "browsergym_id": element.bid,
    }
    if element.value is not None:
        node["value"] = {"type": "string", "value": element.value}
    return node


def document_of(elements: Sequence[ToldElement]) -> Json:
    """Return a snapshot of a document with the elements, as DevTools makes them; tags are roles."""
    strings: list[str] = []

    def place(text: str) -> int:
        strings.append(text)
        return len(strings) - 1

    nodes = [(place("html"), -1, _ELEMENT, -1, list[int]())]
    for one in elements:
        value = [] if one.value is None else [place("value"), place(one.value)]
        nodes.append((place(one.role), 0, _ELEMENT, -1, [place("bid"), place(one.bid), *value]))
        nodes.append((place("#text"), len(nodes) - 1, _TEXT, place(one.name), []))
    names, parents, types, values, attributes = map(list, zip(*nodes, strict=True))
    return {
        "documents": [
            {
                "nodes": {
                    "nodeName": names,
                    "parentIndex": parents,
                    "nodeType": types,
                    "nodeValue": values,
                    "attributes": attributes,
                    "contentDocumentIndex": {"index": [], "value": []},
                }
            }
        ],
        "strings": strings,
    }


def properties_of(elements: Sequence[ToldElement], scale: float) -> Json:
    """Return what BrowserGym knows of each element, by its id; boxes in px of the picture."""
    return {
        one.bid: {
            "visibility": 1.0,
            "bbox": [one.x * scale - 0.5, one.y * scale - 0.5, 1.0, 1.0],
            "clickable": True,
            "set_of_marks": False,
        }
        for one in elements
    }
