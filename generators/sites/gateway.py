"""The loopback server at which every connection of a browser ends; it serves sites by host name.

Each session has an entrance of its own: a SOCKS5 proxy (RFC 1928) on a free port of the loopback address.
The browser passes every connection to it with the requested name or address. The gateway serves the hosts
that sites mounted, at port 80; an entrance refuses everything else and counts it by name for the episode's
row. So a site's origin is a name without a port (`http://miniwob.localhost`), the same on every machine,
and pages can reach nothing but sites. Connections that a browser would make past its proxy are led to the
gateway's own port, which serves the same hosts, and refuses and counts the rest; people's own browsers use
it too.
"""

import asyncio
import contextlib
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Self, cast

from aiohttp import web

from schemas.episodes.episode import BlockedRequests, ConnectionKind

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""Answers requests for one host."""

SHUTDOWN_SECONDS = 1.0
"""Time that requests in flight get when an entrance closes, seconds."""

MAX_NAMES = 20
"""Largest number of names with a count of their own; further names share one."""

MAX_NAME_LENGTH = 100
"""Characters kept of a name."""

FURTHER_NAMES = "further names"
"""The name of the shared count."""

LOOPBACK = "127.0.0.1"
"""The address on which the gateway listens."""

_HTTP_PORT = 80
_VERSION, _NO_PASSWORD, _CONNECT = 5, 0, 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_ADDRESS_BYTES = {_IPV4: 4, _IPV6: 16}
_GRANTED = bytes((_VERSION, 0, 0, _IPV4, 0, 0, 0, 0, 0, 0))
_TLS_RECORD = 0x16
_NOT_SERVED = "{} is not served here"
_REQUEST_LINE = re.compile(rb"[A-Z]+ \S+ HTTP/1\.[01]\r\n")
_FORBIDDEN = (
    b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n"
)


class Refusals:
    """The refused connections of an entrance by name, bounded however many names a page invents."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, ConnectionKind]] = Counter()

    def add(self, name: str, kind: ConnectionKind) -> None:
        """Count a refused connection to `name`: a host, with its port unless that is 80."""
        if len(name) > MAX_NAME_LENGTH:
            name = name[: MAX_NAME_LENGTH - 1] + "…"
        if (name, kind) not in self._counts and len(self._counts) >= MAX_NAMES:
            name = FURTHER_NAMES
        self._counts[name, kind] += 1

    @property
    def total(self) -> int:
        """The number of refused connections."""
        return self._counts.total()

    def counts(self) -> tuple[BlockedRequests, ...]:
        """Return the counts, sorted by name."""
        return tuple(
            BlockedRequests(name=name, kind=kind, count=count)
            for (name, kind), count in sorted(self._counts.items())
        )


class Gateway:
    """Passes each request to the handler of its host. Its owner starts and stops it."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._resources = contextlib.AsyncExitStack()
        self.port = 0
        """The port on 127.0.0.1 that needs no proxy; 0 before the start."""
        self.refused = Refusals()
        """The connections refused by all entrances and by the port without a proxy."""

    def mount(self, host: str, handler: Handler) -> None:
        """Register `handler` for the requests to `host`."""
        self._handlers[host] = handler

    def serves(self, host: str) -> bool:
        """Return whether `host` is mounted."""
        return host in self._handlers

    async def __aenter__(self) -> Self:
        """Listen on a free port of the loopback address."""
        http = web.Server(self._dispatch)
        self.port = await self._resources.enter_async_context(_listen(http, http))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        await self._resources.aclose()

    @contextlib.asynccontextmanager
    async def enter(self, made: socket.socket | None = None) -> AsyncIterator["Entrance"]:
        """Open an entrance, and close it at the end of the context.

        It listens on `made`, a fresh TCP socket of the browser's network namespace; None: on a socket of
        this program.
        """
        refused = Refusals()
        http = web.Server(self._dispatch)

        def refuse(name: str, kind: ConnectionKind) -> None:
            for counts in (refused, self.refused):
                counts.add(name, kind)

        connection = partial(_Connection, self.serves, http, refuse)
        async with _listen(http, connection, made) as port:
            yield Entrance(port, refused)

    async def _dispatch(self, request: web.BaseRequest) -> web.StreamResponse:
        host = request.host.removesuffix(f":{self.port}")
        handler = self._handlers.get(host)
        if handler is None:
            self.refused.add(host, ConnectionKind.HTTP)
            return web.Response(status=403, text=_NOT_SERVED.format(host))
        return await handler(request)


@contextlib.asynccontextmanager
async def _listen(
    http: web.Server,
    protocol: Callable[[], asyncio.BaseProtocol],
    made: socket.socket | None = None,
) -> AsyncIterator[int]:
    """Listen on a free port with `protocol` for each connection; finish the requests to `http` at the end."""
    loop = asyncio.get_running_loop()
    listening = made or socket.socket()
    listening.bind((LOOPBACK, 0))
    listener = await loop.create_server(protocol, sock=listening, backlog=1_024)
    try:
        yield int(listener.sockets[0].getsockname()[1])
    finally:
        listener.close()
        await http.shutdown(SHUTDOWN_SECONDS)


class Entrance:
    """One session's proxy to the sites."""

    def __init__(self, port: int, refused: Refusals) -> None:
        self.port = port
        """The proxy's port on 127.0.0.1."""
        self._refused = refused

    def blocked_requests(self) -> tuple[BlockedRequests, ...]:
        """Return the refused requests by host name."""
        return self._refused.counts()


