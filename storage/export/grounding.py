"""`grounding`: a picture, words, and the point and box that they mean.

Each step that points at an element with a name gives one line: what lay under the pointer is known
from the page itself, so the box is exact and nobody had to label it. The words are the element's
own (`Click the button "Submit"`). Where they would fit another element in sight too they mean no
one place, and the step is left out. Hard negatives are elements of the same picture that are alike
(the same role) or near: none holds the point, none is a part of what is meant, and none is its
label, which does the same.

The keys follow what ScreenSpot and OS-Atlas made common (an image's path, an instruction, a box of
left, top, right, bottom in pixels or in parts of the picture); there is no package to conform to.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue
from typing_extensions import override

from schemas.action import target_point
from schemas.base import JsonObject
from schemas.episode import Actor, Step
from schemas.observation import Box, Element, Target
from storage.export.protocol import (
    ExportedEpisode,
    File,
    Format,
    FormatCounts,
    Line,
    Piece,
    picture_path,
)
from storage.export.registry import FormatName

ALIKE, NEAR = 4, 4
"""The most negatives of each kind."""

_VERBS = {
    "click": "Click",
    "hover": "Point at",
    "type": "Click into",
    "select": "Open",
    "drag": "Grab",
}
"""What is done at the point; other actions point at no element in particular."""

_DIGITS = 5


class _Scale(NamedTuple):
    """From CSS pixels to the picture's."""

    across: float
    down: float
    width: int
    height: int


class Grounding(Format):
    """The `Format`."""

    name = FormatName.GROUNDING

    @property
    @override
    def options(self) -> JsonObject:
        return {"alike": ALIKE, "near": NEAR}

    @override
    def pieces(self, source: ExportedEpisode, counts: FormatCounts) -> Iterator[Piece]:
        for step in source.episode.steps:
            target = _target(step)
            if target is None:
                continue
            why = _unfit(step, target)
            counts[why or "lines"] += 1
            if why is None:
                path = picture_path(source.episode.episode_id, step.step)
                yield File(path, step.screenshot.bytes)
                yield Line(_record(source, step, target, path))


def _target(step: Step) -> Target | None:
    """Return what a step points at; None if it does not, or came to nothing."""
    pointing = step.action.type in _VERBS and target_point(step.action) is not None
    if not pointing or step.actor is not Actor.AGENT or step.action_error is not None:
        return None
    return step.target


def _unfit(step: Step, target: Target) -> str | None:
    """Return why a step teaches nothing about places; None if it does."""
    point = target_point(step.action)
    box = target.bbox
    if box is None or 0 in box[2:] or point is None or not _holds(box, point):
        return "without_box"
    words = _called(target)
    if not words:
        return "without_name"
    others = (item for item in step.elements if _in_sight(item) and not _holds(item.bbox, point))
    if any(_called(item) == words and _same_role(item, target) for item in others):
        return "ambiguous"
    return None


def _record(source: ExportedEpisode, step: Step, target: Target, path: str) -> JsonObject:
    episode, point, box = source.episode, target_point(step.action), target.bbox
    assert point is not None  # noqa: S101 - looked at before
    assert box is not None  # noqa: S101 - looked at before
    scale = _Scale(
        step.width / episode.viewport_width,
        step.height / episode.viewport_height,
        step.width,
        step.height,
    )
    return {
        "id": f"{episode.episode_id}-{step.step}",
        "image": path,
        "width": step.width,
        "height": step.height,
        "instruction": f'{_VERBS[step.action.type]} the {_kind(target)} "{_called(target)}"',
        "goal": episode.instruction,
        "action": step.action.type,
        **_place(point, box, scale),
        "role": target.role,
        "name": target.name,
        "text": target.text,
        "tag": target.tag,
        "negatives": list(_negatives(step, target, scale)),
        "url": step.page.url,
        "episode_id": episode.episode_id,
        "step": step.step,
        "task_id": episode.task_id,
        "template_id": source.task.template_id,
        "accepted": source.acceptance.accepted,
    }


def _place(point: tuple[float, float], box: Box, scale: _Scale) -> JsonObject:
    x, y = point[0] * scale.across, point[1] * scale.down
    across, down = scale.width, scale.height
    corners = _corners(box, scale)
    sides = (across, down, across, down)
    return {
        "point": _rounded([x, y], 2),
        "point_norm": _rounded([x / across, y / down], _DIGITS),
        "box": _rounded(corners, 2),
        "box_norm": _rounded([c / side for c, side in zip(corners, sides, strict=True)], _DIGITS),
    }


def _negatives(step: Step, target: Target, scale: _Scale) -> Iterator[JsonValue]:
    """Yield elements that are not meant: those alike first, then those near; the nearest first."""
    point = target_point(step.action)
    assert point is not None  # noqa: S101 - looked at before
    fit = [
        item
        for item in step.elements
        if _in_sight(item) and not _holds(item.bbox, point) and not _belongs(item, target)
    ]
    fit.sort(key=lambda item: _apart(item.bbox, point))
    alike = [item for item in fit if item.interactive and _same_role(item, target)][:ALIKE]
    near = [item for item in fit if item not in alike][:NEAR]
    for why, items in (("alike", alike), ("near", near)):
        for item in items:
            corners = _rounded(_corners(item.bbox, scale), 2)
            yield {
                "why": why,
                "role": item.role or None,
                "name": item.name or item.text or None,
                "tag": item.tag,
                "box": corners,
            }


def _called(target: Target | Element) -> str:
    return (target.name or target.text or "").strip()


def _belongs(item: Element, target: Target) -> bool:
    """Say whether an element is a part of what is meant, or its label: pointing there is no miss."""
    left, top, width, height = item.bbox
    middle = (left + width / 2, top + height / 2)
    part = target.bbox is not None and _holds(target.bbox, middle)
    return part or (item.tag == "label" and _called(item) == _called(target))


def _kind(target: Target) -> str:
    """Return what sort of thing it is in a word, as `button`."""
    return target.role or {"a": "link", "input": "field"}.get(target.tag, "element")


def _same_role(item: Element, target: Target) -> bool:
    return (item.role or item.tag) == (target.role or target.tag)


def _in_sight(item: Element) -> bool:
    return item.visible > 0 and not item.covered and item.bbox[2] > 0 and item.bbox[3] > 0


def _holds(box: Box, point: tuple[float, float]) -> bool:
    left, top, width, height = box
    return left <= point[0] <= left + width and top <= point[1] <= top + height


def _apart(box: Box, point: tuple[float, float]) -> float:
    return (box[0] + box[2] / 2 - point[0]) ** 2 + (box[1] + box[3] / 2 - point[1]) ** 2


def _corners(box: Box, scale: _Scale) -> list[float]:
    """Return left, top, right, bottom in pixels of the picture, cut at its edges."""
    left, top = box[0] * scale.across, box[1] * scale.down
    right, bottom = (box[0] + box[2]) * scale.across, (box[1] + box[3]) * scale.down
    return [
        min(max(left, 0.0), scale.width),
        min(max(top, 0.0), scale.height),
        min(max(right, 0.0), scale.width),
        min(max(bottom, 0.0), scale.height),
    ]


def _rounded(numbers: Sequence[float], digits: int) -> list[JsonValue]:
    return [round(float(number), digits) for number in numbers]
