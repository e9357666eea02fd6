"""While weights change: pauses, updates and restarts of a trainer's engine end no episode, and are blamed on nobody."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from pydantic import JsonValue
from support.servers.engine_servers import held_port
from support.servers.seat_server import Answer, SeatServer, seats_config, served

from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from generators.engine.simulator.weights import PauseMode
from schemas.base import JsonObject
from schemas.configuration.config import RunConfig

SLOW = SimulatorOptions(delay_ms=(400.0, 400.0))


def config(home: Path, **seats: JsonValue) -> RunConfig:
    """Return a configuration whose second task takes three replies."""
    tasks: JsonObject = {"include": ["click-button"], "seeds": [0, 3]}
    return seats_config(home, tasks=tasks, seats=seats)


async def until(come: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    async with asyncio.timeout(120):
        while not come():  # noqa: ASYNC110 - a log of a server says no event
            await asyncio.sleep(0.01)


def begin(
    server: SeatServer, engine: SimulatorServer, **more: object
) -> "asyncio.Task[tuple[int, Answer]]":
    """Begin an episode."""
    task = {"name": "click-button", "index": 1, "group": "update", "group_size": 2}
    return asyncio.create_task(server.run({"task": task, "endpoint": engine.url, **more}))


async def until_second_reply(engine: SimulatorServer) -> None:
    """Wait until the second reply of the episode is under way; the first of all is to a check of the engine."""
    log = engine.request_log
    await until(lambda: log.outcomes["whole"] >= 2 and log.chats >= 3)
    await asyncio.sleep(0.1)


async def test_replies_that_a_pause_aborts_are_asked_again(tmp_path: Path) -> None:
    async with SimulatorServer(SLOW) as engine, served(config(tmp_path)) as server:
        engine.weights.version = "1"
        playing = begin(server, engine)
        await until_second_reply(engine)
        await engine.weights.pause(PauseMode.ABORT)
        await until(lambda: engine.request_log.outcomes["broken"] >= 1)
        engine.weights.version = "2"
        engine.weights.resume()
        status, told = await playing

    assert status == 200, told
    assert told["failure_kind"] is None
    assert told["trainable"] is True
    written = [turn["metadata"]["weights_version"] for turn in told["trace"]["turns"]]
    assert written == ["1", "2", "2"]
    assert told["weights"]["versions"] == ["1", "2"]
    assert told["weights"]["newest"] == "2"
    assert told["weights"]["staleness"] == 1
    assert {turn["metadata"]["finish_reason"] for turn in told["trace"]["turns"]} == {"stop"}


async def _complete_groups(server: SeatServer) -> list[Answer]:
    """Read the groups that are complete, once there is one."""
    async with server.client.get("/episodes", params={"groups": "1", "wait": "30"}) as answer:
        found: Answer = await answer.json()
    return list(found["items"])


async def test_an_episode_of_old_weights_is_said_to_be_stale_and_is_not_learnt_from(
    tmp_path: Path,
) -> None:
    async with SimulatorServer() as engine, served(config(tmp_path, max_staleness=1)) as server:
        _, fresh = await begin(server, engine, weights_version="7")
        _, old = await begin(server, engine, weights_version="5")
        (group,) = await _complete_groups(server)

    assert (fresh["weights"]["staleness"], fresh["weights"]["stale"]) == (0, False)
    assert any(fresh["trace"]["turns"][0]["loss_mask"])
    assert old["weights"]["versions"] == ["5"]
    assert (group["stale"], group["episodes"]) == (True, None), "a stale group is refused"
    assert group["group"]["episode_ids"] == [fresh["episode_id"], old["episode_id"]]
    assert (old["weights"]["staleness"], old["weights"]["stale"]) == (2, True)
    assert not any(bit for turn in old["trace"]["turns"] for bit in turn["loss_mask"])


async def test_an_episode_waits_for_a_server_that_is_started_again(tmp_path: Path) -> None:
    with held_port() as port:
        await _play_over_a_restart(tmp_path, port)


async def _play_over_a_restart(home: Path, port: int) -> None:
    async with served(config(home)) as server:
        async with SimulatorServer(SLOW, port=port) as engine:
            engine.weights.version = "1"
            playing = begin(server, engine)
            await until_second_reply(engine)
        await asyncio.sleep(3.0)
        assert not playing.done()
        async with SimulatorServer(SLOW, port=port) as again:
            again.weights.version = "2"
            status, told = await playing

    assert status == 200, told
    assert told["failure_kind"] is None
    assert told["weights"]["versions"] == ["1", "2"]
