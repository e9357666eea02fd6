"""Points and picture sizes: from a model's numbers to CSS pixels and back.

A screenshot is resized before it is sent, by the rule that the model family was trained with, and the
model gives points in one of four conventions. `Frame` has the three sizes between which a point is
converted.
"""

import math
from enum import StrEnum

from pydantic import Field

from schemas.base import Record
from schemas.episodes.viewport import Viewport


class Convention(StrEnum):
    """The meaning of a point's numbers."""

    PX = "px"
    """Pixels of the screenshot as it was taken."""
    RESIZED = "resized"
    """Pixels of the picture as it was sent."""
    THOUSAND = "0-1000"
    """Thousandths of the picture, whole numbers."""
    UNIT = "0-1"
    """Parts of the picture, with decimals."""


class Frame(Record):
    """The sizes between which points are converted."""

    viewport_width: int = Field(ge=1)
    """CSS px."""
    viewport_height: int = Field(ge=1)
    """CSS px."""
    picture_width: int = Field(ge=1)
    """Width of the screenshot as taken, px."""
    picture_height: int = Field(ge=1)
    """Height of the screenshot as taken, px."""
    sent_width: int = Field(ge=1)
    """Width of the picture as sent, px."""
    sent_height: int = Field(ge=1)
    """Height of the picture as sent, px."""
    scale: float | None = None
    """Picture px per CSS px; a model's point is put on the nearest of them. None: it stays between them."""

    @property
    def sent_size(self) -> tuple[int, int]:
        """Width and height of the picture as sent, px."""
        return self.sent_width, self.sent_height

    def span(self, convention: Convention) -> tuple[float, float]:
        """Return the coordinates of the picture's right and bottom edges in a convention."""
        match convention:
            case Convention.PX:
                return float(self.picture_width), float(self.picture_height)
            case Convention.RESIZED:
                return float(self.sent_width), float(self.sent_height)
            case Convention.THOUSAND:
                return 1_000.0, 1_000.0
            case Convention.UNIT:
                return 1.0, 1.0

    def to_css(self, convention: Convention, x: float, y: float) -> tuple[float, float]:
        """Return the CSS point of a model's point; the far edges belong to the last pixel."""
        across, down = self.span(convention)
        return (
            self._on_pixel(
                _scale_within(x, of=across, size=self.viewport_width), self.picture_width
            ),
            self._on_pixel(
                _scale_within(y, of=down, size=self.viewport_height), self.picture_height
            ),
        )

    def _on_pixel(self, css: float, pixels: int) -> float:
        """Return the nearest whole px of the picture as CSS px."""
        return css if self.scale is None else min(round(css * self.scale), pixels - 1) / self.scale

    def from_css(self, convention: Convention, x: float, y: float) -> tuple[float, float]:
        """Return a CSS point in a model's convention: whole numbers, or four decimals for fractions.

        The result is never the picture's far edge, because `to_css` takes that for the last pixel: a
        point that would be rounded to an edge gets the last value before it, which converts back
        to itself.
        """
        across, down = self.span(convention)
        digits = 4 if convention is Convention.UNIT else 0
        return (
            _round_within(x / self.viewport_width * across, of=across, digits=digits),
            _round_within(y / self.viewport_height * down, of=down, digits=digits),
        )


def frame_of(viewport: Viewport, sent: tuple[int, int]) -> Frame:
    """Return the frame of a viewport whose pictures are sent in this size, px."""
    taken = viewport.picture
    return Frame(
        viewport_width=viewport.width,
        viewport_height=viewport.height,
        picture_width=taken[0],
        picture_height=taken[1],
        sent_width=sent[0],
        sent_height=sent[1],
        scale=viewport.scale,
    )


def _round_within(value: float, *, of: float, digits: int) -> float:
    """Return `value` rounded, but below the end of the span `of`."""
    return round(min(round(value, digits), of - 10.0**-digits), digits)


def _scale_within(value: float, *, of: float, size: int) -> float:
    """Return `value`, which is part of a span, as part of `size`; the far edge is the last pixel."""
    return size - 1.0 if value == of else value / of * size


def smart_resize(
    width: int, height: int, *, factor: int, min_pixels: int, max_pixels: int
) -> tuple[int, int]:
    """Return the size that Qwen-VL processors resize to: multiples of `factor`, area in bounds.

    Source: `smart_resize` of the Qwen2-VL image processor, as H Company's cookbook uses it.
    """
    wide = max(factor, round(width / factor) * factor)
    high = max(factor, round(height / factor) * factor)
    if wide * high > max_pixels:
        shrink = math.sqrt(width * height / max_pixels)
        wide = max(factor, math.floor(width / shrink / factor) * factor)
        high = max(factor, math.floor(height / shrink / factor) * factor)
    elif wide * high < min_pixels:
        grow = math.sqrt(min_pixels / (width * height))
        wide = math.ceil(width * grow / factor) * factor
        high = math.ceil(height * grow / factor) * factor
    return wide, high
