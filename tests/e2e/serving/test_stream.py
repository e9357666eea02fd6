"""The stream tells episodes as they are committed, in one order, and which groups they complete."""

from pathlib import Path

from support.runs.commands import stepmill
from support.servers.seat_server import Answer, SeatServer, seats_config, served

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
