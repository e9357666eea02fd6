"""Seats of a run: every episode is kept once, whatever its client and the server do."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.runs.served_seats import objects, rows, scripted_seats, seats_config

from flows.serving.keeper import EpisodeKeeper
from flows.serving.opening import open_seats
from flows.serving.seating import Lease, NoSeat, Seats
from flows.serving.task_desk import MAX_SELECTORS, Turns
from generators.seats.actions import read_message
from generators.seats.seat import SeatView
from generators.seats.turnstile import Busy
from schemas.errors import BadTasks, OtherRun
from schemas.ids import SERVED_ATTEMPTS
from schemas.tasks.selector import Selector


def click(x: float = 5) -> Any:
    return read_message({"type": "click", "x": x, "y": 5})


async def win(lease: Lease) -> SeatView:
    await lease.step(click(5))
    return await lease.step(click(6))


async def play_one(seats: Seats, index: int = 0) -> SeatView:
    lease = await seats.take("trainer", Selector(index=index))
    view = await win(lease)
    await seats.leave(lease)
    return view


async def test_episodes_are_committed_judged_and_sealed_when_the_seats_close(
    tmp_path: Path,
) -> None:
    async with scripted_seats(tmp_path) as seats, asyncio.TaskGroup() as group:
        for index in (0, 1, 0, 1, 2, 0):
            group.create_task(play_one(seats, index))
    attempts = [number for (number,) in rows(tmp_path, "episodes", "attempt")]
    assert sorted(attempts) == [SERVED_ATTEMPTS] * 3 + [SERVED_ATTEMPTS + 1] * 2 + [
        SERVED_ATTEMPTS + 2
    ]
    assert len(rows(tmp_path, "verdicts", "episode_id")) == 12
    assert {kind for (kind,) in rows(tmp_path, "episodes", "policy_kind")} == {"external"}
    assert objects(tmp_path, "spool/*/*", "served/*/*") == 0
    assert objects(tmp_path, "versions/*") == 1


async def test_a_second_server_goes_on_with_a_run_and_repeats_no_episode(tmp_path: Path) -> None:
    for _ in range(2):
        async with scripted_seats(tmp_path) as seats:
            await play_one(seats)
    found = rows(tmp_path, "episodes", "attempt", "episode_id")
    assert [attempt for attempt, _ in found] == [SERVED_ATTEMPTS, 2 * SERVED_ATTEMPTS]


async def test_what_a_killed_server_left_in_the_spool_is_committed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(EpisodeKeeper, "close", lambda _: asyncio.sleep(0))
        async with scripted_seats(tmp_path, seats={"commit_seconds": 900}) as seats:
            for index in range(3):
                await play_one(seats, index)
    assert objects(tmp_path, "spool/*/*") == 3
    async with scripted_seats(tmp_path):
        assert len(rows(tmp_path, "episodes", "episode_id")) == 3
    assert len(rows(tmp_path, "verdicts", "episode_id")) == 6
    assert objects(tmp_path, "spool/*/*", "served/*/*") == 0


async def test_a_client_that_leaves_gives_its_seat_to_the_next(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path, browser={"sessions": 1}) as seats:
        lease = await seats.take("one")
        waiting = asyncio.create_task(seats.take("two"))
        await asyncio.sleep(0)
        await seats.leave(lease)
        other = await waiting
        assert (await win(other)).end is not None
        await seats.leave(other)
        assert (seats.turnstile.in_use, seats.leases) == (0, {})
    found = rows(tmp_path, "episodes", "failure_kind", "trainable")
    assert sorted(found, key=str) == [("client", False), (None, True)]


async def test_an_episode_that_is_over_is_kept_though_its_client_is_cut_off_then(
    tmp_path: Path,
) -> None:
    async with scripted_seats(tmp_path) as seats:
        lease = await seats.take("one")
        lease.seat.leave("the client left")
        while seats.turnstile.in_use:  # noqa: ASYNC110 - the moment between the rollout and its row
            await asyncio.sleep(0)
        assert lease.playing is not None
        lease.playing.cancel()
        await asyncio.wait([lease.playing])
        assert seats.counts["cut off"] == 0
    assert rows(tmp_path, "episodes", "failure_kind") == [("client",)]


async def test_a_lease_that_is_over_ends_its_episode(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path, seats={"lease_seconds": 0.2}) as seats:
        lease = await seats.take("one")
        await asyncio.sleep(0.3)
        view = await lease.look()
        assert view.end is not None
        assert view.end.reward is None
        assert "seats.lease_seconds" in str(view.end.failure_message)


async def test_a_client_beyond_the_seats_is_told_to_come_again(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path, browser={"sessions": 1}) as seats:
        lease = await seats.take("one")
        with pytest.raises(Busy, match="1 of 1 seats are taken"):
            await seats.take("two", wait_seconds=0.05)
        assert len(seats.leases) == 1
        await seats.leave(lease)


async def test_a_task_that_does_not_exist_or_is_of_a_split_that_is_not_served_is_refused(
    tmp_path: Path,
) -> None:
    async with scripted_seats(tmp_path, seats={"splits": ["train"]}) as seats:
        with pytest.raises(BadTasks):
            await seats.take("one", Selector(name="fly-to-the-moon"))
        with pytest.raises(BadTasks, match="not served here"):
            await seats.take("one", Selector(split="test"))
        assert seats.turnstile.in_use == 0


async def test_a_server_that_ends_cuts_off_without_a_row_and_says_so(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path) as seats:
        lease = await seats.take("one")
        await seats.drain(0.0)
        view = await lease.look()
        assert view.end is not None
        assert view.end.failure_message == "the server ends"
        with pytest.raises(NoSeat, match="the server ends"):
            await seats.take("two")
    assert not (tmp_path / "tables" / "episodes").exists()


async def test_a_run_of_another_configuration_is_refused(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path) as seats:
        await play_one(seats)
    with pytest.raises(OtherRun, match=r"limits\.steps"):
        async with open_seats(seats_config(tmp_path, limits={"steps": 3})):
            raise AssertionError("two configurations share a run")


async def test_clients_that_ask_for_nothing_go_through_the_tasks(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path) as seats:
        drawn = [await seats.desk.draw(Selector()) for _ in range(20)]
    seeds = [task.seed for task in drawn]
    assert sorted(seeds[:10]) == sorted(seeds[10:]) == list(range(10))
    assert seeds[:10] != list(range(10))


def test_selectors_have_turns_of_their_own_and_only_so_many_are_remembered() -> None:
    turns, often = Turns(), Selector(name="often")
    assert [turns.take(often) for _ in range(2)] == [0, 1]
    for number in range(2 * MAX_SELECTORS):
        assert turns.take(Selector(name=f"another-{number}")) == 0
        if number % (MAX_SELECTORS // 2) == 0:
            turns.take(often)
    assert turns.count == MAX_SELECTORS
    assert turns.take(often) == 6
    assert turns.take(Selector(name="another-0")) == 0, "it was forgotten"
    assert turns.take(Selector(name=f"another-{2 * MAX_SELECTORS - 1}")) == 1


def test_threads_that_take_turns_get_each_once() -> None:
    turns = Turns()
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda _: turns.take(Selector()), range(2_000)))
    assert sorted(taken) == list(range(2_000))
