"""A trainer's engine that is away for ten minutes, by a clock that goes a hundred times as fast, is waited for."""

import asyncio

from support.engines.fast_loop import FastLoop
from support.servers.engine_servers import SCHEMA, held_port, prompt

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_health import ProbeTimings
from generators.engine.protocol import Reply, Sampling
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from schemas.configuration.sections import EngineSection

SLOW = SimulatorOptions(delay_ms=(60_000.0, 60_000.0))
"""A reply takes a minute by the fast clock."""

AWAY = 600.0


async def _ask_over_an_absence(port: int) -> Reply:
    async with SimulatorServer(SLOW, port=port) as server:
        server.weights.version = "1"
        client = OpenAIEngine(
            [server.url],
            timeout_seconds=EngineSection().patience_seconds,
            discovery_seconds=2_000.0,
            probe_timings=ProbeTimings(probe_timeout=500.0),
            weights_change=True,
        )
        await client.__aenter__()
        asked = asyncio.create_task(
            client.reply(prompt("a", schema=SCHEMA), Sampling(), session="episode")
        )
        while server.request_log.chats == 0:  # noqa: ASYNC110 - a log of a server says no event
            await asyncio.sleep(1)
    try:
        await asyncio.sleep(AWAY)
        assert not asked.done()
        async with SimulatorServer(SLOW, port=port) as again:
            again.weights.version = "2"
            return await asked
    finally:
        await client.__aexit__()


def test_a_server_that_reloads_for_ten_minutes_is_waited_for() -> None:
    with held_port() as port, asyncio.Runner(loop_factory=FastLoop) as runner:
        reply = runner.run(_ask_over_an_absence(port))

    assert reply.retries >= 1
    assert reply.finish_reason == "stop"
    assert [one.version for one in reply.weights] == ["2"]
