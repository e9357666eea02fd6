"""The limits of an attempt, and the one place that checks them, in one order.

The rollout checks them before each decision; the first that holds is the stop reason:

1. `finished`: the site reported that the task is done. No action follows, but for the answer of a teacher, which is
   asked once more then (`PolicyCard.answers_after_done`); it does not count towards the number of actions.
2. `answered`: the policy gave its answer.
3. `stuck`: the same action on the same picture, `stuck_steps` times in a row.
4. `step_limit`: `steps` actions were taken.
5. `time_limit`: `seconds` have passed since the try began.
6. `token_limit`: `tokens` were used, prompts and completions together.

If the time runs out while the policy is deciding, the attempt ends at once. A page that is still busy a
moment later fails the attempt. Waiting does not count: for a turn, in a queue, or for an engine that
restarts or never answers. The time that an engine took to write a reply is added when the reply arrives.
"""

from collections.abc import Sequence

from pydantic import Field

from schemas.base import Record
from schemas.configuration.sections import LimitsSection
from schemas.episodes.action import Answer
from schemas.episodes.episode import Step, StopReason
from schemas.tasks.task import Task


class Limits(Record):
    """The largest amounts that an attempt may use."""

    steps: int = Field(ge=1)
    """Number of actions."""
    seconds: float = Field(gt=0)
    """Wall-clock seconds of one try."""
    tokens: int | None = None
    """Prompt and completion tokens together; None: no limit."""
    stuck_steps: int = Field(ge=2)
    """Number of equal actions in a row on the same picture that ends the attempt."""


def make_limits(task: Task, section: LimitsSection) -> Limits:
    """Return the limits of an attempt at `task`; the smaller of the task's and the run's step limits counts."""
    return Limits(
        steps=min(section.steps, task.max_steps),
        seconds=section.seconds,
        tokens=section.tokens,
        stuck_steps=section.stuck_steps,
    )


def stop_reason(
    limits: Limits, steps: Sequence[Step], *, seconds: float, tokens: int
) -> StopReason | None:
    """Return why an attempt with these finished steps ends now; None if it continues."""
    last = steps[-1] if steps else None
    reached = (
        (StopReason.FINISHED, last is not None and last.terminated),
        (StopReason.ANSWERED, last is not None and isinstance(last.action, Answer)),
        (StopReason.STUCK, is_stuck(steps, limits.stuck_steps)),
        (StopReason.STEP_LIMIT, len(steps) >= limits.steps),
        (StopReason.TIME_LIMIT, seconds >= limits.seconds),
        (StopReason.TOKEN_LIMIT, limits.tokens is not None and tokens >= limits.tokens),
    )
    return next((reason for reason, holds in reached if holds), None)


def is_stuck(steps: Sequence[Step], times: int) -> bool:
    """Return whether the last `times` steps have the same picture and the same action."""
    last = steps[-times:]
    if len(last) < times:
        return False
    first = last[0]
    return all(
        step.screenshot_sha256 == first.screenshot_sha256 and step.action == first.action
        for step in last
    )
