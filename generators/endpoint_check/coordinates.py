"""Determines a model's coordinate convention by a fit to points that it gives for drawn targets.

The question is plain, without the dialect's own prompt, which would reveal the convention, and under a
schema with wide bounds, because narrow ones would bend the answer. A reading is one way to interpret the
numbers of a point: it defines the coordinates of a picture's far edges. The model's reading is the one with
the smallest distances between points and targets.
"""

import asyncio
import math
import re
from collections.abc import Sequence
from statistics import median
from typing import Protocol

from generators.endpoint_check.endpoint import CheckedEndpoint, user
from generators.endpoint_check.probe_images import TARGETS, ProbeTarget, target_board
from generators.endpoint_check.result import CheckResult, Fitness
from generators.policy.dialects.coordinates import Convention, Frame, smart_resize
from schemas.base import JsonObject, Record

SIZE = (1_616, 1_264)
"""Size of the picture with the targets, px. At this size no two readings have nearly equal edges, except
pixels and patches of 32, which differ by 1 % in opposite directions."""

NEAR = 0.02
"""Largest distance of a point on its target, as a part of the picture's diagonal."""

ENOUGH = 0.75
"""Share of points on their targets with which a reading fits."""

AT_ONCE = 4
"""Questions under way at the same time."""

_MAX_COORDINATE = 100_000
_AXIS: JsonObject = {"type": "number", "minimum": 0, "maximum": _MAX_COORDINATE}
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"x": _AXIS, "y": _AXIS},
    "required": ["x", "y"],
}
_KEYED = {key: re.compile(rf'"{key}"\s*:\s*(-?\d+(?:\.\d+)?)') for key in ("x", "y")}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")

Point = tuple[float, float]
"""The two numbers of a point, as the model says them."""


class Reading(Protocol):
    """One way to understand the numbers of a point."""

    @property
    def name(self) -> str:
        """The reading's name, for people."""
        ...

    def span(self, width: int, height: int) -> tuple[float, float]:
        """Return the coordinates of the far edges of a picture sent at that size."""
        ...


class Pixels(Record):
    """Pixels of the picture as it was sent."""

    name: str = "pixels"
    """The reading's name, for people."""

    def span(self, width: int, height: int) -> tuple[float, float]:
        """Return the size itself."""
        return float(width), float(height)


class Patches(Record):
    """Pixels of the picture after a Qwen-VL processor has resized it."""

    name: str
    """The reading's name, for people."""
    factor: int
    """Side of a patch, px."""
    min_pixels: int
    """Area below which the processor enlarges a picture, px."""
    max_pixels: int
    """Area above which it shrinks one, px."""

    def span(self, width: int, height: int) -> tuple[float, float]:
        """Return the size after the resizing."""
        wide, high = smart_resize(
            width,
            height,
            factor=self.factor,
            min_pixels=self.min_pixels,
            max_pixels=self.max_pixels,
        )
        return float(wide), float(high)


class Fractions(Record):
    """Fractions of the picture, whatever its size."""

    name: str
    """The reading's name, for people."""
    edge: float
    """The coordinate of the far edges."""

    def span(self, width: int, height: int) -> tuple[float, float]:
        """Return the edge, twice."""
        del width, height
        return self.edge, self.edge


READINGS: tuple[Reading, ...] = (
    Pixels(),
    Patches(
        name="pixels resized to patches of 28",
        factor=28,
        min_pixels=56**2,
        max_pixels=1_280 * 28**2,
    ),
    Patches(
        name="pixels resized to patches of 32",
        factor=32,
        min_pixels=64 * 32**2,
        max_pixels=16_384 * 32**2,
    ),
    Fractions(name="0-1000", edge=1_000.0),
    Fractions(name="0-1", edge=1.0),
)
"""The known readings of models."""


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


def fit_readings(points: Sequence[tuple[ProbeTarget, Point]]) -> tuple[ReadingFit, ...]:
    """Return how well each reading fits points for targets of a picture of `SIZE`, the best first."""
    return tuple(sorted((_fit(reading, points) for reading in READINGS), key=lambda fit: fit.error))


