"""What the numbers of points mean, told from points that a model gave for places that are known.

A reading is one way to understand the numbers: each says what the far edges of a picture are
called. Which one is right is seen from the distances that are left. All of it is arithmetic.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import Protocol

from generators.endpoint_check.probe_images import Target
from generators.policy.dialects.coordinates import Convention, Frame, smart_resize
from schemas.base import Record

SIZE = (1_616, 1_264)
"""Of the picture with the targets: there no two readings have edges near each other's, but for
pixels and patches of 32, which part by 1 % in opposite directions."""

NEAR = 0.02
"""Of the picture's diagonal: a point so near is on its target."""

ENOUGH = 0.75
"""Share of points on their targets with which a reading fits."""

Point = tuple[float, float]
"""The two numbers of a point, as they were said."""


class Reading(Protocol):
    """One way to understand the numbers of a point."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    def span(self, width: int, height: int) -> tuple[float, float]:
        """Return what the far edges of a picture sent at that size are called."""
        ...


class Pixels(Record):
    """Pixels of the picture as it was sent."""

    name: str = "pixels"
    """For people."""

    def span(self, width: int, height: int) -> tuple[float, float]:
        """Return the size itself."""
        return float(width), float(height)


class Patches(Record):
    """Pixels of the picture after a Qwen-VL processor has resized it."""

    name: str
    """For people."""
    factor: int
    """Side of a patch, px."""
    least: int
    """Pixels."""
    most: int
    """Pixels."""

    def span(self, width: int, height: int) -> tuple[float, float]:
        """Return the size after that."""
        wide, high = smart_resize(
            width, height, factor=self.factor, min_pixels=self.least, max_pixels=self.most
        )
        return float(wide), float(high)


class Parts(Record):
    """Parts of the picture, whatever its size."""

    name: str
    """For people."""
    edge: float
    """What the far edges are called."""

    def span(self, width: int, height: int) -> tuple[float, float]:
        """Return the edge, twice."""
        del width, height
        return self.edge, self.edge


READINGS: tuple[Reading, ...] = (
    Pixels(),
    Patches(name="pixels resized to patches of 28", factor=28, least=56**2, most=1_280 * 28**2),
    Patches(
        name="pixels resized to patches of 32", factor=32, least=64 * 32**2, most=16_384 * 32**2
    ),
    Parts(name="0-1000", edge=1_000.0),
    Parts(name="0-1", edge=1.0),
)
"""Every way that models are known to have."""


class ReadingFit(Record):
    """How well a reading fits."""

    reading: str
    """Its name."""
    error: float
    """Median distance from the targets, part of the picture's diagonal."""
    share_near: float
    """Share of points on their targets."""

    @property
    def is_good(self) -> bool:
        """Enough points are on their targets."""
        return self.share_near >= ENOUGH


def fit_readings(said: Sequence[tuple[Target, Point]]) -> tuple[ReadingFit, ...]:
    """Return how well each reading fits the points said for targets of a picture of `SIZE`."""
    return tuple(sorted((_fit(reading, said) for reading in READINGS), key=lambda fit: fit.error))


def _fit(reading: Reading, said: Sequence[tuple[Target, Point]]) -> ReadingFit:
    (width, height), (across, down) = SIZE, reading.span(*SIZE)
    diagonal = math.hypot(width, height)
    apart = [
        math.hypot((x / across - target.across) * width, (y / down - target.down) * height)
        / diagonal
        for target, (x, y) in said
    ]
    near = sum(distance <= NEAR for distance in apart) / len(apart)
    return ReadingFit(reading=reading.name, error=median(apart), share_near=near)


def matching_conventions(reading: str, frame: Frame) -> tuple[Convention, ...]:
    """Return the conventions that mean the same as a reading for the pictures of a frame.

    They are sent in a size of the dialect's own, at which several may come to the same.
    """
    found = next(one for one in READINGS if one.name == reading)
    span = found.span(frame.sent_width, frame.sent_height)
    return tuple(convention for convention in Convention if frame.span(convention) == span)
