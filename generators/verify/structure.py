"""Is the episode whole and possible: the verifier that needs neither browser nor site.

It recomputes all that the steps themselves determine: the order of the rows, every
picture's bytes, size and hash, the hash over all of them, whether each action fits the viewport
and the allowed origins, whether anything was done after the end, and whether the times make sense.
"""

import io
import math
from collections.abc import Iterator
from urllib.parse import urlsplit

from PIL import Image, UnidentifiedImageError

from schemas.action import Drag, Goto, NoAction, target_point
from schemas.base import sha256_hex
from schemas.episode import Episode, Step, StopReason, steps_sha256
from schemas.task import Task
from schemas.verdict import Finding, Status

MAX_DEFECTS = 20
"""Defects listed in one finding."""


class Structure:
    """The `structure` verifier."""

    name = "structure"
    version = "1"

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return `failed` with every defect, or `passed`."""
        defects = [*_identity(task, episode), *_rows(episode), *_times(episode)]
        for step in episode.steps:
            defects += [f"step {step.step}: {text}" for text in _step(episode, step)]
        shown: list[str] = defects[:MAX_DEFECTS]
        if not defects:
            return Finding(status=Status.PASSED, reason=f"{len(episode.steps)} sound rows")
        return Finding(
            status=Status.FAILED,
            reason=shown[0] if len(defects) == 1 else f"{shown[0]}, and {len(defects) - 1} more",
            evidence={"defects": list(shown)},
        )


def _identity(task: Task, episode: Episode) -> Iterator[str]:
    if episode.task_id != task.task_id:
        yield f"the episode is of task {episode.task_id}, not {task.task_id}"
    if episode.content_sha256 != steps_sha256(episode.steps):
        yield "content_sha256 is not the hash of the steps"


def _rows(episode: Episode) -> Iterator[str]:
    steps = episode.steps
    if [step.step for step in steps] != list(range(len(steps))):
        yield "the steps are not numbered 0, 1, 2, …"
    taken = [step for step in steps if not isinstance(step.action, NoAction)]
    if len(taken) != episode.n_steps:
        yield f"{len(taken)} actions, but n_steps is {episode.n_steps}"
    if episode.stop_reason is not StopReason.FAILED and len(steps) != len(taken) + 1:
        yield "the final state is not the one row without an action"
    if any(isinstance(step.action, NoAction) for step in steps[:-1]):
        yield "a row without an action stands before the last"
    if any(step.terminated for step in taken[:-1]):
        yield "something was done after the site said it is done"
    if episode.done and not (taken and taken[-1].terminated):
        yield "the episode is done, but no step ended it"


def _step(episode: Episode, step: Step) -> Iterator[str]:
    yield from _picture(step)
    if (step.width, step.height) != _expected_size(episode):
        yield f"the picture is {step.width}×{step.height}, the viewport is not"
    if step.action_error is None:
        yield from _action(episode, step)
    allowed = _allowed_origins(episode)
    if allowed and _origin(step.page.url) not in allowed and step.page.url != "about:blank":
        yield f"{step.page.url} is outside the allowed origins"


def _picture(step: Step) -> Iterator[str]:
    picture = step.screenshot.bytes
    if sha256_hex(picture) != step.screenshot_sha256:
        yield "the picture's hash is another one"
    try:
        with Image.open(io.BytesIO(picture)) as image:
            image.load()
            if image.size != (step.width, step.height):
                yield f"the picture is {image.size[0]}×{image.size[1]}, the row says otherwise"
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        yield f"the picture does not decode: {error}"


def _action(episode: Episode, step: Step) -> Iterator[str]:
    action = step.action
    ends = [target_point(action)]
    if isinstance(action, Drag):
        ends.append((action.to_x, action.to_y))
    for end in ends:
        if end and not (end[0] < episode.viewport_width and end[1] < episode.viewport_height):
            yield f"({end[0]:g}, {end[1]:g}) is outside the viewport"
    allowed = _allowed_origins(episode)
    if isinstance(action, Goto) and allowed and _origin(action.url) not in allowed:
        yield f"{action.url} is not allowed"


def _times(episode: Episode) -> Iterator[str]:
    if episode.ended_at < episode.started_at:
        yield "it ended before it started"
    at = [episode.started_at, *(step.at for step in episode.steps), episode.ended_at]
    if at != sorted(at):
        yield "the steps' times do not follow each other"
    spans = [episode.wall_seconds, episode.browser_seconds, episode.engine_seconds]
    spans += [ms for s in episode.steps for ms in (s.observe_ms, s.think_ms, s.act_ms)]
    if any(not math.isfinite(span) or span < 0 for span in spans):
        yield "a duration is negative or not finite"


def _expected_size(episode: Episode) -> tuple[int, int]:
    scale = episode.device_scale_factor
    return round(episode.viewport_width * scale), round(episode.viewport_height * scale)


def _allowed_origins(episode: Episode) -> list[str]:
    session = episode.capsule.get("session")
    origins = session.get("allowed_origins") if isinstance(session, dict) else None
    return [str(item) for item in origins] if isinstance(origins, list) else []


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
