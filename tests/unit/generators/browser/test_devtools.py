"""A page's DevTools connection against a server that plays the browser."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import WSMsgType, web

from generators.browser.devtools.connection import (
    CommandRefused,
    Connection,
    PageCrashed,
    PageLost,
    read_address,
    read_json,
)
from generators.browser.devtools.patience import Patience
from generators.browser.devtools.websocket import LOOPBACK, Endpoint, WebSocket

Part = Callable[[web.WebSocketResponse], Awaitable[None]]


@contextlib.asynccontextmanager
async def playing(part: Part) -> AsyncIterator[Endpoint]:
    """A server whose pages do what `part` does; its port."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.path != "/devtools/page/T":
            return web.Response(status=404, text="No such target id")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await part(socket)
        return socket

    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, 0).start()
    try:
        yield Endpoint(int(runner.addresses[0][1]))
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def connected(part: Part) -> AsyncIterator[Connection]:
    async with (
        playing(part) as port,
        Connection.open_page(port, "T", Patience()) as connection,
    ):
        yield connection


def echo(command: dict[str, Any]) -> dict[str, Any]:
    return {"id": command["id"], "result": {"method": command["method"], **command["params"]}}


async def obedient(socket: web.WebSocketResponse) -> None:
    async for message in socket:
        await socket.send_json(echo(message.json()))


async def silent(socket: web.WebSocketResponse) -> None:
    async for _ in socket:
        pass


async def test_a_command_gets_its_result() -> None:
    async with connected(obedient) as page:
        assert await page.send("A.b", {"x": 1.5}, seconds=5) == {"method": "A.b", "x": 1.5}
        assert await page.send("A.c", seconds=5) == {"method": "A.c"}


@pytest.mark.parametrize("size", [0, 125, 126, 127, 0xFFFF, 0x10000, 1_000_000])
async def test_a_text_of_any_size_comes_and_goes_whole(size: int) -> None:
    async with connected(obedient) as page:
        assert (await page.send("A.b", {"x": "é" * size}, seconds=20))["x"] == "é" * size


async def test_results_out_of_order_find_their_commands() -> None:
    async def backwards(socket: web.WebSocketResponse) -> None:
        commands = [await socket.receive_json() for _ in range(3)]
        for command in reversed(commands):
            await socket.send_json(echo(command))

    async with connected(backwards) as page:
        numbers = [{"n": n} for n in range(3)]

        assert [each["n"] for each in await page.burst("A.b", numbers, seconds=5)] == [0, 1, 2]


async def test_a_burst_waits_for_no_result_before_all_is_sent() -> None:
    async def hoarder(socket: web.WebSocketResponse) -> None:
        commands = [await socket.receive_json() for _ in range(3)]
        assert [command["params"]["n"] for command in commands] == [0, 1, 2]
        for command in commands:
            await socket.send_json(echo(command))

    async with connected(hoarder) as page:
        assert len(await page.burst("A.b", [{"n": n} for n in range(3)], seconds=5)) == 3


async def test_events_are_heard_in_order_and_before_the_result_that_follows_them() -> None:
    async def chatty(socket: web.WebSocketResponse) -> None:
        command = await socket.receive_json()
        for n in range(3):
            await socket.send_json({"method": "A.happened", "params": {"n": n}})
        await socket.send_json({"method": "A.other", "params": {}})
        await socket.send_json(echo(command))

    async with connected(chatty) as page:
        heard: list[int] = []
        page.on("A.happened", lambda event: heard.append(event["n"]))
        await page.send("A.b", seconds=5)

        assert heard == [0, 1, 2]


async def test_what_the_browser_cannot_do_is_refused_in_its_words() -> None:
    async def stubborn(socket: web.WebSocketResponse) -> None:
        command = await socket.receive_json()
        await socket.send_json({"id": command["id"], "error": {"code": -1, "message": "Not now"}})
        await obedient(socket)

    async with connected(stubborn) as page:
        with pytest.raises(CommandRefused, match="Not now"):
            await page.send("A.b", seconds=5)
        assert await page.send("A.b", seconds=5)


async def test_one_refused_of_a_burst_is_told_and_the_others_do_no_harm() -> None:
    async def picky(socket: web.WebSocketResponse) -> None:
        commands = [await socket.receive_json() for _ in range(3)]
        await socket.send_json(echo(commands[0]))
        for command in commands[1:]:
            await socket.send_json({"id": command["id"], "error": {"message": "No"}})
        await obedient(socket)

    async with connected(picky) as page:
        with pytest.raises(CommandRefused, match="No"):
            await page.burst("A.b", [{}, {}, {}], seconds=5)
        assert await page.send("A.b", seconds=5)


async def hang_up(socket: web.WebSocketResponse) -> None:
    await socket.receive()
    await socket.close()


async def crash(socket: web.WebSocketResponse) -> None:
    await socket.receive()
    await socket.send_json({"method": "Inspector.targetCrashed", "params": {}})
    await silent(socket)


async def leave(socket: web.WebSocketResponse) -> None:
    await socket.receive()
    event = {"method": "Inspector.detached", "params": {"reason": "target_closed"}}
    await socket.send_json(event)
    await silent(socket)


async def babble(socket: web.WebSocketResponse) -> None:
    await socket.receive()
    await socket.send_str("no JSON")
    await silent(socket)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (hang_up, "the connection to the page was closed"),
        (crash, "the page crashed"),
        (leave, "the page went: target_closed"),
        (babble, "the connection to the page broke"),
    ],
)
async def test_a_lost_page_fails_what_waits_and_what_comes_at_once(part: Part, said: str) -> None:
    async with connected(part) as page:
        lost: list[PageLost] = []
        page.on_lost(lost.append)
        async with asyncio.timeout(5):
            with pytest.raises(PageLost, match=said):
                await page.send("A.b", seconds=60)
            with pytest.raises(PageLost, match=said):
                await page.send("A.b", seconds=60)

        assert len(lost) == 1
        assert said in str(lost[0])
        assert isinstance(lost[0], PageCrashed) == (part is crash)


