"""A seat: the client decides, once for each number, and whatever it does the rollout ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.browsers.scripted_rollouts import RUNNING, WON, attempt_it, pages
from support.browsers.scripted_session import Page, ScriptedSessions

from generators.policy.protocol import Decision
from generators.rollout.limits import Limits
from generators.seats.seat import Seat, StepRefused, WrongStep, end_of
from schemas.episodes.action import Click
from schemas.episodes.episode import Episode, PolicyKind, StopReason
from schemas.errors import FailureKind

LIMITS = Limits(steps=10, seconds=60, stuck_steps=3)


def click(x: float = 5) -> Decision:
    return Decision(action=Click(x=x, y=5))


@asynccontextmanager
async def seated(
    *scripts: list[Page], limits: Limits = LIMITS
) -> AsyncIterator[tuple[Seat, asyncio.Task[Episode]]]:
    """A seat in a rollout on scripted pages that two clicks win, unless `scripts` say otherwise."""
    seat = Seat()
    sessions = ScriptedSessions(*(scripts or (pages(RUNNING, RUNNING, WON),)))
    playing = asyncio.create_task(attempt_it(sessions, make_policy=seat.begin, limits=limits))
    try:
        yield seat, playing
    finally:
        playing.cancel()
        await asyncio.wait([playing])


async def test_the_clients_actions_are_the_episodes() -> None:
    async with seated() as (seat, playing):
        first = await seat.look()
        assert (first.number, first.end, first.last) == (0, None, None)
        second = await seat.step(0, click(5))
        assert second.number == 1
        assert second.last is not None
        assert second.last.reward == 0
        seat.give(1, click(6))
        episode = await playing
        assert [step.action.type for step in episode.steps] == ["click", "click", "none"]
        assert episode.policy_kind is PolicyKind.EXTERNAL
        assert (episode.reward, episode.stop_reason) == (1, StopReason.FINISHED)


async def test_a_repeated_step_gets_the_kept_answer_and_acts_on_nothing() -> None:
    async with seated() as (seat, playing):
        await seat.look()
        once = await seat.step(0, click())
        again = await seat.step(0, click())
        assert again is once
        seat.give(1, click(6))
        assert len((await playing).steps) == 3


@pytest.mark.parametrize(
    ("number", "action", "why"),
    [(0, click(9), WrongStep.OTHER), (2, click(), WrongStep.AHEAD), (7, click(), WrongStep.AHEAD)],
)
async def test_a_step_out_of_order_or_of_another_action_is_refused(
    number: int, action: Decision, why: WrongStep
) -> None:
    async with seated() as (seat, _):
        await seat.look()
        await seat.step(0, click())
        with pytest.raises(StepRefused) as refused:
            await seat.step(number, action)
        assert refused.value.why is why


async def test_an_old_step_is_refused_as_one_that_was_carried_out() -> None:
    async with seated(pages(RUNNING, RUNNING, RUNNING, WON)) as (seat, _):
        await seat.look()
        await seat.step(0, click(5))
        await seat.step(1, click(6))
        with pytest.raises(StepRefused, match="carried out") as refused:
            await seat.step(0, click(5))
        assert refused.value.why is WrongStep.BEFORE


async def test_after_the_end_the_last_answer_is_kept_and_no_other_step_is_taken() -> None:
    async with seated(pages(RUNNING, WON)) as (seat, playing):
        await seat.look()
        seat.give(0, click())
        episode = await playing
        seat.end(end_of(episode), episode.steps)
        ended = await seat.step(0, click())
        assert ended.end is not None
        assert ended.end.reward == 1
        assert ended.observation is not None
        with pytest.raises(StepRefused) as refused:
            await seat.step(1, click())
        assert refused.value.why is WrongStep.OVER


async def test_a_client_that_leaves_on_its_turn_leaves_a_row_that_nobody_learns_from() -> None:
    async with seated() as (seat, playing):
        await seat.look()
        await seat.step(0, click())
        seat.leave("it went home")
        episode = await playing
        assert episode.failure_kind == FailureKind.CLIENT
        assert episode.failure_message == "it went home"
        assert (episode.n_steps, episode.trainable) == (1, False)
        assert end_of(episode).reward is None


async def test_a_client_that_leaves_while_its_action_is_carried_out_is_not_asked_again() -> None:
    async with seated() as (seat, playing):
        await seat.look()
        seat.give(0, click())
        seat.leave("it went home")
        episode = await playing
        assert (episode.failure_kind, episode.n_steps) == (FailureKind.CLIENT, 1)


async def test_the_time_in_which_the_client_thinks_does_not_count() -> None:
    async with seated(limits=Limits(steps=10, seconds=0.4, stuck_steps=3)) as (seat, playing):
        await seat.look()
        await asyncio.sleep(0.8)
        await seat.step(0, click(5))
        await asyncio.sleep(0.8)
        seat.give(1, click(6))
        assert (await playing).stop_reason is StopReason.FINISHED


async def test_a_browser_that_breaks_before_the_first_action_is_tried_again_unseen() -> None:
    broken = [Page(colour=(1, 2, 3), value=[0, False], breaks=FailureKind.BROWSER)]
    async with seated(broken, pages(RUNNING, WON)) as (seat, playing):
        assert (await seat.look()).number == 0
        seat.give(0, click())
        episode = await playing
        assert episode.tries is not None
        assert len(episode.tries) == 1
        assert episode.reward == 1


async def test_a_browser_that_breaks_after_an_action_ends_the_episode() -> None:
    first, second = pages(RUNNING, RUNNING)
    broken = second.model_copy(update={"breaks": FailureKind.BROWSER})
    async with seated([first, broken], pages(RUNNING, WON)) as (seat, playing):
        await seat.look()
        seat.give(0, click())
        episode = await playing
        assert episode.failure_kind == FailureKind.BROWSER
        assert episode.tries is None


async def test_a_limit_ends_an_episode_as_truncated() -> None:
    limits = Limits(steps=1, seconds=60, stuck_steps=3)
    async with seated(pages(RUNNING, RUNNING, RUNNING), limits=limits) as (seat, playing):
        await seat.look()
        seat.give(0, Decision(action=Click(x=5, y=5)))
        end = end_of(await playing)
        assert (end.stop_reason, end.is_truncated, end.reward) == (StopReason.STEP_LIMIT, True, 0)
