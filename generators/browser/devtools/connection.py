"""A client of the DevTools protocol: one WebSocket for each page, beside Playwright.

Playwright starts the browser and manages contexts, windows, dialogs and keys. The dozen commands and two
events of every step go over our own socket instead, because Playwright's work for a call costs more than
all of our Python together. The browser therefore listens on a port of the loopback address besides
Playwright's pipe. No page reaches that port, because every connection of a page ends at the gateway; nor does
another program, where the browser has a network namespace of its own (`enclosure.py`).

When a connection ends or its page crashes, every pending and every later command fails at once, with the
reason.
"""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic_core import from_json, to_json

from generators.browser.devtools.patience import Patience
from generators.browser.devtools.websocket import LOOPBACK, Endpoint, WebSocket

LISTEN_FLAGS = ("--remote-debugging-port=0", f"--remote-debugging-address={LOOPBACK}")
"""Flags that make the browser listen on a free port."""

PORT_FILE = "DevToolsActivePort"
"""The file in the browser's profile that holds the port and, on the next line, a path, once it listens."""

POLL_SECONDS = 0.02
"""Pause between two looks for that file while a browser starts, and the shortest alarm, seconds."""

ANSWER_SECONDS = 3.0
"""Time limit of a browser's answer to a check, seconds."""

Handler = Callable[[dict[str, Any]], None]
"""Takes an event's parameters."""


class DevToolsError(Exception):
    """A command returned no result."""


class CommandRefused(DevToolsError):
    """The browser answered with an error; the message is the browser's."""


class PageLost(DevToolsError):
    """The page was closed, or its browser is gone."""


class PageClosed(PageLost):
    """The page closed itself."""


class PageCrashed(PageLost):
    """The page's process crashed."""


class TooMuchMemory(PageCrashed):
    """The page's process was ended because it had too much memory."""


async def read_address(profile: Path) -> tuple[int, str]:
    """Wait until the browser with this profile listens, and return its port and the path of its own connections."""
    while True:
        with contextlib.suppress(FileNotFoundError):
            port, _, path = (profile / PORT_FILE).read_text("ascii").partition("\n")
            if path:
                return int(port), path.strip()
        await asyncio.sleep(POLL_SECONDS)