async def test_no_answer_in_time_is_a_timeout_and_the_page_may_be_asked_again() -> None:
    async def forgetful(socket: web.WebSocketResponse) -> None:
        late = await socket.receive_json()
        soon = await socket.receive_json()
        await socket.send_json(echo(late))
        await socket.send_json(echo(soon))
        await silent(socket)

    async with connected(forgetful) as page:
        with pytest.raises(TimeoutError):
            await page.send("A.b", {"n": 1}, seconds=0.05)

        assert (await page.send("A.b", {"n": 2}, seconds=5))["n"] == 2


async def test_a_short_deadline_is_kept_beside_a_long_one() -> None:
    async with connected(silent) as page:
        loop = asyncio.get_running_loop()
        long = asyncio.create_task(page.send("A.b", seconds=0.4))
        await asyncio.sleep(0)
        begun = loop.time()
        with pytest.raises(TimeoutError):
            await page.send("A.b", seconds=0.05)
        assert loop.time() - begun < 0.3
        assert not long.done(), "its own deadline has not come"
        with pytest.raises(TimeoutError):
            await long


async def test_a_cancelled_command_leaves_the_connection_whole() -> None:
    async def slow(socket: web.WebSocketResponse) -> None:
        first = await socket.receive_json()
        second = await socket.receive_json()
        for command in (first, second):
            await socket.send_json(echo(command))
        await silent(socket)

    async with connected(slow) as page:
        given_up = asyncio.create_task(page.send("A.b", {"n": 1}, seconds=5))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait({given_up})

        assert given_up.cancelled()
        assert (await page.send("A.b", {"n": 2}, seconds=5))["n"] == 2


async def test_half_a_character_from_a_page_is_let_through() -> None:
    async def torn(socket: web.WebSocketResponse) -> None:
        command = await socket.receive_json()
        await socket.send_str(json.dumps({"id": command["id"], "result": {"value": "\ud83d"}}))
        await silent(socket)

    async with connected(torn) as page:
        assert await page.send("A.b", seconds=5) == {"value": "\ud83d"}


async def test_a_text_in_pieces_with_a_ping_between_is_put_together() -> None:
    async def piecemeal(socket: web.WebSocketResponse) -> None:
        command = await socket.receive_json()
        text = json.dumps(echo(command)).encode()
        writer = socket._writer
        assert writer is not None
        transport = writer.transport
        transport.write(bytes((0x01, 5)) + text[:5])
        await socket.ping(b"there?")
        rest = text[5:]
        for at in range(len(rest)):
            final = 0x80 if at == len(rest) - 1 else 0
            transport.write(bytes((final, 1)) + rest[at : at + 1])
            await asyncio.sleep(0)
        await silent(socket)

    async with connected(piecemeal) as page:
        assert (await page.send("A.b", seconds=5))["method"] == "A.b"


async def test_a_ping_is_answered_with_what_it_held() -> None:
    answers: list[bytes] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        await socket.ping(b"there?")
        message = await socket.receive()
        if message.type is WSMsgType.PONG:
            answers.append(bytes(message.data))
        return socket

    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, 0).start()
    over = asyncio.Event()
    async with WebSocket.open(
        Endpoint(int(runner.addresses[0][1])),
        "/",
        on_text=lambda _: None,
        on_end=lambda _: over.set(),
    ):
        await asyncio.wait_for(over.wait(), 5)
    await runner.cleanup()

    assert answers == [b"there?"]


async def test_a_page_that_is_not_there_is_said_so() -> None:
    async def connect(port: Endpoint) -> None:
        async with Connection.open_page(port, "other", Patience()):
            pass

    async with playing(silent) as port:
        with pytest.raises(ConnectionError, match="404"):
            await connect(port)
    with pytest.raises(OSError, match="Connect call failed"):
        await connect(port)


async def test_the_end_of_the_block_hangs_up() -> None:
    gone = asyncio.Event()

    async def waiting(socket: web.WebSocketResponse) -> None:
        await silent(socket)
        gone.set()

    async with playing(waiting) as port:
        async with Connection.open_page(port, "T", Patience()) as page:
            pass
        with pytest.raises(PageLost):
            await page.send("A.b", seconds=5)
        await asyncio.wait_for(gone.wait(), 5)


async def test_an_address_is_read_once_its_file_is_whole(tmp_path: Path) -> None:
    reading = asyncio.create_task(read_address(tmp_path))
    for text in ("", "41", "4173\n"):
        (tmp_path / "DevToolsActivePort").write_text(text)
        await asyncio.sleep(0.05)
        assert not reading.done()
    (tmp_path / "DevToolsActivePort").write_text("4173\n/devtools/browser/x")

    assert await asyncio.wait_for(reading, 5) == (4173, "/devtools/browser/x")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, -0, 2.5e-8, 12345678901234567890, true, null], "a": "\\ud83d\\ude00"}',
        '["\\ud800", "half a pair as an escape"]',
        '["\ud800", "half a pair itself"]',
        "[" * 500 + "]" * 500,
        '"\\u0000\\u2028"',
        "[1e999]",
    ],
)
def test_answers_are_read_as_the_standard_library_reads_them(text: str) -> None:
    assert read_json(text) == json.loads(text)


@pytest.mark.parametrize("text", ["", "[1", '{"a"}', "nothing"])
def test_what_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        read_json(text)
