"""WebSockets from a page to the server of its visit: each message is passed on, either way, until one side ends.

Every message may change what the server holds, so the visit counts it as it counts requests, and its state is read anew.
A socket is never waited for: it is open as long as its page likes. A replay opens it to the application again.
"""

import asyncio
import contextlib

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from generators.sites.application.lease import Lease
from generators.sites.judged_site import PendingRequest

HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te"),
        *("trailer", "transfer-encoding", "upgrade", "content-length"),
    }
)
"""Header fields that are between two neighbours alone, in small letters."""

CONNECT_SECONDS = 30.0
"""Time that a server may take to accept a connection, seconds. Its answer may take as long as it likes."""

OPEN_SECONDS = 30.0
"""Time that a server may take to open a socket, seconds; then the page is told that it does not."""

CLOSE_SECONDS = 1.0
"""Time that either side gets to agree that a socket is closed, seconds."""

MAX_MESSAGE_BYTES = 16 * 2**20
"""The largest message; a socket with a larger one is closed."""

MAX_BYTES = 256 * 2**20
"""The most that a socket may send to a page in all; then it is closed."""

_TOO_MUCH = aiohttp.WSCloseCode.MESSAGE_TOO_BIG


def is_socket(request: web.BaseRequest) -> bool:
    """Return whether a request opens a WebSocket."""
    return request.headers.get("Upgrade", "").lower() == "websocket"


async def relay(
    request: web.BaseRequest,
    lease: Lease,
    url: URL,
    headers: CIMultiDict[str],
    pending: PendingRequest,
) -> web.StreamResponse:
    """Open a socket to the server as the page asks, and pass messages on until it is closed.

    Raises:
        ClientError, OSError: the server breaks off before it answers.
    """
    wanted = [one.strip() for one in headers.get("Sec-WebSocket-Protocol", "").split(",")]
    sent = {k: v for k, v in headers.items() if not k.lower().startswith("sec-websocket-")}
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            server = await lease.server.http.ws_connect(
                url,
                headers=sent,
                protocols=[one for one in wanted if one],
                max_msg_size=MAX_MESSAGE_BYTES,
            )
    except aiohttp.WSServerHandshakeError as refused:
        return web.Response(status=refused.status)
    except TimeoutError:
        return web.Response(status=504, text="the server does not open the socket")
    try:
        chosen = [server.protocol] if server.protocol else []
        page = web.WebSocketResponse(protocols=chosen, max_msg_size=MAX_MESSAGE_BYTES)
        await page.prepare(request)
        pending.end()
        ways = [
            asyncio.ensure_future(_pass_on(page, server, lease)),
            asyncio.ensure_future(_pass_on(server, page, lease, limit=MAX_BYTES)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.wait(ways)
        too_much = any(not way.cancelled() and way.result() for way in ways)
        await _close(page, code=_TOO_MUCH if too_much else _code(server.close_code))
        return page
    finally:
        await _close(server)


Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse


async def _pass_on(from_: Socket, to: Socket, lease: Lease, *, limit: int | None = None) -> bool:
    """Pass the messages of one side to the other until it ends; return whether there were more than `limit` bytes."""
    passed = 0
    async for message in from_:
        lease.requests += 1
        passed += len(message.data)
        if limit is not None and passed > limit:
            return True
        try:
            if message.type is aiohttp.WSMsgType.TEXT:
                await to.send_str(message.data)
            else:
                await to.send_bytes(message.data)
        except (ConnectionError, RuntimeError):
            return False  # the other side has ended
    return False


async def _close(socket: Socket, *, code: int = aiohttp.WSCloseCode.OK) -> None:
    """Close a socket, by force if the other side goes on sending."""
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await socket.close(code=code)


def _code(code: int | None) -> int:
    """Return the code with which a page's socket is closed: the server's, unless no program may send that."""
    reserved = {None, aiohttp.WSCloseCode.ABNORMAL_CLOSURE, 1005, 1015}
    return aiohttp.WSCloseCode.GOING_AWAY if code is None or code in reserved else code
