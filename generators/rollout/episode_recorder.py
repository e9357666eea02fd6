"""What an attempt starts from, the steps and results that a try records, and the episode made of them.

The recorder turns observations and actions into steps as they happen. A step is complete only when the
next observation shows whether anything changed, so the recorder keeps the last one open until then. The
final observation becomes a row too, with the action `none`.

The capsule of an episode holds all that a replay needs beside the episode's columns: how the task was
visited and what the session was made from. Nothing in it depends on the machine.
"""

import io
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from PIL import Image

from generators.browser.protocol import SessionSpec
from generators.engine.stopwatch import Stopwatch
from generators.policy.protocol import Decision, PolicyCard
from generators.sites.protocol import Outcome, Visit
from schemas.action import Answer, NoAction, target_point
from schemas.base import JsonObject, Record, sha256_hex
from schemas.call import Call
from schemas.episode import Episode, FailedTry, Step, StopReason, steps_sha256
from schemas.errors import FailureKind, RolloutFailure
from schemas.ids import episode_id, group_id
from schemas.observation import Effect, Observation
from schemas.task import Task

Number = TypeVar("Number", int, float)

BROWSER = "chromium"
"""What episodes call the browser."""

_HASH_WIDTH, _HASH_HEIGHT = 9, 8


class Attempt(Record):
    """One attempt at a task, and the viewport in which the policy sees it."""

    run_id: str
    """The run it belongs to."""
    unit_id: str
    """The unit it is committed with."""
    task: Task
    """The task to attempt."""
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
    """The results of one try. The loop fills them in; what it did not reach keeps its default."""

    instruction: str
    """The goal as the page states it; the task's own where no page was opened."""
    browser_version: str
    """Empty if no browser was started."""
    visit: Visit | None = None
    """How the task was visited; None if the site broke before it could say."""
    spec: SessionSpec | None = None
    """What the session was made from; None if none was opened."""
    before: Outcome | None = None
    """What the site reported before the first action; None if it was never asked."""
    after: Outcome | None = None
    """What the site reported after the last action; None if there was no action."""
    stop: StopReason = StopReason.FAILED
    """Why the try ended."""
    failure: RolloutFailure | None = None
    """What broke; None if nothing did."""
    steps: tuple[Step, ...] = ()
    """Its steps. The last one is the final observation, unless the browser broke before it."""
    calls: tuple[Call, ...] = ()
    """Its calls of the engine."""


