"""Who gets the next seat."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from generators.seats.turnstile import Busy, Turnstile


async def holder(
    gate: Turnstile, client: str, log: asyncio.Queue[str], free: asyncio.Event
) -> None:
    async with gate.hold(client, wait_seconds=60):
        log.put_nowait(client)
        await free.wait()


async def test_a_free_seat_goes_to_the_client_that_holds_the_fewest() -> None:
    gate, log = Turnstile(3, {}, max_waiting=100), asyncio.Queue[str]()
    frees = [asyncio.Event() for _ in range(8)]
    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(holder(gate, "big", log, frees[number]))
        await asyncio.sleep(0)
        for number in (3, 4):
            group.create_task(holder(gate, "big", log, frees[number]))
        await asyncio.sleep(0)
        group.create_task(holder(gate, "small", log, frees[5]))
        await asyncio.sleep(0)
        assert [log.get_nowait() for _ in range(3)] == ["big"] * 3
        assert log.empty()
        frees[0].set()
        assert await log.get() == "small"
        for free in frees:
            free.set()
    assert gate.in_use == gate.waiting == 0


async def test_a_client_within_its_bound_is_let_in_past_one_that_has_reached_its_own() -> None:
    gate = Turnstile(4, {"few": 1}, max_waiting=100)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(gate.hold("few", wait_seconds=0))
        with pytest.raises(Busy, match="its bound"):
            await stack.enter_async_context(gate.hold("few", wait_seconds=0.01))
        await stack.enter_async_context(gate.hold("other", wait_seconds=0))
        assert gate.held == {"few": 1, "other": 1}


async def test_a_client_that_is_told_to_come_again_is_told_when_and_its_place() -> None:
    gate = Turnstile(1, {}, max_waiting=1)
    async with gate.hold("one", wait_seconds=0):
        waiting = asyncio.create_task(holder(gate, "two", asyncio.Queue(), asyncio.Event()))
        await asyncio.sleep(0)
        with pytest.raises(Busy) as busy:
            async with gate.hold("three", wait_seconds=60):
                raise AssertionError("it was let in")
        assert busy.value.place == 2
        assert busy.value.retry_seconds >= 1
        waiting.cancel()
        await asyncio.wait([waiting])
    assert gate.in_use == gate.waiting == 0


async def test_one_that_gives_up_waiting_at_the_moment_it_is_let_in_holds_nothing() -> None:
    gate = Turnstile(1, {}, max_waiting=10)
    async with gate.hold("one", wait_seconds=0):
        waiting = asyncio.create_task(holder(gate, "two", asyncio.Queue(), asyncio.Event()))
        await asyncio.sleep(0)
    waiting.cancel()  # the seat was given to it when the block above ended
    await asyncio.wait([waiting])
    assert gate.in_use == gate.waiting == 0
    async with gate.hold("three", wait_seconds=0):
        assert gate.in_use == 1
