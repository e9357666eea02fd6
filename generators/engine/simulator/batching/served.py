"""The batching clock in real time, as fast as it is told: what the simulator's requests wait for."""

import asyncio
import contextlib
from collections.abc import Awaitable, Sequence
from itertools import groupby
from typing import Self

from generators.engine.simulator.batching.presets import ServerPreset
from generators.engine.simulator.batching.requests import BatchedRequest, Sight, names_of_tokens
from generators.engine.simulator.batching.scheduler import Batcher

LOOK_SECONDS = 0.25
"""The longest time of the clock that passes before it looks for new requests."""


class ServedClock:
    """A server's batching clock; a context that runs it."""

    def __init__(
        self, preset: ServerPreset, *, speed: float = 1.0, by_priority: bool = False
    ) -> None:
        """`speed` is how many of the clock's seconds pass in a real one."""
        self.batcher = Batcher(preset, by_priority=by_priority)
        """The scheduler; its times are the clock's."""
        self._speed = speed
        self._now = 0.0
        self._arrived = asyncio.Event()
        self._waiting: dict[BatchedRequest, tuple[asyncio.Future[None], asyncio.Future[None]]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Let time pass."""
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let it stand."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def real_seconds(self, seconds: float) -> float:
        """Return a time of the clock as real seconds."""
        return seconds / self._speed

    def add(self, keys: Sequence[int], reply: Sequence[int], *, priority: int = 0) -> "Ticket":
        """Let a request wait for its turn, of which both prompt and reply are given as tokens.

        A negative key of a prompt is a token of a picture, equal for equal pictures.
        """
        request = _to_request(keys, reply, self.batcher.preset.block_tokens, self._now)
        request.priority = priority
        loop = asyncio.get_running_loop()
        futures = loop.create_future(), loop.create_future()
        self._waiting[request] = futures
        self.batcher.add(request)
        self._arrived.set()
        return Ticket(self, request, *futures)

    def drop(self, request: BatchedRequest) -> None:
        """Forget a request whose caller is gone."""
        if self._waiting.pop(request, None) is not None:
            self.batcher.remove(request)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            seconds, done = self.batcher.step(self._now, self._now + LOOK_SECONDS)
            if seconds == 0.0:  # nobody asks, or it stands still
                self._arrived.clear()
                await self._arrived.wait()
                due = max(due, loop.time())
                continue
            self._now += seconds
            due = max(due, loop.time() - LOOK_SECONDS) + self.real_seconds(seconds)
            await asyncio.sleep(max(0.0, due - loop.time()))
            for request in done:
                _, end = self._waiting.pop(request, (None, None))
                if end is not None and not end.done():
                    end.set_result(None)
            for request, (first, _) in self._waiting.items():
                if request.first_token is not None and not first.done():
                    first.set_result(None)


class Ticket:
    """A request on the clock."""

    def __init__(
        self,
        clock: ServedClock,
        request: BatchedRequest,
        first: asyncio.Future[None],
        end: asyncio.Future[None],
    ) -> None:
        self._clock, self.request, self._first, self._end = clock, request, first, end

    async def wait_for_first(self) -> None:
        """Wait for the first token."""
        await self._wait(
            asyncio.wait({self._first, self._end}, return_when=asyncio.FIRST_COMPLETED)
        )

    async def wait_for_end(self) -> None:
        """Wait for the last token."""
        await self._wait(asyncio.wait({self._end}))

    async def _wait(self, waiting: Awaitable[object]) -> None:
        try:
            await waiting
        except asyncio.CancelledError:
            self._clock.drop(self.request)
            raise

    @property
    def queued_seconds(self) -> float:
        """Real seconds that it waited until it was worked on."""
        admitted = self.request.admitted
        return (
            0.0 if admitted is None else self._clock.real_seconds(admitted - self.request.arrived)
        )


def _to_request(
    keys: Sequence[int], reply: Sequence[int], block: int, now: float
) -> BatchedRequest:
    sights: list[Sight] = []
    at = 0
    for key, run in groupby(keys):
        tokens = sum(1 for _ in run)
        if key < 0:
            sights.append(Sight(at, tokens, key))
        at += tokens
    names = names_of_tokens((*keys, *reply), block)
    return BatchedRequest(len(keys), max(1, len(reply)), names, sights, now)
