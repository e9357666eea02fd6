"""The one retry policy: the wait before the next try, and when to give up.

A pause doubles with each failure up to a limit, and a part of it is random, so that callers that failed
together do not all retry together. This module does not wait: the caller sleeps, in a thread or in an
event loop.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random, SystemRandom

_SYSTEM = SystemRandom()
_MAX_DOUBLINGS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential back-off."""

    first_seconds: float
    """The longest pause after the first failure; it doubles with each further one."""
    max_seconds: float
    """The longest pause after any failure."""
    tries: int | None = None
    """The number of tries in all, the first one included; None: no limit."""
    jitter: float = 0.0
    """The random part of a pause, from 0 (none of it) to 1 (all of it)."""

    def pause(self, failures: int, random: Random | None = None) -> float | None:
        """Return the seconds to wait after `failures` in a row (1 or more); None: give up."""
        if self.tries is not None and failures >= self.tries:
            return None
        doublings = min(failures - 1, _MAX_DOUBLINGS)
        longest = min(self.max_seconds, self.first_seconds * 2.0**doublings)
        return longest * (1.0 - self.jitter * (random or _SYSTEM).random())

    def pauses(self, random: Random | None = None) -> Iterator[float | None]:
        """Yield the seconds to wait after each failed try, and None after the last one."""
        for failures in count(1):
            pause = self.pause(failures, random)
            yield pause
            if pause is None:
                return
