"""What a hostile server sends in place of a page: nothing, a byte a second, far too much, or no text."""

import asyncio
import contextlib

from aiohttp import web
from sites.hostile.markup import page_of

LARGE_BYTES = 50_000_000


async def silence(_: web.BaseRequest) -> web.StreamResponse:
    """Take the request, and never answer it."""
    await asyncio.sleep(3_600)
    raise web.HTTPNoContent


async def drip(request: web.BaseRequest) -> web.StreamResponse:
    """Answer a byte a second, for as long as anybody listens."""
    answer = web.StreamResponse(headers={"Content-Type": "text/html; charset=utf-8"})
    await answer.prepare(request)
    with contextlib.suppress(ConnectionError):
        while True:
            await answer.write(b"x")
            await asyncio.sleep(1.0)
    return answer


async def large(request: web.BaseRequest) -> web.StreamResponse:
    """Answer with 50 MB of paragraphs below the button."""
    answer = web.StreamResponse(headers={"Content-Type": "text/html; charset=utf-8"})
    await answer.prepare(request)
    paragraph = f"<p>{'word ' * 10_000}\n".encode()
    with contextlib.suppress(ConnectionError):
        await answer.write(page_of("large-page", click="win()").encode())
        for _ in range(LARGE_BYTES // len(paragraph)):
            await answer.write(paragraph)
    return answer


async def invalid_text(_: web.BaseRequest) -> web.StreamResponse:
    """Answer with bytes that are no UTF-8, in text, title and attributes."""
    wrong = b"\xff\xfe \xc3( \xed\xa0\x80 \xf4\x90\x80\x80 \xc0\xaf \x80"
    page = page_of("WRONG", click="win()", body="<p title='WRONG'>WRONG<input value='WRONG'>")
    return web.Response(
        body=page.encode().replace(b"WRONG", wrong), content_type="text/html", charset="utf-8"
    )
