"""A try has one deadline: it counts neither waits for a turn nor earlier tries, and nothing outlasts it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
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
from support.servers.stub_engine import SESSION, WrittenEngine, clicked, configured

from generators.browser.protocol import SessionSpec
from generators.browser.slots import Slots
from generators.engine.protocol import EnginePrompt, Reply, Sampling
from generators.engine.stopwatch import Stopwatch
from generators.policy.model.policy import ModelPolicy
from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.model.try_account import Account
from generators.policy.protocol import Policy
from generators.policy.scripted import ScriptedPolicy
from schemas.configuration.sections import PolicyName, PolicySection
from schemas.episodes.action import Action
from schemas.episodes.episode import StopReason
from schemas.episodes.observation import Effect, Observation
from schemas.errors import FailureKind


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


@pytest.mark.parametrize(
    ("total_ms", "queue_ms", "stop"),
    [
        (9_000.0, None, StopReason.TIME_LIMIT),
        (9_000.0, 100.0, StopReason.TIME_LIMIT),
        (9_000.0, 8_900.0, StopReason.FINISHED),
    ],
)
async def test_what_an_engine_took_to_write_counts_and_what_its_queue_took_does_not(
    total_ms: float, queue_ms: float | None, stop: StopReason
) -> None:
    engine = WrittenEngine()
    reply = engine.reply_of(clicked(50, 50))
    told = {"total_ms": total_ms, "queue_ms": queue_ms}
    engine.says(reply.model_copy(update=told), clicked(60, 60))
    limits = LIMITS.model_copy(update={"seconds": 8.0})

    episode = await attempt_it(
        ScriptedSessions(pages(RUNNING, RUNNING, WON)), limits=limits, make_policy=asking(engine)
    )

    steps = 2 if stop is StopReason.FINISHED else 0
    assert (episode.stop_reason, episode.n_steps, episode.trainable) == (stop, steps, True)
    assert len(episode.calls) == max(1, steps)


async def test_waiting_for_an_engine_counts_against_no_time_limit() -> None:
    class Late(WrittenEngine):
        async def reply(
            self,
            prompt: EnginePrompt,
            sampling: Sampling,
            *,
            session: str,
            stopwatch: Stopwatch | None = None,
        ) -> Reply:
            await asyncio.sleep(1.2)  # of lost tries and of silence
            return await super().reply(prompt, sampling, session=session, stopwatch=stopwatch)

    engine = Late()
    engine.says(clicked(50, 50), clicked(60, 60))
    limits = LIMITS.model_copy(update={"seconds": 1.0})

    episode = await attempt_it(
        ScriptedSessions(pages(RUNNING, RUNNING, WON)), limits=limits, make_policy=asking(engine)
    )

    assert (episode.stop_reason, episode.n_steps) == (StopReason.FINISHED, 2)
    assert episode.wall_seconds > 2 * limits.seconds


async def test_a_session_that_closes_slowly_after_the_time_limit_fails_no_episode() -> None:
    class Slow(ScriptedSessions):
        @contextlib.asynccontextmanager
        async def session(self, spec: SessionSpec) -> AsyncIterator[ScriptedSession]:
            async with super().session(spec) as session:
                yield session
                await asyncio.sleep(2.0)

    limits = LIMITS.model_copy(update={"seconds": 0.05})

    episode = await attempt_it(Slow(pages(RUNNING)), limits=limits, make_policy=lambda _: Thinker())

    assert (episode.stop_reason, episode.failure_kind) == (StopReason.TIME_LIMIT, None)


def asking(engine: WrittenEngine) -> Callable[[Account], Policy]:
    """Return what makes a policy that asks an engine."""
    section = PolicySection(name=PolicyName.MODEL)
    models = ModelConfigs(configured(section), EngineSet(engine)).of(section)

    def make(account: Account) -> Policy:
        return ModelPolicy(models.model, account, budget=models.budget, session=SESSION)

    return make


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
