"""The step door of `stepmill serve`, for programs that call and wait.

A `Seat` is one connection: `reset` takes a task, `step` acts, `close` gives the seat back. All speak JSON, as the page
`docs/training.md` of Stepmill tells it. `SeatLike` is what of it the environments here need, so that seats in the same
process can take its place.
"""

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection as AsyncConnection
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

TOKEN = "STEPMILL_TOKEN"  # noqa: S105 - the name of a variable
"""The environment variable with the token, where none is given."""

URL = "STEPMILL_URL"
"""The environment variable with the address of the server, where none is given."""

USUAL_URL = "http://127.0.0.1:8321"
"""Where a server is that was started as it ships."""

MAX_ANSWER = 64 * 2**20
"""The maximum size of an answer, bytes."""

Json = dict[str, Any]
"""A table of JSON."""


class Refused(RuntimeError):
    """The server refuses a message; the text says why, and `code` is OpenEnv's."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(str(data.get("message", data)))
        self.code = str(data.get("code", ""))
        """As `VALIDATION_ERROR`."""
        self.retry_after: float | None = data.get("retry_after")
        """When to come again, in seconds, where there is no seat now; None otherwise."""


class SeatLike(Protocol):
    """A seat: it takes tasks and acts."""

    def reset(self, **asked: object) -> Json:
        """Take a task; return observation, reward, done and metadata."""

    def step(self, message: Json) -> Json:
        """Act; return the same."""

    def close(self) -> None:
        """Give the seat back."""


def token_of(token: str | None) -> str:
    """Return a token, or that of the environment.

    Raises:
        ValueError: there is none.
    """
    found = token or os.environ.get(TOKEN)
    if not found:
        raise ValueError(
            f"no token: `stepmill serve` prints one when it starts; give it as `token` or set {TOKEN}"
        )
    return found


def headers_of(token: str | None) -> dict[str, str]:
    """Return the headers that a client sends."""
    return {"Authorization": f"Bearer {token_of(token)}"}


def url_of(url: str | None) -> str:
    """Return an address, that of the environment, or the usual one."""
    return url or os.environ.get(URL) or USUAL_URL


def socket_url(url: str) -> str:
    """Return the address of the WebSocket of a server.

    Raises:
        ValueError: the address is none.
    """
    parts = urlsplit(url)
    schemes = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
    if parts.scheme not in schemes or not parts.netloc:
        raise ValueError(f"expected an address as http://127.0.0.1:8321, got '{url}'")
    return (
        f"{schemes[parts.scheme]}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/ws')}/ws"
    )


def _message(kind: str, data: Mapping[str, object]) -> str:
    return json.dumps({"type": kind, "data": data})


def _told(answer: str | bytes) -> Json:
    """Return what an answer tells.

    Raises:
        Refused: it refuses.
    """
    read: Json = json.loads(answer)
    told: Json = read.get("data", {})
    if read.get("type") == "error":
        raise Refused(told)
    return told


class Seat:
    """A seat at a server, which is connected to with the first reset."""

    def __init__(
        self, url: str | None = None, *, token: str | None = None, seconds: float = 120.0
    ) -> None:
        """`url` and `token` are those of the environment (`STEPMILL_URL`, `STEPMILL_TOKEN`) where they are None.

        `seconds` is how long an answer may take; a reset waits for a free seat and for the page.
        """
        self._url, self._headers, self._seconds = (
            socket_url(url_of(url)),
            headers_of(token),
            seconds,
        )
        self._socket: ClientConnection | None = None

    def reset(self, **asked: object) -> Json:
        """Take a task: `name`, `split`, `seed`, `kind`, `index`, and how it is told, as `elements`.

        Raises:
            Refused: there is no such task, or no seat now.
            OSError: the server cannot be reached, or its answer does not come.
        """
        return self._ask("reset", asked)

    def step(self, message: Json) -> Json:
        """Act.

        Raises:
            Refused: the action cannot be read, or is not the next one; nothing was done.
            OSError: the connection broke.
        """
        return self._ask("step", message)

    def state(self) -> Json:
        """Return the episode's id and how many actions it has."""
        return self._ask("state", {})

    def close(self) -> None:
        """Give the seat back."""
        socket, self._socket = self._socket, None
        if socket is not None:
            with contextlib.suppress(WebSocketException):  # it is closed already
                socket.send(json.dumps({"type": "close"}))
            socket.close()

    def _ask(self, kind: str, data: Mapping[str, object]) -> Json:
        try:
            if self._socket is None:
                self._socket = connect(
                    self._url, additional_headers=self._headers, max_size=MAX_ANSWER, proxy=None
                )
            self._socket.send(_message(kind, data))
            answer = self._socket.recv(self._seconds)
        except (WebSocketException, TimeoutError) as error:
            self.close()
            raise ConnectionError(f"{self._url}: {error}") from error
        return _told(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncSeat:
    """The same for programs with an event loop; see `Seat`."""

    def __init__(
        self, url: str | None = None, *, token: str | None = None, seconds: float = 120.0
    ) -> None:
        """What is given is what a `Seat` is given."""
        self._url, self._headers, self._seconds = (
            socket_url(url_of(url)),
            headers_of(token),
            seconds,
        )
        self._socket: AsyncConnection | None = None

    async def reset(self, **asked: object) -> Json:
        """Take a task."""
        return await self._ask("reset", asked)

    async def step(self, message: Json) -> Json:
        """Act."""
        return await self._ask("step", message)

    async def close(self) -> None:
        """Give the seat back."""
        socket, self._socket = self._socket, None
        if socket is not None:
            with contextlib.suppress(WebSocketException):
                await socket.send(json.dumps({"type": "close"}))
            await socket.close()

    async def _ask(self, kind: str, data: Mapping[str, object]) -> Json:
        try:
            async with asyncio.timeout(self._seconds):
                if self._socket is None:
                    self._socket = await connect_async(
                        self._url, additional_headers=self._headers, max_size=MAX_ANSWER, proxy=None
                    )
                await self._socket.send(_message(kind, data))
                answer = await self._socket.recv()
        except (WebSocketException, TimeoutError) as error:
            await self.close()
            raise ConnectionError(f"{self._url}: {error}") from error
        return _told(answer)
