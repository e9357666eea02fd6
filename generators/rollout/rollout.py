"""One attempt at one task: the loop, and the boundary where every failure becomes a row.

`rollout` always returns an episode. If the browser or the site fails, it tries again in a fresh session and
keeps the failed tries in the episode's row. It does not repeat a try after a policy's mistake, or after a
failure of the page that would recur. The boundary includes making the record: if a row cannot hold a page's
text, only that episode fails. Only the `except` of `_Runner.run` ends a failure of any kind; `boundary`
gives a failure its kind and raises it again.
"""

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from generators.browser.protocol import Session, Sessions
from generators.browser.slots import while_waiting
from generators.engine.stopwatch import Stopwatch
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, Policy, PolicyInput
from generators.rollout.episode_recorder import Attempt, Recorder, TryRecord, to_episode
from generators.rollout.limits import Limits, stop_reason
from generators.sites.protocol import Outcome, Problem, Site, Visit
from generators.sites.state import StateChange
from schemas.episodes.action import Answer, NoAction
from schemas.episodes.episode import Episode, FailedTry, StopReason
from schemas.episodes.observation import Effect
from schemas.episodes.viewport import Viewport, on_pixels
from schemas.errors import FailureKind, Refusal, RolloutFailure, boundary

ENVIRONMENT_TRIES = 3
"""Largest number of tries of an attempt whose browser or site fails."""

GRACE_SECONDS = 1.0
"""Time after its time limit in which a try may still use its page, seconds; reading the site's state and
closing come on top."""

LOG = logging.getLogger(__name__)


async def rollout(
    attempt: Attempt,
    *,
    site: Site,
    sessions: Sessions,
    make_policy: Callable[[Account], Policy],
    limits: Limits,
) -> Episode:
    """Attempt a task and return the episode, however it ended.

    Each try gets a new policy, made with the account in which the policy records its calls.
    Cancellation passes through and leaves no episode.

    Raises:
        Refusal: the program cannot continue at all (no browser starts).
    """
    stopwatch = Stopwatch()
    failed_tries: list[FailedTry] = []
    while True:
        account = Account(stopwatch)
        policy = make_policy(account)
        runner = _Runner(attempt, site, sessions, limits, policy, account)
        failure = await runner.run()
        if len(failed_tries) + 1 >= ENVIRONMENT_TRIES or failure is None or not failure.again:
            break
        if runner.recorder.steps and not policy.card.tries_again:
            break
        LOG.info("trying again template=%s: %s", attempt.task.template_id, failure)
        failed_tries.append(
            FailedTry(
                failure_kind=failure.kind,
                failure_message=failure.message,
                n_steps=runner.recorder.n_rows,
            )
        )
    record = partial(
        to_episode,
        attempt,
        card=policy.card,
        failed_tries=failed_tries,
        stopwatch=stopwatch,
    )
    try:
        with boundary(FailureKind.PAGE, "recording the episode"):
            return record(runner.close())
    except RolloutFailure as unfit:
        LOG.exception("no row can hold what an episode's page states")
        return record(
            TryRecord(
                instruction=attempt.task.instruction,
                browser_version=sessions.version,
                failure=unfit,
                calls=tuple(account.calls),
            )
        )


