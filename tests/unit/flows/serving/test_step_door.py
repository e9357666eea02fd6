"""The step door: OpenEnv's wire over real sockets, with pages of a list."""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError
from support.runs.served_seats import rows, scripted_seats

from flows.serving.app import open_doors
from flows.serving.seating import Seats
from flows.serving.tokens import client_tokens
from schemas.configuration.seats_section import SeatClient, SeatsSection
from schemas.errors import BadConfig

TOKENS = {"one": "t1", "two": "t2"}
VARIABLE = "A_TOKEN"
CLIENTS = {"clients": {"one": {}, "two": {"seats": 1}}}


@dataclass
class Door:
    """A server, and sessions of its two clients."""

    url: str
    seats: Seats
    one: ClientSession
    two: ClientSession
    nobody: ClientSession


@asynccontextmanager
async def open_door(url: Path, **sections: Any) -> AsyncIterator[Door]:
    sections["seats"] = {**CLIENTS, **sections.get("seats", {})}
    headers = [{"Authorization": f"Bearer {token}"} for token in TOKENS.values()]
    async with (
        scripted_seats(url, **sections) as seats,
        open_doors(seats, TOKENS, shutdown_seconds=0.1) as address,
        ClientSession(address, headers=headers[0]) as one,
        ClientSession(address, headers=headers[1]) as two,
        ClientSession(address) as nobody,
    ):
        yield Door(address, seats, one, two, nobody)


async def ask(socket: ClientWebSocketResponse, kind: str, **data: Any) -> Any:
    await socket.send_json({"type": kind, "data": data})
    return await socket.receive_json(timeout=20)


def click(x: float, step: int | None = None) -> dict[str, Any]:
    told: dict[str, Any] = {"action": {"type": "click", "x": x, "y": 5}}
    return told if step is None else {**told, "step": step}


async def test_a_client_resets_steps_and_gets_the_reward_at_the_end(tmp_path: Path) -> None:
    async with open_door(tmp_path) as door, door.one.ws_connect("/ws") as socket:
        first = (await ask(socket, "reset", index=3, policy="mine-7"))["data"]
        assert first["reward"] is None
        assert first["done"] is False
        assert base64.b64decode(first["observation"]["screenshot"])[:2] == b"\xff\xd8"
        assert first["metadata"]["seed"] == 3
        second = (await ask(socket, "step", **click(5, 0)))["data"]
        assert (second["reward"], second["observation"]["step"]) == (None, 1)
        last = (await ask(socket, "step", **click(6, 1)))["data"]
        assert (last["reward"], last["done"]) == (1.0, True)
        assert last["metadata"]["stop_reason"] == "finished"
        state = (await ask(socket, "state"))["data"]
        assert state["episode_id"] == last["metadata"]["episode_id"]
        assert state["step_count"] == 2
    assert rows(tmp_path, "episodes", "policy", "episode_id") == [("mine-7", state["episode_id"])]


async def test_elements_are_told_as_text_and_pictures_left_out_where_asked(tmp_path: Path) -> None:
    async with open_door(tmp_path) as door, door.one.ws_connect("/ws") as socket:
        told = (await ask(socket, "reset", elements=True, picture=False))["data"]["observation"]
        assert told["elements"] == []
        assert "screenshot" not in told


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("{", "INVALID_JSON", "no JSON"),
        ("[" * 100_000, "INVALID_JSON", "no JSON"),
        ("[]", "INVALID_JSON", "expected an object"),
        ('{"type": "fly"}', "UNKNOWN_TYPE", "fly"),
        ('{"type": "reset", "data": {"color": 1}}', "VALIDATION_ERROR", "color"),
        ('{"type": "reset", "data": {"index": -1}}', "VALIDATION_ERROR", "index"),
        ('{"type": "reset", "data": {"name": "nothing"}}', "EXECUTION_ERROR", "nothing|no task"),
        ('{"type": "reset", "data": {"split": "secret"}}', "VALIDATION_ERROR", "split"),
        ('{"type": "reset", "data": {"split": "test"}}', "EXECUTION_ERROR", "no task fits"),
        ('{"type": "reset", "data": {"lease": "x"}}', "EXECUTION_ERROR", "no such lease"),
        ('{"type": "step", "data": {"type": "wait"}}', "VALIDATION_ERROR", "reset first"),
    ],
)
async def test_a_bad_message_is_answered_and_the_connection_stays(
    tmp_path: Path, text: str, code: str, words: str
) -> None:
    async with open_door(tmp_path) as door, door.one.ws_connect("/ws") as socket:
        await socket.send_str(text)
        answer = await socket.receive_json(timeout=20)
        assert answer["type"] == "error"
        assert answer["data"]["code"] == code
        assert any(word in answer["data"]["message"] for word in words.split("|"))
        assert (await ask(socket, "reset"))["type"] == "observation"


