"""Rows of grounding: a picture, an instruction, and the point and box of the element that it refers to.

Each step that points at something gives one row, if something distinguishes that thing from all others
in the picture: its words, its kind, its place or its neighbours (see `referring`). The page itself
says which element is under the pointer, so the box is exact and needs no annotator. The row has
several expressions, and the instruction has the first; the row's id alone decides which and in what
order. A step is left out, and counted, if no expression fits the target alone, if the target shows
nothing, if it is made of several controls, since the point lies on none of them then, if its words name
another option than the one that is chosen, and if it is where the page itself tells the goal.

Hard negatives are things of the same picture that are alike (of the same kind) or near, each with an
expression of its own: none contains the point, none is a part of the target or its label, which does the
same, and none belongs to the text of the goal.

Words of pages and goals that a trainer would take for a picture are escaped (see `placeholders`).

Steps of an earlier version do not say what their picture shows. Their words are the page's, and only
names distinguish.

The keys are those that ScreenSpot and OS-Atlas made common (an image's path, an instruction, a box of
left, top, right, bottom in pixels or in parts of the picture); there is no package to validate with.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from generators.training.referring import Expression, drawn_by, expressions
from generators.training.scene import (
    TEXT,
    Scene,
    Thing,
    centre,
    contains,
    is_part,
    is_same,
    same_words,
)
from schemas.episodes.action import Select, target_point
from schemas.episodes.episode import Actor, Episode, Step
from schemas.episodes.observation import Box, Target
from schemas.episodes.placeholders import escape
from schemas.tables.tables import Row
from schemas.verdicts.full_episode import FullEpisode

ALIKE, NEAR = 4, 4
"""The maximum number of negatives of each kind."""

PHRASINGS = 4
"""The maximum number of expressions for one thing."""

_VERBS = {
    "click": "Click",
    "hover": "Point at",
    "type": "Click into",
    "select": "Open",
    "drag": "Grab",
}
"""The verb of each action that points at an element; other actions point at no element."""

_DIGITS = 5


class _Scale(NamedTuple):
    """The factors from CSS pixels to the picture's, and the picture's size."""

    x: float
    y: float
    width: int
    height: int


def grounding_rows(source: FullEpisode, counts: Counter[str]) -> Iterator[Row]:
    """Yield a row for each step whose target can be referred to; count them, and the others by the reason."""
    for step in source.episode.steps:
        target = _target(step)
        if target is None:
            continue
        found = _Reference(source.episode, step, target)
        counts[found.missing or "lines"] += 1
        if found.missing is None:
            yield _row(source, found)


def _target(step: Step) -> Target | None:
    """Return the element that a step points at; None if it points at none, or failed."""
    pointing = step.action.type in _VERBS and target_point(step.action) is not None
    if not pointing or step.actor is not Actor.AGENT or step.action_error is not None:
        return None
    return step.target


class _Reference:
    """The element that a step points at, with expressions that refer to it."""

    def __init__(self, episode: Episode, step: Step, target: Target) -> None:
        self.step, self.target = step, target
        self.row_id = f"{episode.episode_id}-{step.step}"
        """The id of its row."""
        self._key = f"{episode.task_id}-{episode.attempt}-{step.step}"
        """Decides the words: the same in each run of one configuration."""
        self.expressions: list[Expression] = []
        """Expressions that fit the target alone; the instruction uses the first one."""
        self._viewport = episode.viewport_width, episode.viewport_height
        self.missing = self._why_missing(episode.instruction)
        """The reason why it gives no row, by which it is counted; None if it gives one."""

    def _why_missing(self, goal: str) -> str | None:
        target, point = self.target, target_point(self.step.action)
        box = target.bbox
        if box is None or 0 in box[2:] or point is None or not contains(box, point):
            return "without_box"
        self.point, self.box = point, box
        self._scene = scene = Scene(self.step, goal)
        self.thing = scene.thing_of(target)
        label = self.thing.label
        is_shown = label if scene.blind else self.thing.content
        if not is_shown:
            return "unseen"
        asked = self.step.action.option if isinstance(self.step.action, Select) else label
        if target.tag == "option" and label != asked:
            return "another_option"
        if scene.is_goal(box):
            return "goal"
        if self._is_of_several():
            return "of_several"
        self.expressions = self._expressions_of(self.thing)
        return None if self.expressions else "ambiguous"

    def _is_of_several(self) -> bool:
        """Return whether the target is made of other things, and the point lies on none of them."""
        within = [
            one
            for one in self._scene.things
            if is_part(one, self.thing) and not is_same(one, self.thing)
        ]
        others = [one for one in within if one.element and one.element.interactive]
        words = self.thing.label
        if not self._is_on_thing():
            return True
        if any(one.label and not same_words(one.label, words) for one in others):
            return True
        return not words and len(within) > 1

    def _is_on_thing(self) -> bool:
        """Return whether the point is on what shows, and not on bare ground of a box around it."""
        left, top, width, height = self.thing.box
        if self.thing.kind == TEXT:  # a line is as wide as its page
            left, width = self.box[0], self.box[2]
            top, height = top - height, 3 * height
        return self._scene.blind or contains((left, top, width, height), self.point)

    def _expressions_of(self, thing: Thing) -> list[Expression]:
        found = expressions(self._scene, thing, viewport=self._viewport)
        return drawn_by(self._key, found, PHRASINGS)

    def negatives(self, scale: _Scale) -> Iterator[Row]:
        """Yield other things with expressions: those alike, then those near, the nearest first."""
        others = [
            one
            for one in self._scene.things
            if not contains(one.box, self.point)
            and not self._scene.is_goal(one.box)
            and not is_part(one, self.thing)
            and not contains(self.box, centre(one.box))
            and not self._is_label(one)
        ]
        others.sort(
            key=lambda one: sum(
                (a - b) ** 2 for a, b in zip(centre(one.box), self.point, strict=True)
            )
        )
        alike = [one for one in others if one.kind == self.thing.kind]
        near = [one for one in others if one.kind != self.thing.kind]
        for why, things, number in (("alike", alike, ALIKE), ("near", near, NEAR)):
            named = ((one, self._expressions_of(one)) for one in things)
            for one, found in itertools.islice((pair for pair in named if pair[1]), number):
                yield {
                    "why": why,
                    "expression": escape(found[0].text),
                    "by": found[0].by,
                    "kind": one.kind,
                    "role": one.element.role or None if one.element else None,
                    "name": escape(one.label) or None,
                    "tag": one.element.tag if one.element else None,
                    "box": _round(_corners(one.box, scale), 2),
                }

    def _is_label(self, one: Thing) -> bool:
        """Return whether a thing is the words that name the target."""
        words = one.element is None or not one.element.interactive or one.element.tag == "label"
        return words and bool(one.label) and same_words(one.label, self.thing.label)


def _row(source: FullEpisode, found: _Reference) -> Row:
    episode, step, target = source.episode, found.step, found.target
    scale = _Scale(
        step.width / episode.viewport_width,
        step.height / episode.viewport_height,
        step.width,
        step.height,
    )
    x, y = found.point[0] * scale.x, found.point[1] * scale.y
    corners = _corners(found.box, scale)
    sides = (scale.width, scale.height, scale.width, scale.height)
    return {
        "id": found.row_id,
        "image": {"bytes": step.screenshot.bytes, "path": f"{found.row_id}.jpg"},
        "width": step.width,
        "height": step.height,
        "instruction": f"{_VERBS[step.action.type]} {escape(found.expressions[0].text)}",
        "by": found.expressions[0].by,
        "expressions": [escape(one.text) for one in found.expressions],
        "goal": escape(episode.instruction),
        "action": step.action.type,
        "point": _round([x, y], 2),
        "point_norm": _round([x / scale.width, y / scale.height], _DIGITS),
        "box": _round(corners, 2),
        "box_norm": _round([c / side for c, side in zip(corners, sides, strict=True)], _DIGITS),
        "kind": found.thing.kind,
        "role": target.role,
        "name": target.name and escape(target.name),
        "text": target.text and escape(target.text),
        "tag": target.tag,
        "negatives": list(found.negatives(scale)),
        "url": step.page.url,
        "episode_id": episode.episode_id,
        "step": step.step,
        "task_id": episode.task_id,
        "template_id": source.task.template_id,
        "accepted": source.acceptance.accepted,
    }


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


def _round(numbers: Sequence[float], digits: int) -> list[float]:
    return [round(float(number), digits) for number in numbers]
