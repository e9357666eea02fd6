"""The pictures of a check: coloured shapes at known places, and made-up pages.

Each shape has a colour of its own, which its task names in words and as `#rrggbb`. The shapes are
symmetric, so the centre of the colour is the point to click.
"""

import io
from collections.abc import Sequence
from random import Random

from PIL import Image, ImageDraw

from generators.engine.protocol import Picture
from schemas.base import Record

QUALITY = 95
"""Quality of the JPEGs: high, so that each colour stays the one that its task names."""

_PAPER = "#f4f4f4"


class ProbeTarget(Record):
    """A shape on a picture."""

    colour: str
    """The colour, as `#rrggbb`."""
    words: str
    """The colour and the shape in words."""
    across: float
    """Position of its centre, as a part of the width."""
    down: float
    """Position of its centre, as a part of the height."""


TARGETS = tuple(
    ProbeTarget(colour=colour, words=words, across=across, down=down)
    for colour, words, across, down in (
        ("#d02020", "red circle", 0.12, 0.20),
        ("#20a020", "green square", 0.45, 0.10),
        ("#2030d0", "blue diamond", 0.83, 0.17),
        ("#e0b000", "yellow circle", 0.20, 0.55),
        ("#9020b0", "purple square", 0.55, 0.47),
        ("#00a0b0", "turquoise diamond", 0.91, 0.62),
        ("#704010", "brown circle", 0.09, 0.89),
        ("#f080a0", "pink square", 0.52, 0.83),
        ("#ff8000", "orange diamond", 0.78, 0.92),
        ("#80d040", "light green circle", 0.34, 0.33),
    )
)
"""Spread so that a wrong convention is far off at most of them."""


def target_radius(size: tuple[int, int]) -> int:
    """Return how far a target reaches from its middle on a picture of that size, px."""
    return min(size) // 60


def target_board(size: tuple[int, int], targets: Sequence[ProbeTarget] = TARGETS) -> Picture:
    """Return a picture of that size with the targets on it."""
    width, height = size
    picture = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(picture)
    radius = target_radius(size)
    for target in targets:
        x, y = target.across * width, target.down * height
        box = (x - radius, y - radius, x + radius, y + radius)
        if "circle" in target.words:
            draw.ellipse(box, fill=target.colour)
        elif "square" in target.words:
            draw.rectangle(box, fill=target.colour)
        else:
            corners = ((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y))
            draw.polygon(corners, fill=target.colour)
    return _jpeg(picture)


def filler_page(size: tuple[int, int], *, seed: str, step: int = 0) -> Picture:
    """Return a picture of bars that resembles a page; each seed gives another one."""
    rng = Random(seed)
    width, height = size
    picture = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(picture)
    for top in range(height // 20, height, max(8, height // 12)):
        left = rng.randrange(max(1, width // 3))
        right = left + rng.randrange(max(2, width // 2))
        shade = rng.randrange(0x30, 0xD0), rng.randrange(0x30, 0xD0), 0xC0
        draw.rectangle((left, top, right, top + height // 24), fill=shade)
    return _jpeg(picture, step=step)


def _jpeg(picture: Image.Image, *, step: int = -1) -> Picture:
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=QUALITY, subsampling=0)
    width, height = picture.size
    return Picture(jpeg=out.getvalue(), step=step, width=width, height=height)
