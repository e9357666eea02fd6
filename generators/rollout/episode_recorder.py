"""The input of an attempt, the steps and results that a try records, and the episode made of them.

The recorder turns observations and actions into steps as they happen. A step is complete only when the next
observation shows whether anything changed, so the recorder keeps the last one open until then. The final
observation becomes a row too, with the action `none`.

The capsule of an episode holds everything that a replay needs beside the episode's columns: the visit of
the task and the settings of the session. It does not depend on the machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from generators.browser.picture import read_picture
from generators.browser.protocol import PRODUCT, SessionSpec
from generators.engine.stopwatch import Stopwatch
from generators.policy.protocol import Decision, PolicyCard
from generators.sites.protocol import Outcome, Visit
from generators.sites.state import StateChange
from schemas.base import JsonObject, Record, sha256_hex
from schemas.episodes.action import Answer, NoAction, target_point
from schemas.episodes.call import Call, join_versions, usage, versions_of
from schemas.episodes.episode import (
    BlockedRequests,
    Episode,
    FailedTry,
    Step,
    StopReason,
    browser_seconds,
    steps_sha256,
)
from schemas.episodes.observation import Effect, Observation, visible_state
from schemas.errors import FailureKind, RolloutFailure
from schemas.ids import episode_id, group_id
from schemas.tasks.task import Task


class Attempt(Record):
    """One attempt at a task, and the viewport in which the policy sees it."""

    run_id: str
    """The run it belongs to."""
    unit_id: str
    """The unit it is committed with."""
    task: Task
    """The task to attempt."""
    attempt: int
    """The attempt's number, from 0."""
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
    """The results of one try. The loop fills them in; fields that it did not reach keep their defaults."""

    instruction: str
    """The goal as the page states it; the task's own if no page was opened."""
    browser_version: str
    """Empty if no browser was started."""
    visit: Visit | None = None
    """The visit of the task; None if the site failed before it."""
    spec: SessionSpec | None = None
    """The settings of the session; None if none was opened."""
    before: Outcome | None = None
    """The site's report before the first action; None if it made no report."""
    after: Outcome | None = None
    """The site's report after the last action; None if there was no action."""
    change: StateChange | None = None
    """The change of the server's state; None if the page is the judge, or before the try's end."""
    stop: StopReason = StopReason.FAILED
    """Why the try ended."""
    failure: RolloutFailure | None = None
    """The failure of the try; None if it succeeded."""
    blocked: tuple[BlockedRequests, ...] = ()
    """Requests of its pages to hosts that are not served."""
    steps: tuple[Step, ...] = ()
    """The steps. The last one is the final observation, unless the browser broke before it."""
    calls: tuple[Call, ...] = ()
    """The calls to the engine."""


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
        """The number of rows that `close` returns now."""
        return len(self.steps) + self._has_final_row

    @property
    def _has_final_row(self) -> bool:
        return self._observation is not None and self._pending is None

    def add_observation(self, seen: Observation) -> None:
        """Add an observation, which completes the step before it."""
        if self._pending is not None and self._observation is not None:
            changed = visible_state(seen) != visible_state(self._observation)
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
                "injected_mistake": decision.injected_mistake,
                "action_error": effect.error,
                "result_text": effect.result_text,
                "downloads": effect.downloads or None,
                "delta": outcome.delta,
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
            screenshot_phash=read_picture(seen.screenshot.bytes).difference_hash,
            width=seen.width,
            height=seen.height,
            page=seen.page,
            action=NoAction(),
            observe_ms=seen.observe_ms,
            at=self._at,
            elements=seen.elements,
            elements_left_out=seen.elements_left_out,
            sights=seen.sights,
        )


def to_episode(
    attempt: Attempt,
    result: TryRecord,
    *,
    card: PolicyCard,
    failed_tries: Sequence[FailedTry],
    stopwatch: Stopwatch,
) -> Episode:
    """Return the episode of an attempt that ends now; `result` is its last try."""
    task, visit, failure = attempt.task, result.visit, result.failure
    last = result.after or result.before
    taken = [step for step in result.steps if not isinstance(step.action, NoAction)]
    ended_at = stopwatch.now
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
        privileged=card.privileged,
        dialect=card.dialect,
        model=card.model,
        weights_version=join_versions(versions_of(result.calls)),
        engine=card.engine,
        engine_version=card.engine_version,
        sampling=card.sampling,
        prompt_sha256=card.prompts[0].prompt_sha256 if card.prompts else None,
        browser=PRODUCT,
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
        state_before_sha256=result.change.before_sha256 if result.change else None,
        state_after_sha256=result.change.after_sha256 if result.change else None,
        delta=result.change.delta if result.change else None,
        tries=tuple(failed_tries) or None,
        blocked=result.blocked or None,
        trainable=failure is None or failure.kind is FailureKind.POLICY,
        **usage(result.calls).model_dump(),
        browser_seconds=browser_seconds(result.steps),
        wall_seconds=(ended_at - stopwatch.started).total_seconds(),
        started_at=stopwatch.started,
        ended_at=ended_at,
        content_sha256=steps_sha256(result.steps),
        steps=result.steps,
        calls=result.calls,
        prompts=card.prompts,
    )


def _capsule(task: Task, result: TryRecord) -> JsonObject:
    capsule: JsonObject = {"template_id": task.template_id, "site_version": task.site_version}
    if result.visit is not None:
        capsule["visit"] = result.visit.model_dump(mode="json")
    if result.spec is not None:
        capsule["session"] = result.spec.model_dump(mode="json")
    return capsule
