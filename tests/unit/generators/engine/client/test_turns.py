"""Turns at one endpoint, and which endpoint an episode lives at."""

import asyncio
import contextlib

import pytest

from generators.engine.client.endpoint import Endpoint
from generators.engine.client.endpoint_health import EndpointHealth, Phase, ProbeTimings
from generators.engine.client.endpoint_pool import EndpointPool
from generators.engine.client.residents import Residents
from generators.engine.client.transport import Transport
from generators.engine.client.turns import Turns
from generators.engine.governor.governor import Governor
from generators.engine.governor.signals import CallFigures, Gauges
from generators.engine.protocol import EngineCard


async def settle() -> None:
    """Let everything that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


class Asking:
    """Requests of conversations that hold their turns until they are told to end."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.going: list[str] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    def ask(self, session: str) -> None:
        self._ends[session] = asyncio.Event()
        self._tasks[session] = asyncio.create_task(self._hold(session))

    async def _hold(self, session: str) -> None:
        async with self._turns.take(session):
            self.going.append(session)
            await self._ends[session].wait()
        self.going.remove(session)

    async def end(self, session: str) -> None:
        self._ends[session].set()
        await self._tasks[session]
        await settle()

    async def cancel(self, session: str) -> None:
        self._tasks[session].cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._tasks[session]
        await settle()


async def test_the_oldest_episode_goes_first() -> None:
    turns = Turns(1)
    for episode in ("old", "young"):
        turns.begin(episode)
    asking = Asking(turns)
    for session in ("first", "young", "old"):
        asking.ask(session)
        await settle()

    assert asking.going == ["first"]
    await asking.end("first")
    assert asking.going == ["old"]
    await asking.end("old")
    assert asking.going == ["young"]
    await asking.end("young")


async def test_the_roles_of_an_episode_ask_beside_each_other() -> None:
    turns = Turns(8)
    turns.begin("e")
    asking = Asking(turns)
    for session in ("e", "e/localizer", "e/validator"):
        asking.ask(session)
    await settle()

    assert sorted(asking.going) == ["e", "e/localizer", "e/validator"]
    assert turns.load.under_way == 3
    for session in ("e", "e/localizer", "e/validator"):
        await asking.end(session)
    assert turns.load.under_way == 0


async def test_a_request_that_is_given_up_takes_no_turn() -> None:
    turns = Turns(1)
    asking = Asking(turns)
    for session in ("a", "b", "c"):
        asking.ask(session)
        await settle()

    await asking.cancel("b")
    await asking.cancel("a")
    assert asking.going[-1] == "c"
    await asking.end("c")
    assert turns.load.under_way == 0


def starved(ceiling: int = 8) -> Governor:
    """A governor that has heard of a cache which served well, and then badly."""
    governor = Governor(ceiling)
    now = 0.0
    for cached in (1_000, 100):
        for number in range(400):
            now += 1.0
            call = CallFigures(f"{number % 8}", 8.0, 2_000, cached, 1_000)
            governor.hear(call, now, live=governor.limits.live)
    return governor


async def test_the_youngest_episodes_are_parked_where_more_live_than_may() -> None:
    governor = Governor(8)
    turns = Turns(8, governor)
    episodes = [str(number) for number in range(8)]
    for episode in episodes:
        turns.begin(episode)
    now = 0.0
    for cached in (1_000, 50):
        for number in range(300):
            now += 1.0
            turns.hear(CallFigures(str(number % 8), 8.0, 2_000, cached, 1_000), now)
            if turns.load.live_limit < 8:
                break
    load = turns.load
    assert (load.live, load.parked) == (8, 8 - load.live_limit)
    assert load.parked > 0
    assert load.because.startswith("the cache served ")

    asking = Asking(turns)
    for episode in episodes:
        asking.ask(episode)
    await settle()
    assert asking.going == episodes[: load.live_limit]
    turns.end(episodes[0])
    await settle()
    assert len(asking.going) == load.live_limit + 1, "one that was parked goes on"
    for episode in list(asking.going):
        await asking.end(episode)
    for episode in episodes[1:]:
        turns.end(episode)
    await settle()
    for episode in list(asking.going):
        await asking.end(episode)
    assert turns.load.under_way == 0


async def test_a_parked_episode_that_is_interrupted_leaves_nothing() -> None:
    turns = Turns(8, starved())
    for number in range(8):
        turns.begin(str(number))
    asking = Asking(turns)
    asking.ask("7")
    await settle()
    assert asking.going == []
    await asking.cancel("7")
    turns.end("7")
    assert (turns.load.live, turns.load.under_way) == (7, 0)


