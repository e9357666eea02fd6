"""The way from one session's browser to the sites: a SOCKS5 proxy (RFC 1928), and what it refuses.

The browser passes every connection with the requested name or address. Those to served hosts go to the gateway's
server, from port 443 behind a certificate of the gateway's own; everything else is refused and counted by name.
"""

import asyncio
import ipaddress
import re
import ssl
from collections import Counter
from collections.abc import Callable
from typing import cast

from aiohttp import web

from schemas.episodes.episode import BlockedRequests, ConnectionKind

MAX_NAMES = 20
"""Largest number of names with a count of their own; further names share one."""

MAX_NAME_LENGTH = 100
"""Characters kept of a name."""

FURTHER_NAMES = "further names"
"""The name of the shared count."""

NOT_SERVED = "{} is not served here"
"""The answer to a request for a host that is not served."""

HTTPS_PORT = 443
"""The port at which served hosts are behind the certificate."""

_HTTP_PORT = 80
_VERSION, _NO_PASSWORD, _CONNECT = 5, 0, 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_ADDRESS_BYTES = {_IPV4: 4, _IPV6: 16}
_GRANTED = bytes((_VERSION, 0, 0, _IPV4, 0, 0, 0, 0, 0, 0))
_TLS_RECORD = 0x16
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


class Entrance:
    """One session's proxy to the sites."""

    def __init__(self, refused: Refusals) -> None:
        self.port = 0
        """The proxy's port on 127.0.0.1; 0 before it listens."""
        self.visits: dict[str, str] = {}
        """What identifies the session's visit of each site, by the site's name, once it has shown it."""
        self._refused = refused

    def blocked_requests(self) -> tuple[BlockedRequests, ...]:
        """Return the refused requests by host name."""
        return self._refused.counts()


class Connection(asyncio.Protocol):
    """A connection through an entrance: the handshake, then the server's protocol or a refusal."""

    def __init__(
        self,
        serves: Callable[[str], bool],
        http: web.Server,
        refuse: Callable[[str, ConnectionKind], None],
        encryption: Callable[[], ssl.SSLContext],
    ) -> None:
        self._serves = serves
        self._http = http
        self._refuse = refuse
        self._encryption = encryption
        self._decrypting: asyncio.Task[None] | None = None
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
        if self._port == HTTPS_PORT and not self._data and self._serves(self._host):
            self._transport = None
            self._decrypting = asyncio.ensure_future(self._decrypt(transport))
        return True

    async def _decrypt(self, transport: asyncio.Transport) -> None:
        """Hand the connection to the server behind the gateway's certificate."""
        plain = _Plain(self._http)
        try:
            inner = await asyncio.get_running_loop().start_tls(
                transport, plain, self._encryption(), server_side=True
            )
        except (OSError, asyncio.CancelledError):
            self._refuse(self._name, ConnectionKind.OTHER)
            transport.abort()
            return
        if inner is not None:
            plain.begin(inner)

    def _pass_on(self, transport: asyncio.Transport) -> bool:
        """Hand the connection to the server, or refuse it in a form that fits its first bytes."""
        if not self._data:
            return False
        if self._port == _HTTP_PORT and self._serves(self._host):
            self._transport = None
            _hand_over(transport, self._http(), self._data)
            return False
        kind = _kind_of(self._data)
        if kind is ConnectionKind.HTTP:
            text = NOT_SERVED.format(self._name).encode()
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


class _Plain(asyncio.Protocol):
    """Keeps what arrives decrypted until the server takes over."""

    def __init__(self, http: web.Server) -> None:
        self._http = http
        self._data = b""

    def data_received(self, data: bytes) -> None:
        """Keep it."""
        self._data += data

    def begin(self, transport: asyncio.Transport) -> None:
        """Have the server take over."""
        _hand_over(transport, self._http(), self._data)


def _hand_over(transport: asyncio.Transport, protocol: asyncio.Protocol, data: bytes) -> None:
    """Give a connection, and what has arrived of it, to another protocol."""
    transport.set_protocol(protocol)
    protocol.connection_made(transport)
    if data:
        protocol.data_received(data)


def _kind_of(data: bytes) -> ConnectionKind:
    if data[0] == _TLS_RECORD:
        return ConnectionKind.TLS
    return ConnectionKind.HTTP if _REQUEST_LINE.match(data) else ConnectionKind.OTHER
