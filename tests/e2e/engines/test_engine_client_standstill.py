"""An endpoint that answers its health checks and computes nothing is left, and no conversation is lost."""

import asyncio

from support.runs.commands import SECONDS
from support.servers.engine_servers import HASTY, PATIENT, engine, prompt, until

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_health import Phase, ProbeTimings
from generators.engine.protocol import Reply, Sampling
from generators.engine.simulator.faults import CHAT, Fault, FaultKind
from generators.engine.simulator.server import SimulatorServer

SAMPLING = Sampling(max_tokens=64)
SESSIONS = 12
MANY = 1_000

LOOKING = ProbeTimings(
    probe_backoff=HASTY.probe_backoff,
    probe_interval=0.05,
    probe_timeout=3.0,
    failures=PATIENT.failures,
    ramp=HASTY.ramp,
    ramp_alone=HASTY.ramp_alone,
)
"""Looks often, and never takes a busy machine for a dead server."""

STUCK = Fault(kind=FaultKind.STUCK, times=MANY)
"""Every request hangs; the counters stand still, and `/health` says 200."""


async def _ask_all(client: OpenAIEngine) -> list[Reply]:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(client.reply(prompt(), SAMPLING, session=f"episode-{number}"))
            for number in range(SESSIONS)
        ]
    return [task.result() for task in tasks]


async def test_the_requests_of_an_endpoint_that_stands_still_are_asked_elsewhere() -> None:
    async with (
        SimulatorServer() as one,
        SimulatorServer() as other,
        engine([one.url, other.url], probe_timings=LOOKING, wedged_seconds=0.5) as client,
        asyncio.timeout(SECONDS),
    ):
        before = {reply.endpoint for reply in await _ask_all(client)}
        other.add_fault(STUCK)
        replies = await _ask_all(client)
        (gone,) = [end for end in client._open_pool.endpoints if not end.health.is_live]
        problems = client._open_pool.problems

    assert before == {f"{one.url}/v1", f"{other.url}/v1"}
    assert {reply.endpoint for reply in replies} == {f"{one.url}/v1"}
    assert sum(reply.retries for reply in replies) >= 1
    assert gone.name == f"{other.url}/v1"
    assert "nothing for its requests" in problems


async def test_an_endpoint_that_stood_still_comes_back_once_it_replies_to_something_small() -> None:
    async with (
        SimulatorServer() as server,
        engine([server.url], probe_timings=LOOKING, wedged_seconds=0.5) as client,
        asyncio.timeout(SECONDS),
    ):
        await _ask_all(client)
        server.add_fault(STUCK.model_copy(update={"times": SESSIONS}))
        replies = await _ask_all(client)
        (endpoint,) = client._open_pool.endpoints

        assert all(reply.retries >= 1 for reply in replies)
        assert endpoint.health.is_live
        assert endpoint.standstill is not None
        assert not endpoint.standstill.found
        assert client.requests_under_way(server.url) == 0


async def test_an_endpoint_that_stood_still_comes_back_once_its_counters_move() -> None:
    async with (
        SimulatorServer() as server,
        engine([server.url], probe_timings=LOOKING, wedged_seconds=0.5) as client,
        engine([server.url]) as other,
        asyncio.timeout(SECONDS),
    ):
        await _ask_all(client)
        server.add_fault(STUCK)
        asking = asyncio.create_task(_ask_all(client))
        (endpoint,) = client._open_pool.endpoints

        async def is_dead() -> bool:
            return endpoint.health.phase is Phase.DEAD

        await until(is_dead)
        waiting = not asking.done()
        server.clear_faults()
        await other.reply(prompt(), SAMPLING, session="another's")  # nothing else moves them
        replies = await asking

    assert waiting
    assert all(reply.retries >= 1 for reply in replies)


async def test_an_endpoint_without_counters_is_waited_for() -> None:
    async with (
        SimulatorServer() as server,
        engine([server.url], probe_timings=LOOKING, wedged_seconds=0.2) as client,
        asyncio.timeout(SECONDS),
    ):
        await _ask_all(client)
        server.add_fault(Fault(kind=FaultKind.NO_METRICS, times=MANY))
        server.add_fault(Fault(kind=FaultKind.SLOW, seconds=2.0, path=CHAT, times=MANY))
        replies = await _ask_all(client)

    assert [reply.retries for reply in replies] == [0] * SESSIONS


async def test_an_endpoint_whose_owner_watches_it_is_waited_for() -> None:
    async with (
        SimulatorServer() as server,
        engine([server.url], probe_timings=LOOKING) as client,
        asyncio.timeout(SECONDS),
    ):
        await _ask_all(client)
        server.add_fault(Fault(kind=FaultKind.SLOW, seconds=2.0, path=CHAT, times=MANY))
        replies = await _ask_all(client)

    assert [reply.retries for reply in replies] == [0] * SESSIONS
