"""One attempt at one task: the loop, and the boundary where every failure becomes a row.

`rollout` always returns an episode. What breaks around the policy (browser, page, clock, site) is
tried again in a fresh session, and the failed tries stay on record in the one row; what the policy
gets wrong is never tried again. Making the record lies inside the boundary too: what a page says
and no row can hold costs that episode and no other. This module holds the only broad `except` of the program.
"""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TypeGuard

from pydantic import JsonValue

from generators.browser.protocol import Session, Sessions, SessionSpec
from generators.policy.model.usage import Account
from generators.policy.protocol import Decision, Policy
from generators.rollout.attempt import Attempt, Try, to_episode
from generators.rollout.limits import Limits, stop_reason
from generators.rollout.recorder import Recorder
from generators.sites.protocol import Outcome, Site, Visit
from schemas.action import NoAction
from schemas.episode import Episode, StopReason
from schemas.errors import ENVIRONMENT_FAILURES, FailureKind, Refusal, RolloutFailure, boundary
from schemas.observation import Effect

ENVIRONMENT_TRIES = 3
"""How often an attempt is begun at most, while what surrounds the policy breaks."""

LOG = logging.getLogger(__name__)


async def rollout(
    attempt: Attempt,
    *,
    site: Site,
    sessions: Sessions,
    make_policy: Callable[[Account], Policy],
    limits: Limits,
) -> Episode:
    """Attempt a task and return what happened, whatever it was.

    A fresh policy is made for each try, with the account it books its calls to. Cancellation passes through and leaves no episode.

    Raises:
        Refusal: the program cannot go on at all (no browser starts).
    """
    started, begun = datetime.now(UTC), time.perf_counter()
    tries: list[dict[str, JsonValue]] = []
    while True:
        account = Account()
        policy = make_policy(account)
        runner = _Runner(
            attempt, site=site, sessions=sessions, policy=policy, limits=limits, account=account
        )
        stop, failure = await runner.run()
        if len(tries) + 1 >= ENVIRONMENT_TRIES or not _worth_another(failure):
            break
        LOG.info("trying again template=%s: %s", attempt.task.template_id, failure)
        tries.append(runner.note(failure))
    record = partial(
        to_episode,
        attempt,
        card=policy.card,
        tries=tries,
        started=started,
        seconds=time.perf_counter() - begun,
    )
    try:
        with boundary(FailureKind.PAGE, "recording the episode"):
            return record(runner.left(stop, failure))
    except RolloutFailure as unfit:
        LOG.exception("an episode cannot hold what its page said")
        bare = Try.bare(attempt.task, unfit, calls=account.calls, browser_version=sessions.version)
        return record(bare)


def _worth_another(failure: RolloutFailure | None) -> TypeGuard[RolloutFailure]:
    return failure is not None and failure.kind in ENVIRONMENT_FAILURES


class _Runner:
    """One try."""

    def __init__(
        self,
        attempt: Attempt,
        *,
        site: Site,
        sessions: Sessions,
        policy: Policy,
        limits: Limits,
        account: Account,
    ) -> None:
        self._attempt = attempt
        self._site = site
        self._sessions = sessions
        self._policy = policy
        self._limits = limits
        self._recorder = Recorder(
            viewport_width=attempt.viewport_width, viewport_height=attempt.viewport_height
        )
        self._account = account
        self._instruction = attempt.task.instruction
        self._before: Outcome | None = None
        self._after: Outcome | None = None
        self._visit: Visit | None = None
        self._spec: SessionSpec | None = None
        self._version = sessions.version

    async def run(self) -> tuple[StopReason, RolloutFailure | None]:
        """Run to the end and return why it ended; only cancellation and refusals escape."""
        try:
            return await self._run(), None
        except RolloutFailure as broken:
            return StopReason.FAILED, broken
        except Refusal:
            raise
        except Exception as error:
            LOG.exception("a rollout broke inside")
            message = f"{type(error).__name__}: {error}"
            return StopReason.FAILED, RolloutFailure(FailureKind.INTERNAL, message)

    def note(self, failure: RolloutFailure) -> dict[str, JsonValue]:
        """Return what stays on record of a try after which another follows."""
        return {
            "failure_kind": failure.kind.value,
            "failure_message": failure.message,
            "n_steps": self._recorder.rows,
        }

    def left(self, stop: StopReason, failure: RolloutFailure | None) -> Try:
        """Return what the try leaves behind."""
        return Try(
            steps=self._recorder.close(truncated=stop in _TRUNCATING),
            calls=tuple(self._account.calls),
            stop=stop,
            instruction=self._instruction,
            before=self._before,
            after=self._after,
            failure=failure,
            visit=self._visit,
            spec=self._spec,
            browser_version=self._version,
        )

    async def _run(self) -> StopReason:
        with boundary(FailureKind.SITE, "visiting"):
            self._visit = await self._site.visit(self._attempt.task)
        self._spec = SessionSpec(
            viewport_width=self._attempt.viewport_width,
            viewport_height=self._attempt.viewport_height,
            device_scale_factor=self._attempt.device_scale_factor,
            allowed_origins=self._visit.allowed_origins,
            clock=self._visit.clock,
        )
        async with self._sessions.session(self._spec) as session:
            self._version = session.browser_version
            await session.open(self._visit.start_url)
            self._instruction = await self._site.begin(self._visit, session)
            self._before = await self._site.outcome(session)
            return await self._loop(session)

    async def _loop(self, session: Session) -> StopReason:
        while True:
            self._recorder.saw(await session.observe())
            stop = stop_reason(
                self._limits,
                self._recorder.steps,
                seconds=self._account.stopwatch.seconds - session.waited_seconds,
                tokens=self._account.tokens,
            )
            if stop is not None:
                return stop
            thinking = time.perf_counter()
            try:
                decision = await self._decide(session)
            except TimeoutError:
                return StopReason.TIME_LIMIT
            think_ms = (time.perf_counter() - thinking) * 1_000
            try:
                effect = await session.act(decision.action)
                self._after = await self._site.outcome(session)
            except RolloutFailure as failure:
                broken = Effect(error=failure.message, act_ms=0.0)
                unknown = Outcome(reward=None, done=False)
                self._recorder.did(decision, broken, unknown, think_ms=think_ms)
                raise
            self._recorder.did(decision, effect, self._after, think_ms=think_ms)

    async def _decide(self, session: Session) -> Decision:
        """Ask the policy.

        Raises:
            TimeoutError: the try's time ran out while it thought.
            RolloutFailure: it has no usable decision.
        """
        reader = session.reader if self._policy.card.privileged else None
        seconds = self._limits.seconds + session.waited_seconds
        async with self._account.stopwatch.limit(seconds):
            with boundary(FailureKind.POLICY, self._policy.card.name):
                decision = await self._policy.act(
                    self._instruction, self._recorder.steps, self._recorder.seen, reader
                )
        if isinstance(decision.action, NoAction):
            raise RolloutFailure(FailureKind.POLICY, "the policy decided on no action")
        return decision


_TRUNCATING = frozenset(
    {StopReason.STEP_LIMIT, StopReason.TIME_LIMIT, StopReason.TOKEN_LIMIT, StopReason.STUCK}
)
"""Stop reasons that come from outside the episode."""
