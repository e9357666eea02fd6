"""A client's bytes that cannot be decoded are refused, at every place where a door decodes some, and cost nothing else.

No message of a client has base64 in it: pictures go to clients and never come from them, and tokens are numbers. Where
somebody sends some all the same it is a wrong key or a wrong kind of value.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, WSMsgType
from support.runs.served_seats import scripted_seats

from flows.serving.app import open_doors
from generators.seats.actions import action_schema

NO_TEXT = b'{"name": "\xff\xfe"}'
BROKEN = "data:image/png;base64,%%%"
CLICK = {"type": "click", "x": 5, "y": 5}
JSON = "application/json; charset="
POSTED = ("/run", "/mcp", "/stepmill/tasks", "/stepmill/num_tasks", "/stepmill/task")

STEPS: list[tuple[dict[str, Any], str]] = [
    ({**CLICK, "screenshot": BROKEN}, "screenshot: Extra inputs"),
    ({"action": {"type": "drop_file", "x": 1, "y": 1, "name": "a", "base64": "%"}}, "base64"),
    ({"action": BROKEN}, "valid dictionary"),
    ({"reply": BROKEN, "dialect": "holotron"}, "none of the dialect"),
    ({"action": CLICK, "call": {"completion_token_ids": "AAAA%"}}, "completion_token_ids"),
    ({"action": CLICK, "call": {"completion_logprobs": "AAAA%"}}, "completion_logprobs"),
    ({"action": {"type": "answer", "text": "\ud800"}}, "text.str: Input should be a valid string"),
]
"""What stands for bytes in a step, and what its client is told."""

BODIES: list[tuple[dict[str, str], bytes]] = [
    ({}, NO_TEXT),
    ({}, b"[" * 100_000),
    ({"Content-Type": JSON + "utf-7-or-so"}, b"[]"),
    ({"Content-Type": JSON + "base64"}, b"%"),
    ({"Content-Encoding": "gzip"}, b"no gzip"),
    ({"Content-Encoding": "deflate"}, b"no deflate"),
]
"""Headers, and a body that is not what they say, or no JSON."""

NO_TOKENS = [
    b"Basic %%%",
    b"Basic " + base64.b64encode(b"one:t1"),
    b"Bearer \xff\xfe",
    b"Bearer t1\xff",
    "Bearer t\u016f1".encode(),
    b"Bearer",
]
"""Values of the header that has a token."""


@asynccontextmanager
async def client_of_seats(run: Path) -> AsyncIterator[ClientSession]:
    async with (
        scripted_seats(run) as seats,
        open_doors(seats, {"one": "t1"}, shutdown_seconds=0.1) as url,
        ClientSession(url, headers={"Authorization": "Bearer t1"}) as client,
    ):
        yield client
        assert seats.turnstile.in_use == 0


async def test_what_stands_for_bytes_in_a_step_is_refused_and_the_seat_goes_on(
    tmp_path: Path,
) -> None:
    async with client_of_seats(tmp_path) as client, client.ws_connect("/ws") as socket:

        async def ask(kind: str, data: object) -> Any:
            await socket.send_json({"type": kind, "data": data})
            return (await socket.receive_json(timeout=20))["data"]

        await ask("reset", {"index": 0})
        for data, words in STEPS:
            told = await ask("step", data)
            assert told["code"] == "VALIDATION_ERROR", data
            assert words in told["message"]
        assert (await ask("step", {"action": CLICK, "step": 0}))["observation"]["step"] == 1
        assert (await ask("step", {"action": CLICK, "step": 1}))["reward"] == 1.0


async def test_a_frame_that_is_no_text_ends_its_connection_alone(tmp_path: Path) -> None:
    async with client_of_seats(tmp_path) as client, client.ws_connect("/ws") as other:
        for kind, code in ((WSMsgType.TEXT, 1007), (WSMsgType.BINARY, 1008)):
            async with client.ws_connect("/ws") as socket:
                await socket._writer.send_frame(NO_TEXT, kind)
                message = await socket.receive(timeout=20)
                assert (message.type, message.data) == (WSMsgType.CLOSE, code)
        await other.send_json({"type": "state"})
        assert (await other.receive_json(timeout=20))["type"] == "state"


async def test_a_body_that_cannot_be_decoded_is_refused_and_is_no_defect(tmp_path: Path) -> None:
    async with client_of_seats(tmp_path) as client:
        for headers, body in BODIES:
            for path in POSTED:
                # A server does not go on with a connection of which it could not read all.
                alone = {**headers, "Connection": "close"}
                async with client.post(path, data=body, headers=alone) as answer:
                    told = await answer.json()
                    refused = 200 if told.get("jsonrpc") else 404 if "tas" in path else 400
                    assert answer.status in (400, refused), (path, headers, told)
                    assert told["error"], (path, headers)
        async with client.get("/health") as answer:
            assert (await answer.json())["status"] == "healthy"


async def test_a_header_that_is_no_token_is_a_wrong_one(tmp_path: Path) -> None:
    async with client_of_seats(tmp_path) as client:
        url = client._base_url
        assert url is not None
        for given in NO_TOKENS:
            reader, writer = await asyncio.open_connection(url.host, url.port)
            head = (b"GET /metrics HTTP/1.1", b"Host: here", b"Authorization: " + given, b"", b"")
            writer.write(b"\r\n".join(head))
            assert await reader.readline() == b"HTTP/1.1 401 Unauthorized\r\n", given
            writer.close()


def test_no_part_of_a_step_is_bytes() -> None:
    told = json.dumps(action_schema())
    assert "base64" not in told
    assert '"binary"' not in told
