"""The stream tells episodes as they are committed, in one order, and which groups they complete."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession
from support.runs.commands import SECONDS, end, interrupt, start, stepmill
from support.runs.served_seats import scripted_seats
from support.servers.seat_server import Answer, SeatServer, seats_config, served

from flows.serving.app import open_doors
from generators.engine.simulator.server import SimulatorServer


async def play(server: SeatServer, engine: SimulatorServer, **task: object) -> Answer:
    """Have an episode played."""
    status, told = await server.run(
        {"task": {"name": "click-test", **task}, "endpoint": engine.url, "pictures": False}
    )
    assert status == 200, told
    return told


async def read(server: SeatServer, **query: object) -> Answer:
    """Read the stream."""
    async with server.client.get("/episodes", params={k: str(v) for k, v in query.items()}) as got:
        return {"status": got.status, **await got.json()}


async def test_a_stream_goes_on_where_it_was_left_and_says_which_groups_are_complete(
    tmp_path: Path,
) -> None:
    config = seats_config(tmp_path)
    async with SimulatorServer() as engine, served(config) as server:
        first = await play(server, engine, index=0, group="update-1", group_size=2)
        await play(server, engine, index=1, group="update-1b", group_size=2)
        one = await read(server, wait=20, limit=1)
        last = await play(server, engine, group="update-1", group_size=2)
        while (rest := await read(server, cursor=1, wait=20))["cursor"] < 3:
            pass
        groups = await read(server, groups=1, trace=1)
        beyond = await read(server, cursor=9)

    assert [item["episode_id"] for item in one["items"]] == [first["episode_id"]]
    assert one["items"][0]["group"]["complete"] is False
    assert (one["cursor"], one["more"]) == (1, True)
    assert rest["items"][-1]["episode_id"] == last["episode_id"]
    assert rest["items"][-1]["group"]["complete"] is True
    (group,) = groups["items"]
    assert group["group"]["episode_ids"] == [first["episode_id"], last["episode_id"]]
    assert [one["trace"]["schema_version"] for one in group["episodes"]] == [1, 1]
    (left,) = groups["incomplete"]
    assert left["group"]["name"] == "trainer/update-1b"
    assert (left["group"]["have"], left["group"]["size"]) == (1, 2)
    assert beyond["status"] == 400
    assert "at most 3" in beyond["error"]

    printed = stepmill("stream", str(tmp_path / "run"), "--cursor", "2")
    assert printed.answer["episode_id"] == last["episode_id"], printed.err


@asynccontextmanager
async def served_in(run: str) -> AsyncIterator[ClientSession]:
    """Serve a run without a browser; yield a client."""
    sections: dict[str, Any] = {"run": {"url": run}, "seats": {"commit_seconds": 0.05}}
    async with (
        scripted_seats(Path(), **sections) as seats,
        open_doors(seats, {"one": "t1"}, shutdown_seconds=0.1) as url,
        ClientSession(url, headers={"Authorization": "Bearer t1"}) as client,
    ):
        yield client


async def win(client: ClientSession, index: int) -> str:
    """Win a task at the step door; return the episode's id."""
    async with client.ws_connect("/ws") as door:
        await door.send_json({"type": "reset", "data": {"index": index}})
        for x in (5, 6):
            await door.receive_json(timeout=SECONDS)
            action = {"type": "click", "x": x, "y": 5}
            await door.send_json({"type": "step", "data": {"action": action}})
        return str((await door.receive_json(timeout=SECONDS))["data"]["metadata"]["episode_id"])


async def test_a_run_in_a_bucket_is_streamed_while_it_is_served_and_gone_on_with(
    bucket_url: str,
) -> None:
    async def read(client: ClientSession, cursor: int) -> list[Answer]:
        async with client.get("/episodes", params={"cursor": cursor, "wait": 20}) as answer:
            told = await answer.json()
            assert told["cursor"] == cursor + len(told["items"])
            return list(told["items"])

    async with served_in(bucket_url) as client:
        won = [await win(client, 3)]
        items = await read(client, 0)
        won.append(await win(client, 1))
        items += await read(client, 1)
        reader = start("stream", bucket_url, "--follow", "--cursor", "1")
    async with served_in(bucket_url) as client:
        won.append(await win(client, 2))
        items += await read(client, 2)
        async with client.get("/episodes", params={"cursor": 4}) as answer:
            assert (answer.status, "at most 3" in await answer.text()) == (400, True)
        assert reader.stdout is not None
        followed = [json.loads(await asyncio.to_thread(reader.stdout.readline)) for _ in range(2)]
    interrupt(reader)
    assert (await asyncio.to_thread(end, reader)).code == 130

    assert [one["episode_id"] for one in items] == won
    assert [one["cursor"] for one in items] == [1, 2, 3]
    assert {one["reward"] for one in items} == {1.0}
    assert followed == items[1:]
    whole = await asyncio.to_thread(stepmill, "stream", bucket_url)
    assert [json.loads(line) for line in whole.out.splitlines()] == items