async def test_a_bad_step_changes_nothing(tmp_path: Path) -> None:
    async with open_door(tmp_path) as door, door.one.ws_connect("/ws") as socket:
        await ask(socket, "reset")
        for data, code in (
            ({"type": "fly"}, "VALIDATION_ERROR"),
            ({"reply": "x", "dialect": "klingon"}, "VALIDATION_ERROR"),
            (click(5, 4), "EXECUTION_ERROR"),
        ):
            assert (await ask(socket, "step", **data))["data"]["code"] == code
        assert (await ask(socket, "step", **click(5, 0)))["data"]["observation"]["step"] == 1
        assert (await ask(socket, "step", **click(9, 0)))["data"]["code"] == "EXECUTION_ERROR"
        assert (await ask(socket, "step", **click(6, 1)))["data"]["reward"] == 1.0
        over = await ask(socket, "step", **click(6, 2))
        assert "over" in over["data"]["message"]


async def test_ten_megabytes_end_the_connection_and_free_the_seat(tmp_path: Path) -> None:
    async with open_door(tmp_path) as door, door.one.ws_connect("/ws") as socket:
        await ask(socket, "reset")
        with contextlib.suppress(ConnectionError):  # it may end while this is being sent
            await socket.send_str(json.dumps({"type": "step", "data": {"reply": "x" * 10_000_000}}))
            assert (await socket.receive(timeout=20)).type in (WSMsgType.CLOSE, WSMsgType.CLOSED)
        await all_free(door.seats)


async def all_free(seats: Seats) -> None:
    async with asyncio.timeout(20):
        while seats.turnstile.in_use or seats.leases:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)


async def test_nobody_enters_without_a_token_or_with_anothers_lease(tmp_path: Path) -> None:
    async with open_door(tmp_path) as door:
        wrong = {"Authorization": "Bearer t3"}
        for session, headers in ((door.nobody, {}), (door.nobody, wrong)):
            with pytest.raises(WSServerHandshakeError) as refused:
                await session.ws_connect("/ws", headers=headers)
            assert refused.value.status == 401
        for path in ("/metrics", "/list_environments", "/stepmill/splits"):
            async with door.nobody.get(path) as answer:
                assert answer.status == 401
        async with door.nobody.get("/health", headers=wrong) as answer:
            assert answer.status == 401
        async with door.one.ws_connect("/ws") as mine, door.two.ws_connect("/ws") as other:
            lease = (await ask(mine, "reset"))["data"]["metadata"]["lease"]
            answer = await ask(other, "reset", lease=lease)
            assert "no such lease" in answer["data"]["message"]


async def test_a_lease_has_one_connection_and_waits_for_its_client_to_return(
    tmp_path: Path,
) -> None:
    kept = {"return_seconds": 30}
    async with open_door(tmp_path, seats=kept) as door:
        first = await door.one.ws_connect("/ws")
        async with door.one.ws_connect("/ws") as second:
            lease = (await ask(first, "reset"))["data"]["metadata"]["lease"]
            await ask(first, "step", **click(5, 0))
            taken = await ask(second, "reset", lease=lease)
            assert "another connection" in taken["data"]["message"]
            transport = first._response.connection
            assert transport is not None
            assert transport.transport is not None
            transport.transport.abort()
            async with asyncio.timeout(20):
                while True:
                    answer = await ask(second, "reset", lease=lease)
                    if answer["type"] == "observation":
                        break
            assert answer["data"]["observation"]["step"] == 1
            again = (await ask(second, "step", **click(5, 0)))["data"]
            assert again["observation"]["step"] == 1
            assert (await ask(second, "step", **click(6, 1)))["data"]["reward"] == 1.0
    assert len(rows(tmp_path, "episodes", "episode_id")) == 1


async def test_a_full_house_is_said_with_place_and_time(tmp_path: Path) -> None:
    full = {"browser": {"sessions": 1}, "seats": {"wait_seconds": 0.05}}
    async with (
        open_door(tmp_path, **full) as door,
        door.one.ws_connect("/ws") as one,
        door.two.ws_connect("/ws") as two,
    ):
        await ask(one, "reset")
        answer = (await ask(two, "reset"))["data"]
        assert answer["code"] == "CAPACITY_REACHED"
        assert (answer["place"], answer["active_sessions"], answer["max_sessions"]) == (1, 1, 1)
        assert answer["retry_after"] >= 1
        await one.close()
        await all_free(door.seats)
        assert (await ask(two, "reset"))["type"] == "observation"


async def test_a_silent_client_is_noticed_by_its_pings(tmp_path: Path) -> None:
    quick = {"silence_seconds": 2.0, "return_seconds": 0}
    async with open_door(tmp_path, seats=quick) as door:
        socket = await door.one.ws_connect("/ws", autoping=False)
        await ask(socket, "reset")
        await all_free(door.seats)
    assert rows(tmp_path, "episodes", "failure_kind") == [("client",)]


