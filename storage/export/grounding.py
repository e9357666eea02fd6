"""`grounding`: a picture, an instruction, and the point and box of the element it names.

Each step that points at an element with a name gives one line. The page itself says which element is
under the pointer, so the box is exact and needs no annotator. The instruction has the element's own
words (`Click the button "Submit"`), as the picture shows them. A step is left out if these words would
also fit another visible element, if they are those of several controls, since the point lies on none of
them then, and if they name another option than the one that is chosen. Hard negatives are elements of the
same picture that are alike (the same role) or near: none contains the point, none is a part of the target,
and none is its label, which does the same. They too are named by what is in sight.

Steps of an earlier version do not say what their picture shows. Their words are the page's.

The keys are those that ScreenSpot and OS-Atlas made common (an image's path, an instruction, a box of
left, top, right, bottom in pixels or in parts of the picture); there is no package to validate with.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue
from typing_extensions import override

from schemas.action import Select, target_point
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
"""The maximum number of negatives of each kind."""

_VERBS = {
    "click": "Click",
    "hover": "Point at",
    "type": "Click into",
    "select": "Open",
    "drag": "Grab",
}
"""The verb of each action that points at an element; other actions point at none in particular."""

_DIGITS = 5


class _Scale(NamedTuple):
    """The factors from CSS pixels to the picture's, and the picture's size."""

    x: float
    y: float
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
            reason = _skip_reason(step, target)
            counts[reason or "lines"] += 1
            if reason is None:
                path = picture_path(source.episode.episode_id, step.step)
                yield File(path, step.screenshot.bytes)
                yield Line(_record(source, step, target, path))


def _target(step: Step) -> Target | None:
    """Return the element that a step points at; None if it points at none, or failed."""
    pointing = step.action.type in _VERBS and target_point(step.action) is not None
    if not pointing or step.actor is not Actor.AGENT or step.action_error is not None:
        return None
    return step.target


def _skip_reason(step: Step, target: Target) -> str | None:
    """Return the reason why a step gives no line, as it is counted; None if it gives one."""
    point = target_point(step.action)
    box = target.bbox
    if box is None or 0 in box[2:] or point is None or not _contains(box, point):
        return "without_box"
    label = _label(target)
    if not label or not _is_in_sight(step, label):
        return "without_name"
    if isinstance(step.action, Select) and target.tag == "option" and label != step.action.option:
        return "another_option"
    others = [
        item for item in step.elements if _is_visible(item) and not _contains(item.bbox, point)
    ]
    if any(_label_of(step, item) == label and _same_role(item, target) for item in others):
        return "ambiguous"
    within = (item for item in others if item.interactive and _contains(box, _centre(item.bbox)))
    if any(_label_of(step, item) not in ("", label) for item in within):
        return "of_several"
    return None


def _record(source: ExportedEpisode, step: Step, target: Target, path: str) -> JsonObject:
    episode, point, box = source.episode, target_point(step.action), target.bbox
    assert point is not None  # noqa: S101 - _skip_reason has checked it
    assert box is not None  # noqa: S101 - _skip_reason has checked it
    kind = target.role or {"a": "link", "input": "field"}.get(target.tag, "element")
    scale = _Scale(
        step.width / episode.viewport_width,
        step.height / episode.viewport_height,
        step.width,
        step.height,
    )
    x, y = point[0] * scale.x, point[1] * scale.y
    corners = _corners(box, scale)
    sides = (scale.width, scale.height, scale.width, scale.height)
    return {
        "id": f"{episode.episode_id}-{step.step}",
        "image": path,
        "width": step.width,
        "height": step.height,
        "instruction": f'{_VERBS[step.action.type]} the {kind} "{_label(target)}"',
        "goal": episode.instruction,
        "action": step.action.type,
        "point": _rounded([x, y], 2),
        "point_norm": _rounded([x / scale.width, y / scale.height], _DIGITS),
        "box": _rounded(corners, 2),
        "box_norm": _rounded([c / side for c, side in zip(corners, sides, strict=True)], _DIGITS),
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


def _negatives(step: Step, target: Target, scale: _Scale) -> Iterator[JsonValue]:
    """Yield other elements than the target: those alike, then those near, the nearest first."""
    point = target_point(step.action)
    assert point is not None  # noqa: S101 - _skip_reason has checked it
    others = [
        item
        for item in step.elements
        if _is_visible(item)
        and not _contains(item.bbox, point)
        and not _is_part_or_label(item, target)
    ]
    others.sort(
        key=lambda item: sum((a - b) ** 2 for a, b in zip(_centre(item.bbox), point, strict=True))
    )
    alike = [item for item in others if item.interactive and _same_role(item, target)][:ALIKE]
    near = [item for item in others if item not in alike][:NEAR]
    for why, items in (("alike", alike), ("near", near)):
        for item in items:
            corners = _rounded(_corners(item.bbox, scale), 2)
            yield {
                "why": why,
                "role": item.role or None,
                "name": _label_of(step, item) or None,
                "tag": item.tag,
                "box": corners,
            }


def _label(target: Target | Element) -> str:
    return (target.name or target.text or "").strip()


def _label_of(step: Step, item: Element) -> str:
    """Return what the picture shows in an element's box, else its name if that is in sight beside it."""
    label = _label(item)
    if step.sights is None:
        return label
    inside = [
        one.text for one in step.sights if one.text and _contains(item.bbox, _centre(one.bbox))
    ]
    return " ".join(inside) or (label if _is_in_sight(step, label) else "")


def _is_in_sight(step: Step, label: str) -> bool:
    """Return whether the words of a label stand in the picture; of an earlier version's step, always."""
    if step.sights is None:
        return True
    shown = " ".join(" ".join(one.text for one in step.sights).split())
    words = re.escape(" ".join(label.split()))
    return re.search(rf"(?<!\w){words}(?!\w)", shown) is not None


def _is_part_or_label(item: Element, target: Target) -> bool:
    """Return whether an element is a part of the target, or its label: pointing there is right."""
    part = target.bbox is not None and _contains(target.bbox, _centre(item.bbox))
    return part or (item.tag == "label" and _label(item) == _label(target))


def _same_role(item: Element, target: Target) -> bool:
    return (item.role or item.tag) == (target.role or target.tag)


def _is_visible(item: Element) -> bool:
    return item.visible > 0 and not item.covered and item.bbox[2] > 0 and item.bbox[3] > 0


def _contains(box: Box, point: tuple[float, float]) -> bool:
    left, top, width, height = box
    return left <= point[0] <= left + width and top <= point[1] <= top + height


def _centre(box: Box) -> tuple[float, float]:
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def _corners(box: Box, scale: _Scale) -> list[float]:
    """Return left, top, right, bottom in pixels of the picture, cut at its edges."""
    left, top = box[0] * scale.x, box[1] * scale.y
    right, bottom = (box[0] + box[2]) * scale.x, (box[1] + box[3]) * scale.y
    return [
        min(max(left, 0.0), scale.width),
        min(max(top, 0.0), scale.height),
        min(max(right, 0.0), scale.width),
        min(max(bottom, 0.0), scale.height),
    ]


def _rounded(numbers: Sequence[float], digits: int) -> list[JsonValue]:
    return [round(float(number), digits) for number in numbers]
