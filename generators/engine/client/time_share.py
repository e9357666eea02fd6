"""How an engine's time is shared among the replies that it works on at once.

An engine that is paid by the hour works on many replies together. Each second in which it is asked
is divided equally among the replies that are awaited then, so that the shares of all replies add
up to the seconds in which it was busy, however many there were at a time.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(slots=True)
class ReplyShare:
    """One reply's part of an engine's time."""

    seconds: float = 0.0
    """Known once the reply is there."""


class TimeShare:
    """Divides an engine's time among the replies that are awaited at the same moment."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._awaited = 0
        self._seconds_each = 0.0
        self._updated_at = clock()

    @contextlib.contextmanager
    def measure_reply(self) -> Iterator[ReplyShare]:
        """Count the block as one reply that is awaited; its share is known at the end."""
        share = ReplyShare()
        self._settle()
        self._awaited += 1
        begun = self._seconds_each
        try:
            yield share
        finally:
            self._settle()
            self._awaited -= 1
            share.seconds = self._seconds_each - begun

    def _settle(self) -> None:
        """Add the time that has passed to the share of each awaited reply."""
        now = self._clock()
        if self._awaited:
            self._seconds_each += (now - self._updated_at) / self._awaited
        self._updated_at = now