async def answers(endpoint: Endpoint) -> bool:
    """Return whether the browser at this endpoint still answers."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection(sock=await endpoint.connect())
            with contextlib.closing(writer):
                writer.write(f"GET /json/version HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n".encode())
                return bool(await reader.read(1))
    except (OSError, TimeoutError):
        return False


class Connection:
    """Commands to one page, or to the browser, and events from it. Made by `open_page` and `open_browser`."""

    def __init__(self, endpoint: Endpoint, patience: Patience) -> None:
        self._patience = patience
        self.endpoint = endpoint
        """The address at which the page's browser listens."""
        self._handlers: defaultdict[str, list[Handler]] = defaultdict(list)
        self._waiting: dict[int, _Waiting] = {}
        self._last_id = 0
        self._lost: PageLost | None = None
        self._lost_handlers: list[Callable[[PageLost], None]] = []
        self._socket: WebSocket | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self.on("Inspector.targetCrashed", lambda _: self._on_crash())
        self.on(
            "Inspector.detached",
            lambda event: self._fail_all(PageClosed(f"the page went: {event['reason']}")),
        )

    @classmethod
    def open_page(
        cls, endpoint: Endpoint, target: str, patience: Patience
    ) -> contextlib.AbstractAsyncContextManager[Self]:
        """Connect to the page with this target id, in the browser that listens there.

        `patience` holds the limits of its commands.

        Raises:
            OSError: the browser refuses the connection.
        """
        return cls._open(endpoint, f"/devtools/page/{target}", patience)

    @classmethod
    def open_browser(
        cls, endpoint: Endpoint, patience: Patience
    ) -> contextlib.AbstractAsyncContextManager[Self]:
        """Connect to the browser that listens there; for the rest, as `open_page`.

        Raises:
            OSError: the browser refuses the connection.
        """
        return cls._open(endpoint, endpoint.browser_path, patience)

    @classmethod
    @contextlib.asynccontextmanager
    async def _open(cls, endpoint: Endpoint, path: str, patience: Patience) -> AsyncIterator[Self]:
        connection = cls(endpoint, patience)
        async with WebSocket.open(
            endpoint,
            path,
            on_text=connection._on_text,
            on_end=connection._on_end,
        ) as connection._socket:
            try:
                yield connection
            finally:
                if connection._alarm is not None:
                    connection._alarm.cancel()

    @property
    def lost(self) -> PageLost | None:
        """Why the page is gone; None while it is there."""
        return self._lost

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each `event`, in the order of arrival."""
        self._handlers[event].append(handler)

    def on_lost(self, handler: Callable[[PageLost], None]) -> None:
        """Call `handler` with the reason as soon as the page is gone."""
        self._lost_handlers.append(handler)

    async def send(
        self, method: str, parameters: dict[str, Any] | None = None, *, seconds: float
    ) -> dict[str, Any]:
        """Send a command and return its result.

        Raises:
            CommandRefused: the browser answers with an error.
            PageLost: the page is gone.
            TimeoutError: no result came within `seconds`.
        """
        return (await self.burst(method, (parameters or {},), seconds=seconds))[0]

    async def burst(
        self, method: str, parameters: Sequence[dict[str, Any]], *, seconds: float
    ) -> list[dict[str, Any]]:
        """Send a command several times in order, and wait for the results after the last one.

        Raises:
            CommandRefused: the browser answers one with an error; the others were sent all the same.
            PageLost: the page is gone.
            TimeoutError: not all results came within `seconds`.
        """
        if self._lost is not None:
            raise type(self._lost)(*self._lost.args)
        if self._socket is None:
            raise PageLost("there is no connection to the page yet")
        loop = asyncio.get_running_loop()
        due = self._patience.time() + seconds
        sent: dict[int, _Waiting] = {}
        for each in parameters:
            self._last_id += 1
            sent[self._last_id] = _Waiting(loop.create_future(), due)
            self._socket.send(to_json({"id": self._last_id, "method": method, "params": each}))
        self._waiting |= sent
        self._set_alarm(due)
        try:
            return [await waiting.result() for waiting in sent.values()]
        finally:
            for number in sent:
                self._waiting.pop(number, None)

    def _on_text(self, text: bytes) -> None:
        message: dict[str, Any] = read_json(text)
        if "id" in message:
            if waiting := self._waiting.pop(message["id"], None):
                waiting.set_answer(message)
            return
        if "sessionId" in message:  # a worker's
            return
        for handler in self._handlers.get(message["method"], ()):
            handler(message["params"])

    def _on_crash(self) -> None:
        too_much = self.endpoint.has_just_ended_one()
        self._fail_all(
            TooMuchMemory("too much memory") if too_much else PageCrashed("the page crashed")
        )

    def _on_end(self, error: Exception | None) -> None:
        cause = "was closed" if error is None else f"broke: {type(error).__name__}: {error}"
        self._fail_all(PageLost(f"the connection to the page {cause}"))

    def _fail_all(self, why: PageLost) -> None:
        """Fail every pending and every later command; only the first call's reason counts."""
        if self._lost is not None:
            return
        self._lost = why
        for waiting in self._waiting.values():
            waiting.set_answer(why)
        for handler in self._lost_handlers:
            handler(why)

    def _set_alarm(self, due: float) -> None:
        """Check deadlines at `due` at the latest: all commands share one timer."""
        loop = asyncio.get_running_loop()
        at = loop.time() + max(due - self._patience.time(), POLL_SECONDS)
        if self._alarm is None or at < self._alarm.when():
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = loop.call_at(at, self._check_deadlines)

    def _check_deadlines(self) -> None:
        """Fail the overdue commands, and set the timer for the next deadline."""
        self._alarm = None
        now = self._patience.time()
        for waiting in self._waiting.values():
            if waiting.due <= now:
                waiting.set_answer(TimeoutError())
        rest = [waiting.due for waiting in self._waiting.values() if waiting.due > now]
        if rest:
            self._set_alarm(min(rest))


def read_json(text: bytes | str) -> Any:
    """Return the value of a JSON text, by the fast parser if possible.

    Raises:
        ValueError: the text is not JSON.
    """
    try:
        return from_json(text)
    except (TypeError, ValueError):
        # The fast parser refuses half a surrogate pair, in a text and as an escape, and deep nesting.
        return json.loads(text)


@dataclass(slots=True, frozen=True)
class _Waiting:
    """A pending command. A failure is set as a value, so that asyncio never reports it as unretrieved."""

    answer: asyncio.Future[dict[str, Any] | Exception]
    due: float

    def set_answer(self, answer: dict[str, Any] | Exception) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)

    async def result(self) -> dict[str, Any]:
        answer = await self.answer
        if isinstance(answer, Exception):
            raise answer
        if "error" in answer:
            raise CommandRefused(answer["error"]["message"])
        result: dict[str, Any] = answer["result"]
        return result
