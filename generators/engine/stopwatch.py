"""Counts the seconds of an episode, without those spent waiting for an engine or for a turn.

An episode has a limit of wall seconds. It is not the policy's fault if its engine has other work, dies or
never answers, or if its page waits for a turn. So every such wait pauses the stopwatch, and the limit moves
with it. The time that an engine took to write a reply is the policy's; it is charged once it is known.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta

LEAST_WAIT_SECONDS = 0.05
"""How often a limit is looked at while the stopwatch is paused just before it."""


class Stopwatch:
    """Counts seconds from its creation; `paused` stops it."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        """When it was made."""
        self._begun = time.perf_counter()
        self._held_seconds = 0.0
        self._held_since: float | None = None
        self._holders = 0
        self._checks = set[Callable[[], None]]()
        """What looks whether a limit is reached, of each block that has one."""

    @property
    def seconds(self) -> float:
        """Seconds that count so far."""
        now = time.perf_counter() if self._held_since is None else self._held_since
        return now - self._begun - self._held_seconds

    @property
    def wall_seconds(self) -> float:
        """Seconds since it was made, those that do not count included."""
        return time.perf_counter() - self._begun

    @property
    def now(self) -> datetime:
        """The time in UTC; it never goes back, whatever happens to the machine's clock."""
        return self.started + timedelta(seconds=self.wall_seconds)

    @contextlib.contextmanager
    def pause(self) -> Iterator[None]:
        """Stop counting while the block runs; blocks may overlap."""
        self._holders += 1
        if self._held_since is None:
            self._held_since = time.perf_counter()
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._held_seconds += time.perf_counter() - self._held_since
                self._held_since = None

    def charge(self, seconds: float) -> None:
        """Count seconds that elapsed during a pause; watchers of a limit check it at once."""
        self._held_seconds -= seconds
        for check in tuple(self._checks):
            check()

    @contextlib.asynccontextmanager
    async def limit(self, seconds: float) -> AsyncIterator[None]:
        """Run the block until `seconds` that count have gone by since the start.

        Raises:
            TimeoutError: they have.
        """
        loop = asyncio.get_running_loop()
        timers = list[asyncio.TimerHandle]()

        def check() -> None:
            """End the block, or look again when its time is over at the earliest."""
            for timer in timers:
                timer.cancel()
            left = seconds - self.seconds
            if left > 0 or self._holders:
                timers[:] = [loop.call_later(max(left, LEAST_WAIT_SECONDS), check)]
            elif not deadline.expired():
                deadline.reschedule(loop.time())

        async with asyncio.timeout(None) as deadline:
            timers.append(loop.call_later(max(0.0, seconds - self.seconds), check))
            self._checks.add(check)
            try:
                yield
            finally:
                self._checks.remove(check)
                timers[0].cancel()