class _Connection(asyncio.Protocol):
    """A connection through an entrance: the handshake, then the server's protocol or a refusal."""

    def __init__(
        self,
        serves: Callable[[str], bool],
        http: web.Server,
        refuse: Callable[[str, ConnectionKind], None],
    ) -> None:
        self._serves = serves
        self._http = http
        self._refuse = refuse
        self._data = b""
        self._stage = self._greet
        self._host, self._port = "", 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the browser's greeting."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Continue the handshake as far as the received bytes allow."""
        self._data += data
        while self._transport is not None and self._stage(self._transport):
            pass

    def _greet(self, transport: asyncio.Transport) -> bool:
        if len(self._data) < 2 or len(self._data) < 2 + self._data[1]:  # noqa: PLR2004 - the head
            return False
        if self._data[0] != _VERSION:
            return self._end(transport)
        self._data = self._data[2 + self._data[1] :]
        transport.write(bytes((_VERSION, _NO_PASSWORD)))
        self._stage = self._aim
        return True

    def _aim(self, transport: asyncio.Transport) -> bool:
        """Read the requested host and port."""
        head = 5
        if len(self._data) < head:
            return False
        kind = self._data[3]
        begin = head if kind == _NAME else head - 1
        size = self._data[4] if kind == _NAME else _ADDRESS_BYTES.get(kind, 0)
        end = begin + size
        if len(self._data) < end + 2:
            return False
        if self._data[1] != _CONNECT or not size:
            return self._end(transport)
        address = self._data[begin:end]
        self._host = (
            address.decode("ascii", "replace")
            if kind == _NAME
            else str(ipaddress.ip_address(address))
        )
        self._port = int.from_bytes(self._data[end : end + 2])
        self._data = self._data[end + 2 :]
        transport.write(_GRANTED)
        self._stage = self._pass_on
        return True

    def _pass_on(self, transport: asyncio.Transport) -> bool:
        """Hand the connection to the server, or refuse it in a form that fits its first bytes."""
        if not self._data:
            return False
        if self._port == _HTTP_PORT and self._serves(self._host):
            protocol = self._http()
            transport.set_protocol(protocol)
            protocol.connection_made(transport)
            protocol.data_received(self._data)
            self._transport = None
            return False
        kind = _kind_of(self._data)
        if kind is ConnectionKind.HTTP:
            text = _NOT_SERVED.format(self._name).encode()
            transport.write(_FORBIDDEN % len(text) + text)
        self._refuse(self._name, kind)
        return self._end(transport)

    @property
    def _name(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return host if self._port == _HTTP_PORT else f"{host}:{self._port}"

    def _end(self, transport: asyncio.Transport) -> bool:
        self._transport = None
        transport.close()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """Count a connection that was opened to an unserved host and never used."""
        del error
        if self._transport is not None and self._host and not self._serves(self._host):
            self._refuse(self._name, ConnectionKind.OTHER)


def _kind_of(data: bytes) -> ConnectionKind:
    if data[0] == _TLS_RECORD:
        return ConnectionKind.TLS
    return ConnectionKind.HTTP if _REQUEST_LINE.match(data) else ConnectionKind.OTHER
