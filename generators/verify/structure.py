"""The `structure` verifier: whether an episode is complete, possible and consistent.

Everything that follows from other parts of an episode, from its task or from its capsule is derived again
and compared: ids, hashes, pictures, fractions, sums, times, the end, and the site's last report. So a
column cannot contradict the steps. Values that follow from nothing else (the page's state, the target, the
elements, the goal, the reward of a step) are checked by the verifiers that re-execute.

`target_bbox` need not hold the action's point: where text overflows its element, or the pointer is below
the document's last line, the browser names an element whose box ends before the point.
"""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from PIL import Image

from generators.browser.picture import hash_rows, read_picture
from generators.browser.protocol import SessionSpec
from generators.verify.derived_columns import (
    capsule_defects,
    identity_defects,
    missing_keys,
    outcome_defects,
    read_session,
    state_defects,
    sum_defects,
    time_defects,
)
from generators.verify.model_columns import (
    call_defects,
    call_time_defects,
    policy_defects,
    reply_defects,
)
from generators.verify.replies import NOT_READ
from schemas.base import sha256_hex
from schemas.episodes.action import Drag, Goto, NoAction, Tab, target_point
from schemas.episodes.episode import Actor, Episode, Step, steps_sha256
from schemas.episodes.observation import visible_state
from schemas.episodes.viewport import picture_pixels
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Finding, Status

MAX_DEFECTS = 20
"""Defects listed in one finding."""

_SEEN = (
    *("step", "screenshot", "screenshot_sha256", "screenshot_phash", "width", "height", "page"),
    *("action", "observe_ms", "at", "elements", "elements_left_out", "sights"),
)
"""The fields that the final row sets; every other field has its default."""


class Structure:
    """The `structure` verifier."""

    name = "structure"
    version = "10"

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return `failed` with every defect, or `passed`, and the parts that could not be compared."""
        # Pictures are decoded: in this thread, every session would wait for it.
        return await asyncio.to_thread(_finding, task, episode)


def _finding(task: Task, episode: Episode) -> Finding:
    taken = [step for step in episode.steps if not isinstance(step.action, NoAction)]
    unread, read = reply_defects(episode)
    defects = [
        *_row_defects(episode, taken),
        *identity_defects(task, episode),
        *capsule_defects(task, episode),
        *outcome_defects(task, episode, taken),
        *state_defects(episode),
        *sum_defects(episode),
        *policy_defects(episode, taken),
        *call_defects(episode),
        *unread,
        *time_defects(episode),
        *call_time_defects(episode),
    ]
    session = read_session(episode)
    for step, following in zip_longest(episode.steps, episode.steps[1:]):
        found = _step_defects(episode, session, step, following)
        defects += [f"step {step.step}: {text}" for text in found]
    missing = ", ".join([*missing_keys(episode), *([] if read else [NOT_READ])])
    note = f"; not compared, as the episode does not state it: {missing}" if missing else ""
    if not defects:
        reason = f"{len(episode.steps)} sound rows{note}"
        return Finding(
            status=Status.PASSED,
            reason=reason,
            evidence={"missing": missing} if missing else {},
        )
    more = f", and {len(defects) - 1} more" if len(defects) > 1 else ""
    return Finding(
        status=Status.FAILED,
        reason=defects[0] + more + note,
        evidence={"defects": [*defects[:MAX_DEFECTS]]},
    )


def _row_defects(episode: Episode, taken: Sequence[Step]) -> Iterator[str]:
    steps = episode.steps
    try:
        if episode.content_sha256 != steps_sha256(steps):
            yield "content_sha256 is not the hash of the steps"
    except ValueError as error:
        yield f"the steps cannot be hashed: {error}"
    if [step.step for step in steps] != list(range(len(steps))):
        yield "the steps are not numbered 0, 1, 2, …"
    if len(taken) != episode.n_steps:
        yield f"{len(taken)} actions, but n_steps is {episode.n_steps}"
    if any(isinstance(step.action, NoAction) for step in steps[:-1]):
        yield "a row without an action stands before the last"
    elif len(steps) == len(taken) and episode.failure_kind is None:
        yield "the row of the final state is missing"


def _step_defects(
    episode: Episode, session: SessionSpec | None, step: Step, following: Step | None
) -> Iterator[str]:
    yield from _picture_defects(episode, step)
    if isinstance(step.action, NoAction):
        fields = Step.model_fields.items()
        for name, field in fields:
            if name not in _SEEN and getattr(step, name) != field.default:
                yield f"{name} is stated, but nothing was done"
    else:
        yield from _action_defects(episode, session, step)
        changed = None if following is None else visible_state(step) != visible_state(following)
        if step.state_changed != changed:
            yield f"state_changed is {step.state_changed}, the next row makes it {changed}"
    shares = [element.visible for element in step.elements]
    if step.target is not None and step.target.visible is not None:
        shares.append(step.target.visible)
    if not all(0 <= share <= 1 for share in shares):
        yield "a share of a box is not between 0 and 1"
    url = step.page.url
    if session and url != "about:blank" and not session.has_origin(url):
        yield f"{url} is outside the allowed origins"


def _picture_defects(episode: Episode, step: Step) -> Iterator[str]:
    picture = step.screenshot.bytes
    if sha256_hex(picture) != step.screenshot_sha256:
        yield "the picture's hash is another one"
    try:
        facts = read_picture(picture, rows=hash_rows(step.screenshot_phash))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        yield f"the picture does not decode: {error}"
    else:
        if facts.format != "JPEG":
            yield f"the picture is a {facts.format}, not a JPEG"
        if (facts.width, facts.height) != (step.width, step.height):
            yield f"the picture is {facts.width}×{facts.height}, the row says otherwise"
        if facts.difference_hash != step.screenshot_phash:
            yield f"screenshot_phash is not the picture's, {facts.difference_hash}"
    scale = episode.device_scale_factor
    sides = (episode.viewport_width, episode.viewport_height)
    expected = tuple(picture_pixels(side, scale) for side in sides)
    if (step.width, step.height) != expected:
        yield f"the row says {step.width}×{step.height}, the viewport is {expected[0]}×{expected[1]}"


def _action_defects(episode: Episode, session: SessionSpec | None, step: Step) -> Iterator[str]:
    action = step.action
    width, height = episode.viewport_width, episode.viewport_height
    point = target_point(action)
    fractions = (None, None) if point is None else (point[0] / width, point[1] / height)
    if (step.x_norm, step.y_norm) != fractions:
        yield f"x_norm and y_norm are not the point's, {fractions}"
    if step.actor is not Actor.AGENT:
        yield f"actor is {step.actor.value}, and nobody but the policy acts yet"
    if point is None and step.target is not None:
        yield "there is a target, but the action has no point"
    if (step.thought is None) != (step.thought_source is None):
        yield "thought and thought_source come together or not at all"
    if step.action_error is not None:
        return
    ends = [point, (action.to_x, action.to_y) if isinstance(action, Drag) else None]
    for end in ends:
        if end and not (end[0] < width and end[1] < height):
            yield f"({end[0]:g}, {end[1]:g}) is outside the viewport"
    url = action.url if isinstance(action, Goto | Tab) else None
    if session and url and not session.allows(url):
        yield f"{url} is not allowed"
