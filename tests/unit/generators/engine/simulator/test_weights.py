"""A trainer pauses the simulator, changes its weights and names them, as it does with vLLM 0.32."""

import asyncio
from typing import Any

import pytest
from support.servers.engine_http import CHAT, chat, engine, get, user

from generators.engine.simulator.options import SimulatorOptions

SLOW = SimulatorOptions(delay_ms=(1_500.0, 1_500.0))
BODY = chat(user("Say anything."))


async def post(client: Any, path: str, **body: object) -> tuple[int, Any]:
    async with client.post(path, json=body) as answer:
        return answer.status, await answer.json()


async def begin(server: Any, client: Any) -> "asyncio.Task[tuple[int, Any]]":
    """Begin a chat, and return once it is under way."""
    before = server.request_log.chats
    asked = asyncio.create_task(post(client, CHAT, **BODY))
    while server.request_log.chats == before:  # noqa: ASYNC110 - a log of a server says no event
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    return asked


async def test_a_pause_aborts_replies_under_way_and_keeps_new_ones_waiting() -> None:
    async with engine(SLOW) as (server, client):
        asked = await begin(server, client)
        assert await post(client, "/pause") == (200, {"status": "paused"})
        status, aborted = await asked
        assert await get(client, "/is_paused") == {"is_paused": True}
        late = await begin(server, client)
        assert not late.done()
        await post(client, "/start_weight_update")
        await post(client, "/update_weights", update_info={})
        await post(client, "/finish_weight_update", weight_version="2")
        assert await post(client, "/resume") == (200, {"status": "resumed"})
        _, whole = await late
        info = await get(client, "/weight_info")

    assert status == 200
    assert aborted["choices"][0]["finish_reason"] == "abort"
    assert whole["choices"][0]["finish_reason"] == "stop"
    assert whole["usage"]["completion_tokens"] > aborted["usage"]["completion_tokens"]
    assert info == {"weight_version": "2"}


@pytest.mark.parametrize("mode", ["wait", "keep"])
async def test_a_pause_may_leave_replies_whole(mode: str) -> None:
    async with engine(SLOW) as (server, client):
        asked = await begin(server, client)
        await post(client, f"/pause?mode={mode}")
        assert asked.done() == (mode == "wait")
        await post(client, "/resume")
        _, whole = await asked

    assert whole["choices"][0]["finish_reason"] == "stop"


async def test_weights_are_unnamed_at_first_and_may_be_named_alone() -> None:
    async with engine() as (_, client):
        first = await get(client, "/weight_info")
        named = await post(client, "/update_weight_version", new_version="9")
        assert (await post(client, "/pause?mode=stop"))[0] == 422
        assert (await post(client, "/update_weights", update_info="no"))[0] == 422
        assert (await post(client, "/update_weight_version"))[0] == 422
        last = await get(client, "/weight_info")

    assert first == {"weight_version": "default"}
    assert named == (200, {"success": True, "new_version": "9"})
    assert last == {"weight_version": "9"}
