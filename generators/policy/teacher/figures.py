"""What is drawn in a grid of figures: letters, digits and shapes, told apart as words do it.

A goal names some by size, colour and kind, each of which it may leave out.
"""

import re
from dataclasses import dataclass

from generators.browser.protocol import Node
from generators.policy.teacher.page import Lost, Page

SMALL_PX = 15
"""A figure drawn no larger than this is small, any other large."""

COLOURS = frozenset({"red", "green", "blue", "aqua", "black", "magenta", "yellow"})
"""The colours figures are drawn in."""

_SHAPES = {"circle": "circle", "rect": "rectangle", "polygon": "triangle"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One letter, digit or shape."""

    node: Node
    """Where it is."""
    name: str
    """The letter, the digit, or which shape."""
    kind: str
    """`letter`, `digit` or `shape`."""
    colour: str
    """By name."""
    size: str
    """`small` or `large`."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Which figures a goal means; None where it leaves that open."""

    size: str | None
    """`small` or `large`."""
    colour: str | None
    """By name."""
    what: str | None
    """A name or a kind."""

    def fits(self, figure: Figure) -> bool:
        """Say whether a figure is meant."""
        return (
            self.size in (None, figure.size)
            and self.colour in (None, figure.colour)
            and self.what in (None, figure.name, figure.kind)
        )


def figures(page: Page) -> list[Figure]:
    """Return the figures on the page, in the order they were drawn; empty frames are none."""
    return [
        _figure(node)
        for node in page.all("text", *_SHAPES)
        if node.attrs.get("fill", "none") != "none"
    ]


def _figure(node: Node) -> Figure:
    name = _SHAPES.get(node.tag, node.text)
    size = float(node.style["font-size"].removesuffix("px")) if node.tag == "text" else node.box[2]
    kind = "shape" if node.tag in _SHAPES else "digit" if name.isdigit() else "letter"
    return Figure(
        node=node,
        name=name,
        kind=kind,
        colour=node.attrs["fill"],
        size="small" if size <= SMALL_PX else "large",
    )


def wish(text: str) -> Wish:
    """Return which figures a description means, as `large red circle` or `small item`.

    Raises:
        Lost: it is no description.
    """
    colours = "|".join(sorted(COLOURS))
    found = re.fullmatch(rf"(?:(small|large) )?(?:({colours}) )?(\w+)", text.strip())
    if found is None:
        raise Lost(f"'{text}' describes no figure I know")
    size, colour, what = found.groups()
    return Wish(size=size, colour=colour, what=None if what == "item" else what)
