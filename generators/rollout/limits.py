"""Where an attempt ends at the latest: limits as one record, checked in one order in one place.

Checked before each decision, in this order; the first that holds is the stop reason:

1. `finished`: the site said it is done. Nothing is done after it.
2. `answered`: the policy gave its answer.
3. `stuck`: the same action on the same picture, `stuck_steps` times in a row.
4. `step_limit`: `steps` actions were taken.
5. `time_limit`: `seconds` have gone by since the try began.
6. `token_limit`: `tokens` were used, prompts and completions together.

A time limit that runs out while the policy thinks ends the attempt there. Nothing else is ever
killed for being slow.
"""

from collections.abc import Sequence

from pydantic import Field

from schemas.action import Answer
from schemas.base import Record
from schemas.episode import Step, StopReason
from schemas.sections import LimitsSection
from schemas.task import Task


class Limits(Record):
    """The most an attempt may take."""

    steps: int = Field(ge=1)
    """Actions."""
    seconds: float = Field(gt=0)
    """Wall seconds of one try."""
    tokens: int | None = None
    """Prompt and completion tokens; None: no limit."""
    stuck_steps: int = Field(ge=2)
    """The same action on the same picture, in a row."""


def make_limits(task: Task, section: LimitsSection) -> Limits:
    """Return the limits of an attempt at `task`: the lower of the task's and the run's steps."""
    return Limits(
        steps=min(section.steps, task.max_steps),
        seconds=section.seconds,
        tokens=section.tokens,
        stuck_steps=section.stuck_steps,
    )


def stop_reason(
    limits: Limits, steps: Sequence[Step], *, seconds: float, tokens: int
) -> StopReason | None:
    """Return why an attempt with these finished steps ends now; None if it goes on."""
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
    """Say whether the last `times` steps saw one picture and took one action."""
    last = steps[-times:]
    if len(last) < times:
        return False
    first = last[0]
    return all(
        step.screenshot_sha256 == first.screenshot_sha256 and step.action == first.action
        for step in last
    )
