"""A try has one deadline: it counts neither waits for a turn nor earlier tries, and nothing outlasts it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from support.browsers.scripted_rollouts import (
    LIMITS,
    RUNNING,
    WON,
    Thinker,
    attempt_it,
    clicks,
    pages,
)
from support.browsers.scripted_session import Page, ScriptedSession, ScriptedSessions

from generators.browser.protocol import SessionSpec
from generators.browser.slots import Slots
from generators.policy.model.try_account import Account
from generators.policy.scripted import ScriptedPolicy
from schemas.action import Action
from schemas.episode import StopReason
from schemas.errors import FailureKind
from schemas.observation import Effect, Observation


async def test_time_that_runs_out_while_the_policy_thinks_ends_the_episode() -> None:
    limits = LIMITS.model_copy(update={"seconds": 0.05})

    episode = await attempt_it(
        ScriptedSessions(pages(RUNNING)), limits=limits, make_policy=lambda _: Thinker()
    )

    assert (episode.stop_reason, episode.n_steps, len(episode.steps)) == (
        StopReason.TIME_LIMIT,
        0,
        1,
    )


async def test_the_time_limit_counts_from_the_start_of_each_try() -> None:
    def make(account: Account) -> ScriptedPolicy:
        account.stopwatch._begun -= 2 * LIMITS.seconds  # what came before took as long
        return ScriptedPolicy(clicks(1))

    broken = [*pages(RUNNING), Page(colour=(0, 0, 0), value=RUNNING, breaks=FailureKind.BROWSER)]  # type: ignore[arg-type]

    episode = await attempt_it(
        ScriptedSessions(broken, broken, pages(RUNNING, WON)), make_policy=make
    )

    assert (episode.stop_reason, len(episode.tries or ())) == (StopReason.FINISHED, 2)
    assert episode.wall_seconds > 6 * LIMITS.seconds


async def test_waiting_for_a_turn_on_a_busy_machine_counts_against_no_time_limit() -> None:
    limits = LIMITS.model_copy(update={"seconds": 1.0})

    episode = await attempt_it(Crowded(pages(*[RUNNING] * 9)), clicks(4), limits=limits)

    assert (episode.stop_reason, episode.n_steps) == (StopReason.ANSWERED, 5)
    assert episode.wall_seconds > limits.seconds


class Crowded(ScriptedSessions):
    """Sessions that wait for each look at a page."""

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[ScriptedSession]:
        slots = Slots(1)
        async with super().session(spec) as session:
            look = session.observe

            async def wait_and_look() -> Observation:
                async with asyncio.TaskGroup() as group:
                    held = asyncio.Event()
                    group.create_task(hold(slots, 0.4, held))
                    await held.wait()
                    async with slots.hold():
                        return await look()

            session.observe = wait_and_look  # type: ignore[method-assign]
            yield session


async def hold(slots: Slots, seconds: float, held: asyncio.Event) -> None:
    async with slots.hold():
        held.set()
        await asyncio.sleep(seconds)


async def test_a_page_that_is_busy_beyond_the_time_limit_fails_the_episode() -> None:
    class Busy(ScriptedSession):
        async def act(self, action: Action) -> Effect:
            del action
            await asyncio.Event().wait()
            raise AssertionError

    class BusySessions(ScriptedSessions):
        @contextlib.asynccontextmanager
        async def session(self, spec: SessionSpec) -> AsyncIterator[ScriptedSession]:
            self.opened += 1
            yield Busy(pages(RUNNING), spec)

    sessions = BusySessions(pages(RUNNING))
    limits = LIMITS.model_copy(update={"seconds": 0.2})

    episode = await attempt_it(sessions, clicks(1), limits=limits)

    assert (episode.stop_reason, episode.failure_kind) == (StopReason.FAILED, "page")
    assert episode.failure_message == "the try was not over 1 s after its 0.2 s"
    assert 1.2 < episode.wall_seconds < 3.0
    assert sessions.opened == 1