async def test_pictures_are_not_deflated_for_a_client_that_could_inflate_them(
    tmp_path: Path,
) -> None:
    async with open_door(tmp_path) as door, door.one.ws_connect("/ws", compress=15) as socket:
        assert socket.compress == 0
        assert (await ask(socket, "reset", index=0))["type"] == "observation"


async def test_clients_are_told_when_the_server_ends(tmp_path: Path) -> None:
    async with open_door(tmp_path) as door, door.one.ws_connect("/ws") as socket:
        await ask(socket, "reset")
        ending = asyncio.create_task(door.seats.drain(0.5))
        await asyncio.sleep(0)
        refused = await ask(socket, "reset")
        assert refused["data"]["code"] == "SESSION_ERROR"
        await ending
        async with door.nobody.get("/health") as answer:
            assert answer.status == 503
            assert (await answer.json())["ending"] == "the server ends"


async def test_an_interrupt_with_64_seats_taken_lets_them_go_on_and_tells_each(
    tmp_path: Path,
) -> None:
    async with open_door(tmp_path, browser={"sessions": 64}) as door, AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(door.one.ws_connect("/ws")) for _ in range(64)]
        async with asyncio.TaskGroup() as group:
            for socket in sockets:
                group.create_task(ask(socket, "reset"))
        assert door.seats.turnstile.in_use == 64
        draining = asyncio.create_task(door.seats.drain(60.0))
        for socket in sockets[:8]:  # they go on to their ends
            await ask(socket, "step", **click(5, 0))
            assert (await ask(socket, "step", **click(6, 1)))["data"]["reward"] == 1.0
        await door.seats.drain(0.0)
        await draining
        for socket in sockets[8:]:
            told = (await ask(socket, "step", **click(5, 0)))["data"]
            assert (told["done"], told["reward"]) == (True, None)
            assert told["metadata"]["failure_message"] == "the server ends"
            again = (await ask(socket, "step", **click(5, 0)))["data"]
            assert "over" in again["message"]
    assert len(rows(tmp_path, "episodes", "episode_id")) == 8


async def test_tasks_are_listed_by_split_and_index(tmp_path: Path) -> None:
    async with open_door(tmp_path) as door:
        async with door.one.post("/stepmill/num_tasks", json={"split": "train"}) as answer:
            count = (await answer.json())["num_tasks"]
        asked = {"split": "train", "start": 2, "stop": 5}
        async with door.one.post("/stepmill/task_range", json=asked) as answer:
            tasks = (await answer.json())["tasks"]
        assert [task["index"] for task in tasks] == list(range(2, min(5, count)))
        async with door.one.post("/stepmill/task", json={"split": "train", "index": 2}) as answer:
            assert (await answer.json())["task"] == tasks[0]
        async with door.one.post("/stepmill/task", json={"split": "moon", "index": 2}) as answer:
            assert answer.status == 404


async def rpc(session: ClientSession, method: str, **params: Any) -> Any:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with session.post("/mcp", json=request) as answer:
        return await answer.json()


async def test_actions_are_tools_of_a_session(tmp_path: Path) -> None:
    async with open_door(tmp_path) as door:
        tools = (await rpc(door.one, "tools/list"))["result"]["tools"]
        assert {"reset", "click", "answer"} <= {tool["name"] for tool in tools}
        session = (await rpc(door.one, "openenv/session/create"))["result"]["session_id"]

        async def call(name: str, **told: Any) -> Any:
            params = {"name": name, "arguments": told, "session_id": session}
            return (await rpc(door.one, "tools/call", **params)).get("result")

        for told, words in (
            ({"colour": 1}, "colour: Extra inputs are not permitted"),
            ({"index": -1}, "index: Input should be greater than or equal to 0"),
        ):
            bad = await call("reset", **told)
            assert (bad["isError"], bad["content"]) == (True, [{"type": "text", "text": words}])
        first = await call("reset", index=1)
        assert [part["type"] for part in first["content"]] == ["text", "image"]
        await call("click", x=5, y=5)
        last = json.loads((await call("click", x=6, y=5))["content"][0]["text"])
        assert (last["reward"], last["done"]) == (1.0, True)
        assert (await call("click", x=6, y=5))["isError"]
        assert await call("fly") is None
        assert "error" in await rpc(door.two, "openenv/session/close", session_id=session)
        assert "error" in await rpc(door.nobody, "tools/list")
        closed = await rpc(door.one, "openenv/session/close", session_id=session)
        assert closed["result"]["closed"]
        assert door.seats.leases == {}


def test_tokens_come_from_their_variables_or_are_drawn() -> None:
    clients = {"a": SeatClient(token_env=VARIABLE), "b": SeatClient()}
    tokens = client_tokens(SeatsSection(clients=clients), {VARIABLE: " secret "})
    assert tokens["a"] == "secret"
    assert len(tokens["b"]) >= 32
    assert list(client_tokens(SeatsSection(), {})) == ["trainer"]
    with pytest.raises(BadConfig, match="A_TOKEN is not set"):
        client_tokens(SeatsSection(clients=clients), {})
