import asyncio

from flows.job.attempt_runner import Stopping
from flows.job.unit_runner import UnitReport, UnitState
from flows.job.worker_pool import Crew


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


UNITS = [f"unit {number}" for number in range(10)]


async def test_at_most_as_many_units_are_on_their_way_as_there_are_workers() -> None:
    hands = Hands()
    crew = Crew(UNITS, hands.do, stopping=Stopping())
    async with asyncio.TaskGroup() as group:
        crew.begin(group, workers=3)
        hands.go.set()
        ends = await crew.ended()

    assert hands.most <= 3
    assert hands.begun == UNITS
    assert [end.state for end in ends] == [UnitState.DONE] * 10


async def test_whoever_asks_for_a_unit_waits_for_that_one_alone() -> None:
    hands = Hands()
    hands.go.set()
    crew = Crew(UNITS, hands.do, stopping=Stopping())
    async with asyncio.TaskGroup() as group:
        crew.begin(group, workers=1)
        first = await crew.unit(UNITS[0])

        assert first == UnitReport(unit_id=UNITS[0], state=UnitState.DONE)


async def test_whoever_waits_and_gives_up_stops_no_work() -> None:
    hands = Hands()
    crew = Crew(UNITS, hands.do, stopping=Stopping())
    async with asyncio.TaskGroup() as group:
        crew.begin(group, workers=1)
        waiting = asyncio.create_task(crew.unit(UNITS[0]))
        await asyncio.sleep(0)
        waiting.cancel()
        hands.go.set()
        ends = await crew.ended()

    assert {end.state for end in ends} == {UnitState.DONE}


async def test_asked_to_stop_it_ends_what_is_on_its_way_and_begins_nothing() -> None:
    hands, stopping = Hands(), Stopping()
    crew = Crew(UNITS, hands.do, stopping=stopping)
    async with asyncio.TaskGroup() as group:
        crew.begin(group, workers=2)
        await asyncio.sleep(0)
        stopping.ask()
        hands.go.set()
        ends = await crew.ended()

    assert hands.begun == UNITS[:2]
    assert [end.state for end in ends[:3]] == [
        UnitState.DONE,
        UnitState.DONE,
        UnitState.INTERRUPTED,
    ]


async def test_cancelled_it_waits_for_nothing() -> None:
    hands = Hands()
    crew = Crew(UNITS, hands.do, stopping=Stopping())
    async with asyncio.TaskGroup() as group:
        crew.begin(group, workers=2)
        await asyncio.sleep(0)
        crew.cancel()
        ends = await crew.ended()

    assert {end.state for end in ends} == {UnitState.INTERRUPTED}


async def test_a_crew_without_units_has_ended() -> None:
    crew = Crew([], Hands().do, stopping=Stopping())
    async with asyncio.TaskGroup() as group:
        crew.begin(group, workers=4)

        assert await crew.ended() == []
