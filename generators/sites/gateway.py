"""The loopback server at which every connection of a browser ends; it serves sites by host name.

Each session has an entrance of its own (`entrance.py`). The gateway serves the hosts that sites mounted, at port 80
and, with a certificate that is made anew for each gateway, at port 443; an entrance refuses everything else and counts
it by name for the episode's row. So a site's origin is a name without a port (`http://miniwob.localhost`), the same on
every machine, and pages can reach nothing but sites. Connections that a browser would make past its proxy are led to
the gateway's own port, which serves the same hosts, and refuses and counts the rest; people's own browsers use it too.
"""

import asyncio
import base64
import contextlib
import hashlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cached_property, partial
from typing import Self

import trustme
from aiohttp import web
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import load_pem_x509_certificate

from generators.sites.entrance import NOT_SERVED, Connection, Entrance, Refusals
from schemas.episodes.episode import ConnectionKind

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""Answers requests for one host."""

SHUTDOWN_SECONDS = 1.0
"""Time that requests in flight get when an entrance closes, seconds."""

ENTRANCE = web.RequestKey("entrance", Entrance)
"""The entrance that a request came through; a request to the gateway's own port has none."""

LOOPBACK = "127.0.0.1"
"""The address on which the gateway listens."""


class Gateway:
    """Passes each request to the handler of its host. Its owner starts and stops it."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._resources = contextlib.AsyncExitStack()
        self._made = trustme.CA().issue_cert("*.localhost")
        self.certificate = _fingerprint(self._made.cert_chain_pems[0].bytes())
        """The fingerprint of its certificate's key, as Chromium is told of keys to trust: SHA-256, in base64."""
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
    async def enter(self, made: socket.socket | None = None) -> AsyncIterator[Entrance]:
        """Open an entrance, and close it at the end of the context.

        It listens on `made`, a fresh TCP socket of the browser's network namespace; None: on a socket of
        this program.
        """
        refused = Refusals()
        entrance = Entrance(refused)
        http = web.Server(partial(self._dispatch, entrance=entrance))

        def refuse(name: str, kind: ConnectionKind) -> None:
            for counts in (refused, self.refused):
                counts.add(name, kind)

        connection = partial(Connection, self.serves, http, refuse, lambda: self._encryption)
        async with _listen(http, connection, made) as entrance.port:
            yield entrance

    @cached_property
    def _encryption(self) -> ssl.SSLContext:
        """Its certificate for connections; made for the first, because it passes through a file."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        self._made.configure_cert(context)
        return context

    async def _dispatch(
        self, request: web.BaseRequest, entrance: Entrance | None = None
    ) -> web.StreamResponse:
        host = request.host.removesuffix(f":{self.port}")
        handler = self._handlers.get(host)
        if handler is None:
            self.refused.add(host, ConnectionKind.HTTP)
            return web.Response(status=403, text=NOT_SERVED.format(host))
        if entrance is not None:
            request[ENTRANCE] = entrance
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


def _fingerprint(pem: bytes) -> str:
    key = load_pem_x509_certificate(pem).public_key()
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(der).digest()).decode()
