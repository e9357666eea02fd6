"""Episodes that a door plays as a whole may end when the server does, and are cut off if they last too long."""

import asyncio
from pathlib import Path

import pytest
from support.runs.served_seats import scripted_seats

from flows.serving.seating import AskedGroup, NoSeat, Seats
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.seats.seat import CARD
from schemas.episodes.action import Click
from schemas.episodes.episode import Episode
from schemas.tasks.selector import Selector


class Clicker:
    """A policy that clicks twice, the second time when it may."""

    card: PolicyCard = CARD

    def __init__(self, may_go: asyncio.Event) -> None:
        self._may_go = may_go
        self.waits = asyncio.Event()

    async def act(self, turn: PolicyInput) -> Decision:
        if turn.history:
            self.waits.set()
            await self._may_go.wait()
        return Decision(action=Click(x=5 + len(turn.history), y=5))


async def play(seats: Seats, policy: Clicker) -> "asyncio.Task[Episode]":
    """Begin an episode, and return once it waits."""
    task = await seats.desk.draw(Selector(index=0))
    group = AskedGroup("trainer/one", 2)
    playing = asyncio.create_task(seats.play("trainer", task, lambda *_: policy, group=group))
    await policy.waits.wait()
    return playing


async def test_an_episode_may_end_while_the_server_drains(tmp_path: Path) -> None:
    may_go = asyncio.Event()
    async with scripted_seats(tmp_path) as seats:
        playing = await play(seats, Clicker(may_go))
        draining = asyncio.create_task(seats.drain(30.0))
        await asyncio.sleep(0)
        with pytest.raises(NoSeat):
            await seats.play(
                "trainer", await seats.desk.draw(Selector()), lambda *_: Clicker(may_go)
            )
        may_go.set()
        episode = await playing
        await draining
        committed = seats.keeper.committed

    assert (episode.reward, episode.asked_group, episode.asked_group_size) == (
        1.0,
        "trainer/one",
        2,
    )
    assert committed == 1


async def test_an_episode_that_lasts_too_long_is_cut_off_and_its_client_is_told(
    tmp_path: Path,
) -> None:
    async with scripted_seats(tmp_path) as seats:
        playing = await play(seats, Clicker(asyncio.Event()))
        await seats.drain(0.0)
        with pytest.raises(NoSeat, match="the server ends"):
            await playing

        assert seats.turnstile.in_use == 0
        assert (seats.counts["cut off"], seats.keeper.kept) == (1, 0)


async def test_a_client_that_goes_ends_its_episode(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path) as seats:
        playing = await play(seats, Clicker(asyncio.Event()))
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing

        assert seats.turnstile.in_use == 0
        assert seats.keeper.kept == 0
