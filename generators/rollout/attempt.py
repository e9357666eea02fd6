"""What an attempt starts from, what one try of it leaves behind, and the episode made of both.

The capsule holds all that a replay needs beside the episode's columns: how the task was visited
and what the session was made from. Nothing in it depends on the machine.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from generators.browser.protocol import SessionSpec
from generators.engine.stopwatch import Stopwatch
from generators.policy.protocol import PolicyCard
from generators.sites.protocol import Outcome, Visit
from schemas.action import Answer, NoAction
from schemas.base import JsonObject, Record
from schemas.call import Call
from schemas.episode import Episode, FailedTry, Step, StopReason, steps_sha256
from schemas.errors import FailureKind, RolloutFailure
from schemas.ids import episode_id, group_id
from schemas.task import Task

Number = TypeVar("Number", int, float)

BROWSER = "chromium"
"""What episodes call the browser."""


class Attempt(Record):
    """Which attempt this is, and how it is looked at."""

    run_id: str
    """The run it belongs to."""
    unit_id: str
    """The unit it is committed with."""
    task: Task
    """What is attempted."""
    attempt: int
    """From 0."""
    viewport_width: int
    """CSS px."""
    viewport_height: int
    """CSS px."""
    device_scale_factor: float
    """Picture px per CSS px."""
    code_version: str
    """The program's version and commit."""


@dataclass(slots=True, kw_only=True)
class TryRecord:
    """What one try leaves behind; the loop fills it in, and what it did not reach stays as here."""

    instruction: str
    """As the page states it; the task's where the page was never asked."""
    browser_version: str
    """Empty if no browser was started."""
    visit: Visit | None = None
    """How the task was visited; None if the site could not say."""
    spec: SessionSpec | None = None
    """What the session was made from; None if none was made."""
    before: Outcome | None = None
    """Before the first action; None if the site was never asked."""
    after: Outcome | None = None
    """After the last action; None without one."""
    stop: StopReason = StopReason.FAILED
    """Why it ended."""
    failure: RolloutFailure | None = None
    """What broke; None if nothing did."""
    steps: tuple[Step, ...] = ()
    """The final look is the last, unless the browser broke before it."""
    calls: tuple[Call, ...] = ()
    """Of the engine."""


def to_episode(
    attempt: Attempt,
    result: TryRecord,
    *,
    card: PolicyCard,
    failed_tries: Sequence[FailedTry],
    stopwatch: Stopwatch,
) -> Episode:
    """Return the episode of an attempt that ends now and whose last try left `result`."""
    task, failure = attempt.task, result.failure
    last = result.after or result.before
    taken = [step for step in result.steps if not isinstance(step.action, NoAction)]
    return Episode(
        episode_id=episode_id(attempt.run_id, task.task_id, attempt.attempt),
        run_id=attempt.run_id,
        unit_id=attempt.unit_id,
        task_id=task.task_id,
        attempt=attempt.attempt,
        group_id=group_id(attempt.run_id, task.task_id),
        instruction=result.instruction,
        site=task.site,
        start_url=task.start_url,
        policy=card.name,
        policy_kind=card.kind,
        dialect=card.dialect,
        model=card.model,
        engine=card.engine,
        engine_version=card.engine_version,
        sampling=card.sampling,
        prompt_sha256=card.prompts[0].prompt_sha256 if card.prompts else None,
        browser=BROWSER,
        browser_version=result.browser_version,
        viewport_width=attempt.viewport_width,
        viewport_height=attempt.viewport_height,
        device_scale_factor=attempt.device_scale_factor,
        clock_ms=_clock_ms(result.visit),
        seed=task.seed,
        capsule=_capsule(task, result),
        stop_reason=result.stop,
        failure_kind=failure.kind.value if failure else None,
        failure_message=failure.message if failure else None,
        answer=next((s.action.text for s in taken[::-1] if isinstance(s.action, Answer)), None),
        n_steps=len(taken),
        reward=last.reward if last else None,
        reward_before=result.before.reward if result.before else None,
        done=last.done if last else False,
        tries=tuple(failed_tries) or None,
        trainable=failure is None or failure.kind is FailureKind.POLICY,
        **_usage_columns(result.calls),
        browser_seconds=sum(s.observe_ms + s.act_ms for s in result.steps) / 1_000,
        wall_seconds=stopwatch.wall_seconds,
        started_at=stopwatch.started,
        ended_at=stopwatch.now,
        content_sha256=steps_sha256(result.steps),
        code_version=attempt.code_version,
        steps=result.steps,
        calls=result.calls,
        prompts=card.prompts,
    )


def _usage_columns(calls: Sequence[Call]) -> dict[str, Any]:
    """Return what the engine did for an episode, as fields of it."""
    return {
        "prompt_tokens": sum(call.prompt_tokens or 0 for call in calls),
        "completion_tokens": sum(call.completion_tokens or 0 for call in calls),
        "cached_tokens": _sum_known(call.cached_tokens for call in calls),
        "image_tokens": _sum_known(call.image_tokens for call in calls),
        "engine_seconds": sum(call.total_ms or 0 for call in calls) / 1_000,
        "cost_usd": _sum_known(call.cost_usd for call in calls),
    }


def _sum_known(values: Iterable[Number | None]) -> Number | None:
    """Return the sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


def _clock_ms(visit: Visit | None) -> int:
    return visit.clock.start_ms if visit is not None and visit.clock is not None else 0


def _capsule(task: Task, result: TryRecord) -> JsonObject:
    capsule: JsonObject = {"template_id": task.template_id, "site_version": task.site_version}
    if result.visit is not None:
        capsule["visit"] = result.visit.model_dump(mode="json")
    if result.spec is not None:
        capsule["session"] = result.spec.model_dump(mode="json")
    return capsule
