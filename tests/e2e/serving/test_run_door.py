"""The run door plays whole episodes at a client's engine, and answers with the reward and the exact tokens."""

import asyncio
import base64
import json
from pathlib import Path

from support.runs.exports import reread
from support.servers.engine_servers import held_port
from support.servers.seat_server import Answer, seats_config, served

from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from schemas.base import JsonObject


def check_turns(told: Answer) -> None:
    """Hold the tokens of a trace against each other, and its pictures against those beside it."""
    turns = told["trace"]["turns"]
    assert len(turns) >= told["n_steps"] >= 1
    for turn in turns:
        prompt, reply = turn["prompt_token_ids"], turn["completion_token_ids"]
        assert turn["loss_mask"] == [0] * len(prompt) + [1] * len(reply)
        assert len(turn["per_token_logps"]) == len(reply)
        (*_, shown) = turn["metadata"]["pictures"]
        assert shown["length"] > 0
        assert base64.b64decode(told["pictures"][shown["url"]]).startswith(b"\xff\xd8")


async def test_episodes_are_played_at_the_clients_engine_and_kept(tmp_path: Path) -> None:
    both: JsonObject = {"sources": ["miniwob", "worlds"], "include": ["click-test", "shop/find"]}
    async with (
        SimulatorServer() as engine,
        served(seats_config(tmp_path, tasks=both)) as server,
    ):
        task, world = {"name": "click-test", "index": 1}, {"name": "shop/find", "index": 0}
        answers = [
            await server.run({"task": one, "endpoint": engine.url}) for one in (task, task, world)
        ]
        spare = await server.run({"task": task, "endpoint": engine.url, "pictures": False})
        opened = engine.request_log.paths["/v1/models"]

    for status, told in answers:
        assert status == 200, told
        assert told["failure_kind"] is None
        assert isinstance(told["reward"], float)
        check_turns(told)
    assert spare[1]["pictures"] is None
    assert [told["task"]["site"] for _, told in answers] == ["miniwob", "miniwob", "worlds"]
    assert [told["attempt"] % 1_000 for _, told in (*answers, spare)] == [0, 1, 0, 2]
    assert opened == 1, "the engine is opened once"
    assert server.seats.keeper.committed == 4

    path = tmp_path / "traces.jsonl"
    lines = [{"id": told["episode_id"], "trace": told["trace"]} for _, told in answers]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert reread(path, reader="training_trace_reader.py") == lines


async def test_a_client_that_goes_frees_its_seat_and_leaves_no_episode(tmp_path: Path) -> None:
    slow = SimulatorOptions(delay_ms=(20_000.0, 20_000.0))
    async with SimulatorServer(slow) as engine, served(seats_config(tmp_path)) as server:
        log, seats = engine.request_log, server.seats
        playing = asyncio.create_task(server.run({"endpoint": engine.url}))
        async with asyncio.timeout(120):
            while log.chats < 2:  # noqa: ASYNC110 - a log of a server says no event
                await asyncio.sleep(0.05)
        playing.cancel()
        async with asyncio.timeout(5):
            while seats.turnstile.in_use:  # noqa: ASYNC110 - it is looked at from outside
                await asyncio.sleep(0.05)

        assert seats.counts["cut off"] == 1
        assert seats.keeper.kept == 0


async def test_an_engine_that_is_lost_fails_its_episodes_and_ends_the_server_for_nobody(
    tmp_path: Path,
) -> None:
    config = seats_config(tmp_path, engine={"patience_seconds": 1.0})
    slow = SimulatorOptions(delay_ms=(300.0, 300.0))
    with held_port() as port:
        async with SimulatorServer() as other, served(config) as server:
            async with SimulatorServer(slow, port=port) as engine:
                playing = asyncio.create_task(server.run({"endpoint": engine.url}))
                async with asyncio.timeout(120):
                    while engine.request_log.chats < 2:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
            status, lost = await playing
            assert (await server.run({"endpoint": other.url}))[1]["failure_kind"] is None
            async with SimulatorServer(port=port) as again:
                back = await server.run({"endpoint": again.url})

    assert status == 200, lost
    assert lost["failure_kind"] == "engine"
    assert "mend the server, its key or the request's endpoint" in lost["failure_message"]
    assert (lost["reward"], lost["trainable"]) == (None, False)
    assert back[0] == 200, back
    assert back[1]["failure_kind"] is None