@dataclass(slots=True)
class _Runner:
    """One try: its resources, and the record that it fills in."""

    attempt: Attempt
    site: Site
    sessions: Sessions
    limits: Limits
    policy: Policy
    account: Account
    recorder: Recorder = field(init=False)
    record: TryRecord = field(init=False)
    begun: float = field(init=False)
    """The attempt's stopwatch when the try begins, s."""

    def __post_init__(self) -> None:
        self.begun = self.account.stopwatch.seconds
        self.recorder = Recorder(
            self.account.stopwatch,
            viewport_width=self.attempt.viewport_width,
            viewport_height=self.attempt.viewport_height,
        )
        self.record = TryRecord(
            instruction=self.attempt.task.instruction, browser_version=self.sessions.version
        )

    async def run(self) -> RolloutFailure | None:
        """Run to the end and return the failure, if any.

        Only cancellation and refusals escape.
        """
        stopwatch = self.account.stopwatch
        try:
            with while_waiting(stopwatch.pause):
                self.record.stop = await self._run()
        except RolloutFailure as failure:
            self.record.failure = failure
        except TimeoutError:  # of the limit: all others have become failures
            late = f"the try was not over {GRACE_SECONDS:g} s after its {self.limits.seconds:g} s"
            self.record.failure = RolloutFailure(FailureKind.PAGE, late)
        except Refusal:
            raise
        except Exception as error:
            LOG.exception("a rollout failed because of a defect of this program")
            message = f"{type(error).__name__}: {error}"
            self.record.failure = RolloutFailure(FailureKind.INTERNAL, message)
        return self.record.failure

    def close(self) -> TryRecord:
        """Return the record with the steps and calls of the try."""
        self.record.steps = self.recorder.close(truncated=self.record.stop.truncates)
        self.record.calls = tuple(self.account.calls)
        return self.record

    @property
    def _viewport(self) -> Viewport:
        attempt = self.attempt
        return Viewport(
            width=attempt.viewport_width,
            height=attempt.viewport_height,
            scale=attempt.device_scale_factor,
        )

    async def _run(self) -> StopReason:
        """Return why the try ended, with the site's state before and after it recorded."""
        late = self.begun + self.limits.seconds + GRACE_SECONDS
        async with contextlib.AsyncExitStack() as stack:
            async with self.account.stopwatch.limit(late):
                visit, session = await self._visit(stack)
                await session.open(visit.start_url)
                problem = await self.site.begin(visit, session)
                self.record.instruction = problem.goal
                before = await self.site.state(problem)
                self.record.before = await self.site.outcome(problem, session)
                stop = await self._loop(session, problem)
            after = await self.site.state(problem)
            if before is not None and after is not None:
                self.record.change = await StateChange.between(before, after)
            return stop

    async def _visit(self, stack: contextlib.AsyncExitStack) -> tuple[Visit, Session]:
        """Return a visit to the site and a session for it, both open until the stack closes."""
        with boundary(FailureKind.SITE, "visiting"):
            visit = await stack.enter_async_context(self.site.open(self.attempt.task))
        self.record.visit = visit
        spec = self.record.spec = visit.session_spec(
            viewport_width=self.attempt.viewport_width,
            viewport_height=self.attempt.viewport_height,
            device_scale_factor=self.attempt.device_scale_factor,
            task=self.attempt.task,
        )
        session = await stack.enter_async_context(self.sessions.session(spec))
        stack.callback(self._keep_blocked, session)
        self.record.browser_version = session.browser_version
        return visit, session

    def _keep_blocked(self, session: Session) -> None:
        self.record.blocked = session.blocked_requests()

    async def _loop(self, session: Session, problem: Problem) -> StopReason:
        stopwatch = self.account.stopwatch
        while True:
            self.recorder.add_observation(await session.observe())
            stop = stop_reason(
                self.limits,
                self.recorder.steps,
                seconds=stopwatch.seconds - self.begun,
                tokens=self.account.tokens,
            )
            if stop is not None:
                if stop is StopReason.FINISHED and self._is_asked_once_more:
                    await self._add_answer(session, problem)
                return stop
            asked = stopwatch.wall_seconds
            try:
                decision = await self._decide(session)
            except TimeoutError:
                return StopReason.TIME_LIMIT
            think_ms = (stopwatch.wall_seconds - asked) * 1_000
            await self._act(session, problem, decision, think_ms=think_ms)

    @property
    def _is_asked_once_more(self) -> bool:
        """Whether the policy answers after the end, and has not."""
        (*_, last) = self.recorder.steps
        return self.policy.card.answers_after_done and not isinstance(last.action, Answer)

    async def _add_answer(self, session: Session, problem: Problem) -> None:
        """Have the policy answer after the site's end, which no longer changes; nothing if the time is over.

        Raises:
            RolloutFailure: the policy does not answer, or fails.
        """
        asked = self.account.stopwatch.wall_seconds
        try:
            decision = await self._decide(session)
        except TimeoutError:
            return
        if not isinstance(decision.action, Answer):
            said = f"expected an answer after the end, got '{decision.action.type}'"
            raise RolloutFailure(FailureKind.POLICY, said)
        think_ms = (self.account.stopwatch.wall_seconds - asked) * 1_000
        await self._act(session, problem, decision, think_ms=think_ms)
        self.recorder.add_observation(await session.observe())

    async def _decide(self, session: Session) -> Decision:
        """Ask the policy.

        Raises:
            TimeoutError: the try's time ran out while the policy was deciding.
            RolloutFailure: the policy failed, or decided on no action.
        """
        reader = session.reader if self.policy.card.privileged else None
        async with self.account.stopwatch.limit(self.begun + self.limits.seconds):
            with boundary(FailureKind.POLICY, self.policy.card.name):
                decision = await self.policy.act(
                    PolicyInput(
                        self.record.instruction,
                        self.recorder.steps,
                        self.recorder.observation,
                        reader,
                    )
                )
        if self.account.stopwatch.seconds - self.begun >= self.limits.seconds:
            raise TimeoutError  # a reply took it, which counts when it is there
        if isinstance(decision.action, NoAction):
            raise RolloutFailure(FailureKind.POLICY, "expected an action from the policy, got none")
        return decision

    async def _act(
        self, session: Session, problem: Problem, decision: Decision, *, think_ms: float
    ) -> None:
        """Carry out a decision, at whole pixels of the picture, and record it, even if it breaks the page."""
        action = on_pixels(decision.action, self._viewport)
        decision = decision.model_copy(update={"action": action})
        try:
            effect = await session.act(decision.action)
            answer = action.text if isinstance(action, Answer) else None
            outcome = await self.site.outcome(problem, session, answer=answer)
            self.record.after = outcome
        except RolloutFailure as failure:
            broken = Effect(error=failure.message, act_ms=0.0)
            unknown = Outcome(reward=None, done=False)
            self.recorder.add_action(decision, broken, unknown, think_ms=think_ms)
            raise
        self.recorder.add_action(decision, effect, outcome, think_ms=think_ms)
