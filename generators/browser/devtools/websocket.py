"""A minimal WebSocket client for our own browser: it sends and receives text, and nothing else.

It passes messages on as they arrive, without a task in between, and sending never waits, so the caller's
deadline is the only one. It leaves out what RFC 6455 demands of clients on an open network, because the
server is a browser that we started on this machine: the mask that protects proxies is a key of zeros,
and a connection ends without a closing handshake.
"""

import asyncio
import base64
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Self, cast

LOOPBACK = "127.0.0.1"
"""The server is always on this machine."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a listening browser."""

    port: int
    """The port on 127.0.0.1 of the browser's network namespace."""
    browser_path: str = "/devtools/browser"
    """The path of connections to the browser itself."""
    make_socket: Callable[[], socket.socket] = socket.socket
    """Makes a TCP socket of that namespace."""
    has_just_ended_one: Callable[[], bool] = bool
    """Returns whether a page's process was ended a moment ago because of its memory."""

    async def connect(self) -> socket.socket:
        """Return a socket that is connected to it.

        Raises:
            OSError: nothing listens there.
        """
        made = self.make_socket()
        try:
            made.setblocking(False)  # noqa: FBT003 - a method of the standard library
            await asyncio.get_running_loop().sock_connect(made, (LOOPBACK, self.port))
        except BaseException:
            made.close()
            raise
        return made


_FINAL, _OPCODE = 0x80, 0x0F
_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_TWO_BYTES, _EIGHT_BYTES, _MAX_IN_TWO_BYTES = 126, 127, 0xFFFF
_MASKED, _NO_MASK = 0x80, bytes(4)
_HEAD_END = b"\r\n\r\n"


OnText = Callable[[bytes], None]
"""Takes each message."""

OnEnd = Callable[[Exception | None], None]
"""Called once when the connection ends, with the error; None: it was closed."""


class WebSocket(asyncio.Protocol):
    """One connection. `open` makes it; it ends with the block of `open` or when the browser closes it."""

    def __init__(self, handshake: bytes, *, on_text: OnText, on_end: OnEnd) -> None:
        self._handshake = handshake
        self._on_text = on_text
        self._on_end = on_end
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = loop.create_future()
        """Done once messages may be sent; fails if the browser refuses the WebSocket."""
        self.ended: asyncio.Future[None] = loop.create_future()
        """Done once the connection is over and its socket closed."""
        self._transport: asyncio.Transport | None = None
        self._data = bytearray()
        self._parts: list[bytes] = []

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, endpoint: Endpoint, path: str, *, on_text: OnText, on_end: OnEnd
    ) -> AsyncIterator[Self]:
        """Connect, and close the connection at the end of the block.

        Raises:
            OSError: no server listens on the port, or it refuses the WebSocket.
        """
        key = base64.b64encode(os.urandom(16)).decode()
        greeting = (
            f"GET {path} HTTP/1.1\r\nHost: {LOOPBACK}:{endpoint.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        transport, websocket = await asyncio.get_running_loop().create_connection(
            lambda: cls(greeting.encode(), on_text=on_text, on_end=on_end),
            sock=await endpoint.connect(),
        )
        try:
            await websocket.opened
            yield websocket
        finally:
            transport.abort()
            await websocket.ended

    def send(self, text: bytes) -> None:
        """Send a message; it is dropped after the connection has ended, which `on_end` reports."""
        self._send_frame(_TEXT, text)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the opening handshake."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._handshake)

    def connection_lost(self, error: Exception | None) -> None:
        """Call `on_end`; an unfinished opening handshake fails."""
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("the browser hung up"))
        self.ended.set_result(None)
        self._on_end(error)

    def data_received(self, data: bytes) -> None:
        """Pass complete messages to `on_text`."""
        self._data += data
        if not self.opened.done() and not self._finish_handshake():
            return
        while (frame := self._next_frame()) is not None:
            self._handle_frame(*frame)

    def _finish_handshake(self) -> bool:
        head, end, _ = self._data.partition(_HEAD_END)
        if not end or self._transport is None:
            return False
        status = head.partition(b"\r\n")[0].decode("ascii", "replace")
        del self._data[: len(head) + len(end)]
        if " 101 " not in status:
            self.opened.set_exception(
                ConnectionError(f"the browser answered '{status}'; expected status 101")
            )
            self._transport.abort()
            return False
        self.opened.set_result(None)
        return True

    def _next_frame(self) -> tuple[int, bytes] | None:
        """Remove the first frame from the data and return its first byte and its payload."""
        data = self._data
        start = 2
        if len(data) < start:
            return None
        size = data[1]
        if size >= _TWO_BYTES:
            start += 2 if size == _TWO_BYTES else 8
            size = int.from_bytes(data[2:start])
        end = start + size
        if len(data) < max(start, end):
            return None
        first, body = data[0], bytes(data[start:end])
        del data[:end]
        return first, body

    def _handle_frame(self, first: int, body: bytes) -> None:
        kind = first & _OPCODE
        if kind == _CLOSE and self._transport is not None:
            self._transport.abort()
        elif kind == _PING:
            self._send_frame(_PONG, body)
        elif kind <= _TEXT:
            self._parts.append(body)
            if first & _FINAL:
                text = b"".join(self._parts)
                self._parts.clear()
                self._on_text(text)

    def _send_frame(self, kind: int, body: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        size = len(body)
        if size < _TWO_BYTES:
            length = bytes((_MASKED | size,))
        elif size <= _MAX_IN_TWO_BYTES:
            length = bytes((_MASKED | _TWO_BYTES,)) + size.to_bytes(2)
        else:
            length = bytes((_MASKED | _EIGHT_BYTES,)) + size.to_bytes(8)
        self._transport.write(bytes((_FINAL | kind,)) + length + _NO_MASK + body)