def _fit(reading: Reading, points: Sequence[tuple[ProbeTarget, Point]]) -> ReadingFit:
    (width, height), (across, down) = SIZE, reading.span(*SIZE)
    diagonal = math.hypot(width, height)
    distances = [
        math.hypot((x / across - target.across) * width, (y / down - target.down) * height)
        / diagonal
        for target, (x, y) in points
    ]
    near = sum(distance <= NEAR for distance in distances) / len(distances)
    return ReadingFit(reading=reading.name, error=median(distances), share_near=near)


def matching_conventions(reading: str, frame: Frame) -> tuple[Convention, ...]:
    """Return the conventions that equal a reading for the pictures of a frame.

    The pictures have the dialect's sent size, at which several conventions may be equal.
    """
    named = next(each for each in READINGS if each.name == reading)
    span = named.span(frame.sent_width, frame.sent_height)
    return tuple(convention for convention in Convention if frame.span(convention) == span)


async def check_coordinates(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check which convention fits, and whether it is the dialect's.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    if not endpoint.max_images:
        return [_unfit("not asked: it takes no pictures")]
    points = await _points(endpoint)
    if len(points) < len(TARGETS) / 2:
        return [
            _unfit(
                f"points for {len(points)} of {len(TARGETS)} targets",
                remedy="this model does not point at things; serve one that does",
            )
        ]
    return [_result(endpoint, fit_readings(points), len(points))]


async def _points(endpoint: CheckedEndpoint) -> list[tuple[ProbeTarget, Point]]:
    """Return the targets for which the model gives a point, each with its point."""
    picture, limit = target_board(SIZE), asyncio.Semaphore(AT_ONCE)

    async def ask(target: ProbeTarget) -> tuple[ProbeTarget, Point | None]:
        question = (
            "Locate one thing on the image and say where to click on it: reply with one JSON object "
            f"with the numbers x and y, and nothing else. The thing is the {target.words}; its "
            f"colour is {target.colour}."
        )
        async with limit:
            reply = await endpoint.ask([user(picture, question)], tokens=64, schema=_SCHEMA)
        return target, parse_point(reply.text)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(target)) for target in TARGETS]
    return [(target, point) for target, point in (task.result() for task in tasks) if point]


def parse_point(text: str) -> Point | None:
    """Return the point that a reply names, as JSON or else as its first two numbers."""
    keyed = [pattern.search(text) for pattern in _KEYED.values()]
    numbers = [match[1] for match in keyed if match]
    if len(numbers) < len(_KEYED):
        numbers = _NUMBER.findall(_COLOUR.sub("", text))[:2]
    if len(numbers) < len(_KEYED):
        return None
    x, y = map(float, numbers)
    return (x, y) if max(abs(x), abs(y)) <= _MAX_COORDINATE else None


def _result(endpoint: CheckedEndpoint, fits: Sequence[ReadingFit], answered: int) -> CheckResult:
    best, convention = fits[0], endpoint.dialect.convention
    found = (
        f"{best.reading}: {best.error:.1%} of the diagonal off (median), "
        f"{best.share_near:.0%} of {answered} within 2 %; next {fits[1].reading}, {fits[1].error:.0%}"
    )
    if not best.is_good:
        return _unfit(
            f"no convention fits; nearest {found}",
            remedy="this model does not see where things are; serve one that does",
        )
    matching = matching_conventions(best.reading, endpoint.frame)
    if convention in matching:
        return CheckResult(name="coordinates", fitness=Fitness.FIT, found=found)
    remedy = "take the dialect of the model's family" + (
        f', or set policy.dialect_options.convention = "{matching[0]}"' if matching else ""
    )
    return _unfit(f"{found}; '{endpoint.dialect.name}' reads {convention}", remedy=remedy)


def _unfit(found: str, *, remedy: str = "") -> CheckResult:
    return CheckResult(name="coordinates", fitness=Fitness.UNFIT, found=found, remedy=remedy)
