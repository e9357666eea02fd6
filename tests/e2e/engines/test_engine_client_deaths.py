"""Engines die, hang and come back, and no conversation is lost."""

import asyncio
import json
import time

from support.runs.commands import SECONDS
from support.servers import engine_servers
from support.servers.engine_servers import (
    HASTY,
    SCHEMA,
    engine,
    held_port,
    prompt,
    scripted_process,
    until,
)

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_health import Phase, ProbeTimings
from generators.engine.protocol import Reply, Sampling
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from generators.engine.stopwatch import Stopwatch

SAMPLING = Sampling(max_tokens=64, logprobs=True)


async def _conversation(client: OpenAIEngine, number: int, turns: int) -> list[Reply]:
    return (await _timed(client, number, turns, []))[0]


async def _timed(
    client: OpenAIEngine, number: int, turns: int, heard: list[Reply]
) -> tuple[list[Reply], float]:
    """Return the replies of a conversation and the seconds of it that count; each is `heard` at once."""
    stopwatch, replies = Stopwatch(), list[Reply]()
    for turn in range(turns):
        reply = await client.reply(
            prompt(f"{number}/{turn}", schema=SCHEMA),
            SAMPLING,
            session=f"episode-{number}",
            stopwatch=stopwatch,
        )
        replies.append(reply)
        heard.append(reply)
    return replies, stopwatch.seconds


async def test_an_engine_killed_and_started_again_under_load_loses_nothing() -> None:
    sessions, turns = 32, 6
    with held_port() as port:
        async with (
            scripted_process(port, "--delay-ms", "100,300") as server,
            engine([server.url]) as client,
            asyncio.timeout(SECONDS),
        ):
            begun, heard = time.perf_counter(), list[Reply]()

            async def under_way() -> bool:
                return len(heard) >= sessions

            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(_timed(client, number, turns, heard))
                    for number in range(sessions)
                ]
                await until(under_way)
                await server.kill()
                down = time.perf_counter()
                await asyncio.sleep(1.0)
                await server.start()
                away = time.perf_counter() - down
            wall = time.perf_counter() - begun

    replies = [reply for task in tasks for reply in task.result()[0]]
    assert len(replies) == sessions * turns
    assert sum(reply.retries for reply in replies) >= 1
    assert all(json.loads(reply.text).keys() == {"x"} for reply in replies)
    counted = max(task.result()[1] for task in tasks)
    assert counted <= wall - away / 2, "waiting for a dead engine counts against nobody"


async def test_one_of_two_endpoints_dies_and_comes_back() -> None:
    sessions, options = 24, SimulatorOptions(delay_ms=(50, 100))
    with held_port() as port:
        async with SimulatorServer(options) as one:
            other = SimulatorServer(options, port=port)
            await other.__aenter__()
            async with engine([one.url, other.url]) as client, asyncio.timeout(SECONDS):
                before = await _all_ask(client, sessions)
                async with asyncio.TaskGroup() as group:
                    tasks = [
                        group.create_task(_conversation(client, number, 4))
                        for number in range(sessions)
                    ]
                    await asyncio.sleep(0.1)
                    await other.__aexit__()
                replies = [reply for task in tasks for reply in task.result()]
                during = await _all_ask(client, sessions)

                async def all_are_back() -> bool:
                    return await _all_ask(client, sessions) == before

                async with SimulatorServer(options, port=port):
                    await until(all_are_back)

    assert len(set(before)) == 2
    assert len(replies) == sessions * 4
    assert set(during) == {f"{one.url}/v1"}


async def _all_ask(client: OpenAIEngine, sessions: int) -> list[str]:
    """Return which endpoint answers each session."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_conversation(client, number, 1)) for number in range(sessions)]
    return [task.result()[0].endpoint for task in tasks]


async def test_an_endpoint_that_hangs_is_found_and_its_requests_asked_elsewhere() -> None:
    sessions = 12
    with held_port() as port:
        patient = engine_servers.PATIENT
        timings = ProbeTimings(
            probe_backoff=patient.probe_backoff,
            probe_interval=0.2,
            probe_timeout=1.0,
            failures=patient.failures,
            ramp=patient.ramp,
            ramp_alone=patient.ramp_alone,
        )
        async with (
            SimulatorServer() as one,
            scripted_process(port) as other,
            engine([one.url, other.url], probe_timings=timings) as client,
            asyncio.timeout(SECONDS),
        ):
            before = await _all_ask(client, sessions)
            await other.freeze()
            during = await _all_ask(client, sessions)

    assert len(set(before)) == 2
    assert set(during) == {f"{one.url}/v1"}


async def test_an_endpoint_that_was_away_at_the_start_is_asked_once_it_is_there() -> None:
    with held_port() as port:
        late = SimulatorServer(port=port)
        async with (
            SimulatorServer() as one,
            engine([one.url, late.url], probe_timings=HASTY) as client,
            asyncio.timeout(SECONDS),
        ):
            first = await _all_ask(client, 12)

            async def both_are_asked() -> bool:
                return len(set(await _all_ask(client, 12))) == 2

            async with late:
                await until(both_are_asked)

    assert set(first) == {f"{one.url}/v1"}
    assert client.card.endpoints == (f"{one.url}/v1", f"{late.url}/v1")


async def test_what_comes_back_with_another_model_is_not_asked() -> None:
    with held_port() as port:
        first = SimulatorServer(SimulatorOptions(model="holo"), port=port)
        await first.__aenter__()
        async with engine([first.url], probe_timings=HASTY) as client:
            await first.__aexit__()
            reply = asyncio.create_task(client.reply(prompt(), SAMPLING, session="s"))

            async def is_dead() -> bool:
                return client._open_pool.endpoints[0].health.phase is Phase.DEAD

            async def is_looked_at() -> bool:
                return "does not serve the model 'holo' but other" in client._open_pool.problems

            await until(is_dead)
            impostor = SimulatorServer(SimulatorOptions(model="other"), port=port)
            async with impostor:
                await until(is_looked_at)
                phase = client._open_pool.endpoints[0].health.phase
                waiting = not reply.done()
                reply.cancel()
                await asyncio.wait([reply])

    assert waiting
    assert phase is Phase.DEAD
    assert impostor.request_log.chats == 0
