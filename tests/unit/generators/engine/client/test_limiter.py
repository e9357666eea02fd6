"""A gate lets so many in, in order, whatever becomes of those who wait."""

import asyncio

from generators.engine.client.limiter import Gate


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Crowd:
    """Tasks that go through a gate and stay inside until told."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.went_in: list[int] = []
        self.leave = asyncio.Event()

    async def pass_through(self, number: int) -> None:
        async with self.gate:
            self.went_in.append(number)
            await self.leave.wait()


async def test_at_most_so_many_are_in_and_the_first_comes_first() -> None:
    crowd = Crowd(Gate(2))
    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(crowd.pass_through(number))
        await _settle()
        assert (crowd.went_in, crowd.gate.inside, crowd.gate.queued) == ([0, 1], 2, 3)
        crowd.leave.set()

    assert crowd.went_in == [0, 1, 2, 3, 4]
    assert (crowd.gate.inside, crowd.gate.queued) == (0, 0)


async def test_a_wider_gate_lets_those_in_who_wait_and_a_narrower_one_throws_nobody_out() -> None:
    crowd = Crowd(Gate(1))
    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(crowd.pass_through(number))
        await _settle()
        crowd.gate.allow(3)
        await _settle()
        assert crowd.went_in == [0, 1, 2]
        crowd.gate.allow(1)
        assert crowd.gate.inside == 3
        crowd.leave.set()

    assert crowd.went_in == [0, 1, 2, 3]


async def test_one_cancelled_while_waiting_or_while_let_in_takes_no_place() -> None:
    crowd = Crowd(Gate(1))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(crowd.pass_through(number)) for number in range(4)]
        await _settle()
        tasks[1].cancel()
        await _settle()
        assert crowd.gate.queued == 2
        crowd.gate.allow(2)  # lets 2 in, which is cancelled before it runs
        tasks[2].cancel()
        await _settle()
        assert crowd.went_in == [0, 3]
        crowd.leave.set()

    assert crowd.gate.inside == 0
