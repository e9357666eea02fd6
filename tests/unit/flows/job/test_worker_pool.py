import asyncio
from collections.abc import Sequence
from functools import partial

from flows.job.context import StopSignal, UnitReport, UnitState
from flows.job.worker_pool import Work, WorkerPool


class Hands:
    """Does units as fast as it is let, and remembers how many at once."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.begun: list[str] = []
        self.go = asyncio.Event()

    async def do(self, unit_id: str) -> UnitReport:
        self.begun.append(unit_id)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.go.wait()
        finally:
            self.now -= 1
        return UnitReport(unit_id=unit_id, state=UnitState.DONE)

    def work(self, unit_ids: Sequence[str]) -> Work:
        return {unit_id: partial(self.do, unit_id) for unit_id in unit_ids}


UNITS = [f"unit {number}" for number in range(10)]


async def test_at_most_as_many_units_are_on_their_way_as_there_are_workers() -> None:
    hands = Hands()
    pool = WorkerPool(hands.work(UNITS), workers=3, stopping=StopSignal())
    async with asyncio.TaskGroup() as group:
        pool.begin(group)
        hands.go.set()
        ends = await pool.reports()

    assert hands.most <= 3
    assert hands.begun == UNITS
    assert [end.state for end in ends] == [UnitState.DONE] * 10


async def test_whoever_asks_for_a_unit_waits_for_that_one_alone() -> None:
    hands = Hands()
    hands.go.set()
    pool = WorkerPool(hands.work(UNITS), workers=1, stopping=StopSignal())
    async with asyncio.TaskGroup() as group:
        pool.begin(group)
        first = await pool.unit(UNITS[0])

        assert first == UnitReport(unit_id=UNITS[0], state=UnitState.DONE)


async def test_whoever_waits_and_gives_up_stops_no_work() -> None:
    hands = Hands()
    pool = WorkerPool(hands.work(UNITS), workers=1, stopping=StopSignal())
    async with asyncio.TaskGroup() as group:
        pool.begin(group)
        waiting = asyncio.create_task(pool.unit(UNITS[0]))
        await asyncio.sleep(0)
        waiting.cancel()
        hands.go.set()
        ends = await pool.reports()

    assert {end.state for end in ends} == {UnitState.DONE}


async def test_asked_to_stop_it_ends_what_is_on_its_way_and_begins_nothing() -> None:
    hands, stopping = Hands(), StopSignal()
    pool = WorkerPool(hands.work(UNITS), workers=2, stopping=stopping)
    async with asyncio.TaskGroup() as group:
        pool.begin(group)
        await asyncio.sleep(0)
        stopping.ask()
        hands.go.set()
        ends = await pool.reports()

    assert hands.begun == UNITS[:2]
    assert [end.state for end in ends[:3]] == [
        UnitState.DONE,
        UnitState.DONE,
        UnitState.INTERRUPTED,
    ]


async def test_cancelled_it_waits_for_nothing() -> None:
    hands = Hands()
    pool = WorkerPool(hands.work(UNITS), workers=2, stopping=StopSignal())
    async with asyncio.TaskGroup() as group:
        pool.begin(group)
        await asyncio.sleep(0)
        pool.cancel()
        ends = await pool.reports()

    assert {end.state for end in ends} == {UnitState.INTERRUPTED}


async def test_a_pool_without_units_has_ended() -> None:
    pool = WorkerPool(Hands().work([]), workers=4, stopping=StopSignal())
    async with asyncio.TaskGroup() as group:
        pool.begin(group)

        assert await pool.reports() == []
