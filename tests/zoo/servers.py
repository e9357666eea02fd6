"""Answers of the zoo's servers that are more than a text."""

import asyncio
import itertools

from aiohttp import web

_VOTES: dict[str, list[str]] = {}
_NEWS: dict[str, asyncio.Queue[bytes]] = {}


async def stream(request: web.BaseRequest) -> web.StreamResponse:
    """Send one event at once and a comment each second, for ever."""
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    await answer.write(b"data: first\n\n")
    try:
        while True:
            await asyncio.sleep(1)
            await answer.write(b": beat\n\n")
    except (OSError, asyncio.CancelledError):
        return answer


async def prices(request: web.BaseRequest) -> web.StreamResponse:
    """Send a price in a line each 200 ms, for ever."""
    answer = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    await answer.prepare(request)
    try:
        for price in itertools.count(100):
            await answer.write(b'{"price": %d}\n' % price)
            await asyncio.sleep(0.2)
    except (OSError, asyncio.CancelledError):
        pass
    return answer


async def votes(request: web.BaseRequest) -> web.StreamResponse:
    """Keep what is posted, and tell it to who asks."""
    kept = _VOTES.setdefault(request.host, [])
    if request.method == "POST":
        kept.append(await request.text())
        return web.Response(status=204)
    return web.Response(text=", ".join(kept))


async def news(request: web.BaseRequest) -> web.StreamResponse:
    """Push what is posted 400 ms later to the last who listens."""
    if request.method == "POST":
        said = await request.read()
        asyncio.get_running_loop().call_later(0.4, _NEWS[request.host].put_nowait, said)
        return web.Response(status=202)
    queue = _NEWS[request.host] = asyncio.Queue()
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    await answer.write(b": welcome\n\n")
    try:
        while True:
            await answer.write(b"event: news\ndata: " + await queue.get() + b"\n\n")
    except (OSError, asyncio.CancelledError):
        return answer


def forget() -> None:
    """Forget what earlier visits have sent."""
    _VOTES.clear()
