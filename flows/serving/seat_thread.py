"""Seats for programs without an event loop: they are open in a thread of their own, which runs what it is handed.

A `SeatThread` is the door of code that calls and waits, as Gymnasium's. Any number of environments and of calling
threads share one. Where it is not closed, as after a `kill -9`, the next one commits what it kept.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from flows.job.config_loader import Sources, load
from flows.serving.conversation import Conversation
from flows.serving.opening import open_seats
from flows.serving.seating import Lease, NoSeat, Seats
from generators.seats.seat import SeatView
from schemas.base import JsonObject
from schemas.configuration.config import RunConfig

T = TypeVar("T")

ConfigLike = RunConfig | str | Path
"""A configuration, the path of its TOML file, or the name of one that ships."""


def config_of(given: ConfigLike) -> RunConfig:
    """Return a configuration; that of a file with what the environment sets over it.

    Raises:
        BadConfig: the file cannot be read, or a value cannot be honoured.
    """
    return given if isinstance(given, RunConfig) else load(Sources(config=str(given)), os.environ)


class SeatThread:
    """The open seats of a configuration, in a thread."""

    def __init__(self, config: ConfigLike) -> None:
        """Open the seats; this returns once they are open.

        Raises:
            StepmillError: what `open_seats` raises.
        """
        self.config = config_of(config)
        """The configuration of the run."""
        self._loop = asyncio.new_event_loop()
        self._ready, self._asked_to_end = threading.Event(), asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._live, name="stepmill-seats", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._serving is not None and self._serving.done():
            self.close()

    seats: Seats
    """The seats; to be used in the thread's event loop alone, by way of `run`."""

    def _live(self) -> None:
        with contextlib.closing(self._loop):
            self._serving = self._loop.create_task(self._serve())
            self._serving.add_done_callback(lambda _: self._ready.set())
            self._loop.run_until_complete(asyncio.wait([self._serving]))

    async def _serve(self) -> None:
        async with open_seats(self.config) as self.seats:
            self._ready.set()
            await self._asked_to_end.wait()

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run a coroutine in the thread's event loop, and return what it returns.

        Raises:
            NoSeat: the seats are closed.
        """
        if not self._thread.is_alive():
            work.close()
            raise NoSeat("the seats are closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def sit(self, client: str = "in-process") -> "ThreadSeat":
        """Return a seat that speaks as the step door does, for clients that were written for it."""
        return ThreadSeat(self, Conversation(self.seats, client))

    def close(self) -> None:
        """End what is played, commit every episode, and close the browsers; once is enough.

        Raises:
            StepmillError: the seats ended by an error.
        """
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._asked_to_end.set)
        self._thread.join()
        served, self._serving = self._serving, None
        if served is not None:
            served.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class ThreadSeat:
    """A seat in this process that answers as the step door does; its first reset takes it."""

    def __init__(self, thread: SeatThread, conversation: Conversation) -> None:
        self._thread, self._conversation = thread, conversation

    def reset(self, **asked: object) -> JsonObject:
        """Take a task; `asked` are the data of a reset at the step door.

        Raises:
            ValueError: a word of `asked` is unknown.
            BadTasks, Busy, NoSeat: as `Seats.take`.
        """
        return self._thread.run(self._result(self._conversation.reset(asked)))

    def step(self, message: JsonObject) -> JsonObject:
        """Act.

        Raises:
            BadMessage: the action cannot be read, or there is no task yet.
            StepRefused: it is not the next action.
        """
        return self._thread.run(self._result(self._conversation.step(message)))

    def close(self) -> None:
        """Give the seat back."""
        self._thread.run(self._conversation.free("the client closed its seat"))

    async def _result(self, view: Coroutine[object, object, tuple[Lease, SeatView]]) -> JsonObject:
        return self._conversation.result_of(*await view)
