"""Which coordinate convention a model has: it is asked where drawn targets lie, and the rest is fit.

The question is put plainly, without the dialect's own prompt, which would tell the convention, and
under a schema with wide bounds, as narrow ones would bend it.
"""

import asyncio
import re
from collections.abc import Sequence

from generators.endpoint_check.coordinate_fit import (
    SIZE,
    Point,
    ReadingFit,
    fit_readings,
    matching_conventions,
)
from generators.endpoint_check.endpoint import CheckedEndpoint, user
from generators.endpoint_check.probe_images import TARGETS, Target, target_board
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.protocol import Picture
from schemas.base import JsonObject

NAME = "coordinates"

AT_ONCE = 4
"""Questions under way at the same time."""

_LARGEST = 100_000
_AXIS: JsonObject = {"type": "number", "minimum": 0, "maximum": _LARGEST}
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"x": _AXIS, "y": _AXIS},
    "required": ["x", "y"],
}
_KEYED = {key: re.compile(rf'"{key}"\s*:\s*(-?\d+(?:\.\d+)?)') for key in ("x", "y")}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


async def check_coordinates(subject: CheckedEndpoint) -> list[CheckResult]:
    """Say which convention fits, and whether it is the dialect's.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    if not subject.max_images:
        return [
            CheckResult(name=NAME, fitness=Fitness.UNFIT, found="not asked: it takes no pictures")
        ]
    said = await _points(subject, target_board(SIZE))
    if len(said) < len(TARGETS) / 2:
        return [
            CheckResult(
                name=NAME,
                fitness=Fitness.UNFIT,
                found=f"points for {len(said)} of {len(TARGETS)} targets",
                remedy="this model does not point at things; serve one that does",
            )
        ]
    return [_result(subject, fit_readings(said), len(said))]


async def _points(subject: CheckedEndpoint, picture: Picture) -> list[tuple[Target, Point]]:
    window = asyncio.Semaphore(AT_ONCE)

    async def one(target: Target) -> tuple[Target, Point | None]:
        async with window:
            reply = await subject.ask([user(picture, _question(target))], tokens=64, schema=_SCHEMA)
        return target, parse_point(reply.text)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(target)) for target in TARGETS]
    return [(target, point) for target, point in (task.result() for task in tasks) if point]


def _question(target: Target) -> str:
    return (
        "Locate one thing on the image and say where to click on it: reply with one JSON object "
        f"with the numbers x and y, and nothing else. The thing is the {target.words}; its colour "
        f"is {target.colour}."
    )


def parse_point(text: str) -> Point | None:
    """Return the point that a reply names, as JSON or else as its first two numbers."""
    keyed = [pattern.search(text) for pattern in _KEYED.values()]
    numbers = [found[1] for found in keyed if found]
    if len(numbers) < len(_KEYED):
        numbers = _NUMBER.findall(_COLOUR.sub("", text))[:2]
    if len(numbers) < len(_KEYED):
        return None
    x, y = map(float, numbers)
    return (x, y) if max(abs(x), abs(y)) <= _LARGEST else None


def _result(subject: CheckedEndpoint, found: Sequence[ReadingFit], answered: int) -> CheckResult:
    best, wanted = found[0], subject.dialect.convention
    told = (
        f"{best.reading}: {best.error:.1%} of the diagonal off (median), "
        f"{best.share_near:.0%} of {answered} within 2 %; next {found[1].reading}, {found[1].error:.0%}"
    )
    if not best.is_good:
        return CheckResult(
            name=NAME,
            fitness=Fitness.UNFIT,
            found=f"no convention fits; nearest {told}",
            remedy="this model does not see where things are; serve one that does",
        )
    same = matching_conventions(best.reading, subject.frame)
    if wanted in same:
        return CheckResult(name=NAME, fitness=Fitness.FIT, found=told)
    remedy = "take the dialect of the model's family" + (
        f', or set policy.dialect_options.convention = "{same[0]}"' if same else ""
    )
    return CheckResult(
        name=NAME,
        fitness=Fitness.UNFIT,
        found=f"{told}; '{subject.dialect.name}' reads {wanted}",
        remedy=remedy,
    )