@pytest.mark.parametrize(
    "gauges",
    [
        Gauges(),
        Gauges(running=float("nan"), waiting=float("nan"), preemptions=1.0, served=0.0),
        Gauges(running=-1.0, waiting=-5.0, preemptions=-3.0, served=-2.0),
        Gauges(running=0.0, waiting=1e12, preemptions=1e12, served=1.0),
    ],
)
async def test_whatever_a_page_says_requests_go_on(gauges: Gauges) -> None:
    turns = Turns(4, Governor(4))
    for _ in range(50):
        turns.read(gauges)
        turns.read(Gauges(running=1.0, waiting=0.0, preemptions=0.0, served=1.0))
        turns.read(gauges)
    asking = Asking(turns)
    asking.ask("s")
    await settle()

    assert asking.going == ["s"]
    assert 1 <= turns.load.request_limit <= 4
    await asking.end("s")


async def test_a_page_that_changes_nothing_sets_no_limits_anew() -> None:
    turns = Turns(4, Governor(4))
    page = Gauges(running=1.0, waiting=0.0, preemptions=0.0, served=1.0)
    changes = [turns.read(page) for _ in range(5)]

    assert changes == [False] * 5
    assert turns.read(Gauges(running=1.0, waiting=9.0, preemptions=0.0, served=1.0))
    assert turns.load.request_limit < 4


async def test_an_episode_that_waits_begins_at_an_endpoint_that_comes_back() -> None:
    async with Transport("http://127.0.0.1:9/a") as one, Transport("http://127.0.0.1:9/b") as other:
        ends = [Endpoint(transport=end, turns=Turns(8, Governor(1))) for end in (one, other)]
        pool = EndpointPool(ends, EngineCard(model="m"), ProbeTimings(), patience=60.0)
        up, gone = ends
        pool._set_health(gone, EndpointHealth(Phase.DEAD))

        async def live() -> str | None:
            async with pool.residents.live("late"):
                return pool.residents.home("late")

        async with pool.residents.live("early"):
            task = asyncio.create_task(live())
            await settle()
            assert (up.turns.load.live, task.done()) == (1, False)
            pool._set_health(gone, EndpointHealth(Phase.LIVE))
            await settle()
            assert task.done()
            assert await task == gone.name


async def test_an_episode_goes_to_the_least_loaded_endpoint_and_stays() -> None:
    turns = {name: Turns(8, Governor(64)) for name in ("a", "b", "c")}
    residents = Residents(turns, lambda _: True)
    homes: list[str | None] = []
    async with contextlib.AsyncExitStack() as stack:
        for number in range(60):
            await stack.enter_async_context(residents.live(f"e{number}"))
            homes.append(residents.home(f"e{number}/validator"))
        assert {name: load.load.live for name, load in turns.items()} == {"a": 20, "b": 20, "c": 20}
        assert [residents.home(f"e{number}") for number in range(60)] == homes
    assert residents.home("e0") is None
    assert [one.load.live for one in turns.values()] == [0, 0, 0]


async def test_episodes_wait_for_room_in_their_order() -> None:
    turns = {"a": Turns(8, Governor(2))}
    residents = Residents(turns, lambda _: True)
    begun: list[str] = []
    ends = {name: asyncio.Event() for name in "1234"}

    async def live(name: str) -> None:
        async with residents.live(name):
            begun.append(name)
            await ends[name].wait()

    tasks = {name: asyncio.create_task(live(name)) for name in ends}
    await settle()
    assert begun == ["1", "2"]
    tasks["3"].cancel()
    await settle()
    ends["1"].set()
    await settle()
    assert begun == ["1", "2", "4"]
    for end in ends.values():
        end.set()
    await asyncio.wait(tasks.values())
    assert turns["a"].load.live == 0


async def test_an_episode_moves_when_its_endpoint_is_gone() -> None:
    up = {"a": True, "b": True}
    turns = {name: Turns(8, Governor(64)) for name in up}
    residents = Residents(turns, lambda name: up[name])
    async with residents.live("e"):
        home = residents.home("e")
        assert home is not None
        up[home] = False
        other = residents.move("e")
        assert other not in {home, None}
        assert (residents.home("e"), turns[home].load.live) == (other, 0)
        up[str(other)] = False
        assert residents.move("e") is None
        async with asyncio.timeout(5), residents.live("f"):
            assert residents.home("f") is not None, "nobody waits for an endpoint that is gone"
    assert [one.load.live for one in turns.values()] == [0, 0]


async def test_a_request_that_goes_first_is_not_parked() -> None:
    turns = Turns(8, Governor(ceiling=24))
    for episode in range(3):
        turns.begin(f"e{episode}")
    turns._gate.set_limits(2, 1)
    ended: list[str] = []

    async def ask(session: str, *, first: bool = False) -> None:
        async with turns.take(session, first=first):
            ended.append(session)
            await settle()

    async with asyncio.timeout(60):
        asking = [asyncio.create_task(ask("e0")), asyncio.create_task(ask("e1"))]
        parked = asyncio.create_task(ask("e2"))
        await asyncio.create_task(ask("e2/role", first=True))
        await asyncio.wait(asking)
    parked.cancel()

    assert ended == ["e0", "e2/role", "e1"]
    assert turns.load.under_way == 0
