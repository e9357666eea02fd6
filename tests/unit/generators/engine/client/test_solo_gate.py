"""The gate of an endpoint: requests pass together or alone, in order, and a cancelled one holds nothing."""

import asyncio

from generators.engine.client.solo_gate import SoloGate


class Visits:
    """Passes a gate, and notes how many were inside with each."""

    def __init__(self) -> None:
        self.gate = SoloGate()
        self.inside: set[str] = set()
        self.order: list[str] = []
        self.companions: dict[str, int] = {}

    async def visit(self, name: str, *, alone: bool = False) -> None:
        async with self.gate.entry(alone=alone):
            self.inside.add(name)
            self.order.append(name)
            for _ in range(3):
                self.companions[name] = max(self.companions.get(name, 0), len(self.inside))
                await asyncio.sleep(0)
            self.inside.remove(name)


async def test_requests_pass_together_and_a_lone_one_alone_and_in_order() -> None:
    visits = Visits()
    async with asyncio.TaskGroup() as group:
        for name in ("a", "b", "solo", "c", "d"):
            group.create_task(visits.visit(name, alone=name == "solo"))

    assert visits.order == ["a", "b", "solo", "c", "d"]
    assert visits.companions == {"a": 2, "b": 2, "solo": 1, "c": 2, "d": 2}
    assert not visits.gate.is_solo


async def test_two_lone_ones_pass_one_after_the_other() -> None:
    visits = Visits()
    async with asyncio.TaskGroup() as group:
        for name in ("a", "b"):
            group.create_task(visits.visit(name, alone=True))

    assert visits.companions == {"a": 1, "b": 1}


async def test_whoever_is_cancelled_while_waiting_keeps_nobody_out() -> None:
    visits, inside = Visits(), asyncio.Event()

    async def stay() -> None:
        async with visits.gate.entry(alone=False):
            inside.set()
            await asyncio.Event().wait()

    staying = asyncio.create_task(stay())
    await inside.wait()
    waiting = asyncio.create_task(visits.visit("solo", alone=True))
    await asyncio.sleep(0)
    assert visits.gate.is_solo
    later = asyncio.create_task(visits.visit("later"))
    await asyncio.sleep(0)
    assert visits.order == []
    waiting.cancel()
    await asyncio.wait([waiting])
    await later
    staying.cancel()
    await asyncio.wait([staying])
    await visits.visit("last", alone=True)

    assert visits.order == ["later", "last"]


async def test_whoever_is_cancelled_as_it_is_let_in_leaves_again() -> None:
    visits = Visits()
    async with visits.gate.entry(alone=True):
        waiting = asyncio.create_task(visits.visit("a", alone=True))
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    await visits.visit("b", alone=True)

    assert visits.order == ["b"]