class Recorder:
    """The steps of one try."""

    def __init__(self, stopwatch: Stopwatch, *, viewport_width: int, viewport_height: int) -> None:
        self._stopwatch = stopwatch
        self._width = viewport_width
        self._height = viewport_height
        self._observation: Observation | None = None
        self._at = stopwatch.started
        self._pending: Step | None = None
        self._done: list[Step] = []

    @property
    def observation(self) -> Observation:
        """The last observation."""
        if self._observation is None:
            raise AssertionError("there is no observation yet")
        return self._observation

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps whose action was carried out; the last one may still be open."""
        return (*self._done, self._pending) if self._pending else tuple(self._done)

    @property
    def n_rows(self) -> int:
        """How many rows `close` returns now."""
        return len(self.steps) + self._has_final_row

    @property
    def _has_final_row(self) -> bool:
        return self._observation is not None and self._pending is None

    def add_observation(self, seen: Observation) -> None:
        """Add an observation, which completes the step before it."""
        if self._pending is not None and self._observation is not None:
            changed = _visible_state(seen) != _visible_state(self._observation)
            self._done.append(self._pending.model_copy(update={"state_changed": changed}))
            self._pending = None
        self._observation = seen
        self._at = self._stopwatch.now

    def add_action(
        self, decision: Decision, effect: Effect, outcome: Outcome, *, think_ms: float
    ) -> None:
        """Add the action that was decided on the last observation, and its effect."""
        point = target_point(decision.action)
        self._pending = self._row().model_copy(
            update={
                "thought": decision.thought,
                "thought_source": decision.thought_source,
                "note": decision.note,
                "action": decision.action,
                "x_norm": None if point is None else point[0] / self._width,
                "y_norm": None if point is None else point[1] / self._height,
                "target": effect.target,
                "raw_reply": decision.raw_reply,
                "parse_error": decision.parse_error,
                "action_error": effect.error,
                "result_text": effect.result_text,
                "reward": outcome.reward,
                "terminated": outcome.done,
                "think_ms": think_ms,
                "act_ms": effect.act_ms,
            }
        )

    def close(self, *, truncated: bool) -> tuple[Step, ...]:
        """Return all steps, the final state as the last; `truncated` marks the last action."""
        steps = list(self.steps)
        if truncated and steps:
            steps[-1] = steps[-1].model_copy(update={"truncated": True})
        final = [self._row()] if self._has_final_row else []
        return (*steps, *final)

    def _row(self) -> Step:
        seen = self.observation
        return Step(
            step=len(self._done),
            screenshot=seen.screenshot,
            screenshot_sha256=sha256_hex(seen.screenshot.bytes),
            screenshot_phash=difference_hash(seen.screenshot.bytes),
            width=seen.width,
            height=seen.height,
            page=seen.page,
            action=NoAction(),
            observe_ms=seen.observe_ms,
            at=self._at,
            elements=seen.elements,
        )


def _visible_state(seen: Observation) -> tuple[bytes, str | None, str | None, str]:
    return (seen.screenshot.bytes, seen.page.dom_sha256, seen.page.form_sha256, seen.page.url)


def difference_hash(picture: bytes) -> str:
    """Return the 64-bit difference hash of an encoded picture, in hex.

    Each bit says whether a pixel of the picture, reduced to 9×8 pixels in grey, is darker than its right
    neighbour (dHash, N. Krawetz, "Kind of Like That", 2013).
    """
    with Image.open(io.BytesIO(picture)) as image:
        image.draft("L", (_HASH_WIDTH * 8, _HASH_HEIGHT * 8))
        small = image.convert("L").resize((_HASH_WIDTH, _HASH_HEIGHT), Image.Resampling.BILINEAR)
    grey = small.tobytes()
    bits = 0
    for y in range(_HASH_HEIGHT):
        row = grey[y * _HASH_WIDTH : (y + 1) * _HASH_WIDTH]
        for left, right in itertools.pairwise(row):
            bits = bits << 1 | (left < right)
    return f"{bits:016x}"


def to_episode(
    attempt: Attempt,
    result: TryRecord,
    *,
    card: PolicyCard,
    failed_tries: Sequence[FailedTry],
    stopwatch: Stopwatch,
) -> Episode:
    """Return the episode of an attempt that ends now and whose last try left `result`."""
    task, visit, failure = attempt.task, result.visit, result.failure
    last = result.after or result.before
    taken = [step for step in result.steps if not isinstance(step.action, NoAction)]
    return Episode(
        **attempt.model_dump(exclude={"task"}),
        episode_id=episode_id(attempt.run_id, task.task_id, attempt.attempt),
        task_id=task.task_id,
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
        clock_ms=visit.clock.start_ms if visit is not None and visit.clock is not None else 0,
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
        steps=result.steps,
        calls=result.calls,
        prompts=card.prompts,
    )


def _usage_columns(calls: Sequence[Call]) -> dict[str, Any]:
    """Return the fields of an episode that sum up its calls of the engine."""
    return {
        "prompt_tokens": sum(call.prompt_tokens or 0 for call in calls),
        "completion_tokens": sum(call.completion_tokens or 0 for call in calls),
        "cached_tokens": _sum_known(call.cached_tokens for call in calls),
        "image_tokens": _sum_known(call.image_tokens for call in calls),
        "engine_seconds": sum(call.total_ms or 0 for call in calls) / 1_000,
        "cost_usd": _sum_known(call.cost_usd for call in calls),
    }


def _sum_known(values: Iterable[Number | None]) -> Number | None:
    """Return the sum of the values that are not None; None if all are."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


def _capsule(task: Task, result: TryRecord) -> JsonObject:
    capsule: JsonObject = {"template_id": task.template_id, "site_version": task.site_version}
    if result.visit is not None:
        capsule["visit"] = result.visit.model_dump(mode="json")
    if result.spec is not None:
        capsule["session"] = result.spec.model_dump(mode="json")
    return capsule
