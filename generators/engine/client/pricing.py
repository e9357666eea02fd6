"""The cost of a reply: by its tokens, or by its share of an engine that is paid by the hour.

An engine that is paid by the hour works on many replies together. Each second in which it has requests is
divided equally among the replies awaited then, so that the shares of all replies add up to the seconds in
which it was busy.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from generators.engine.protocol import Reply
from schemas.configuration.sections import PriceSection

_MILLION = 1_000_000
_SECONDS_PER_HOUR = 3_600


def usd_of_reply(reply: Reply, prices: PriceSection) -> float | None:
    """Return the dollars that a reply cost; None where its tokens are unknown.

    Tokens that a cache served have a price of their own if there is one and the server says how
    many they were. Tokens of replies that did not arrive are not charged for.
    """
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        return None
    cached = min(reply.cached_tokens or 0, reply.prompt_tokens)
    cached_price = prices.prompt if prices.cached is None else prices.cached
    dollars = (
        (reply.prompt_tokens - cached) * prices.prompt
        + cached * cached_price
        + reply.completion_tokens * prices.completion
    )
    return dollars / _MILLION


def usd_of_seconds(seconds: float, usd_per_hour: float) -> float:
    """Return the dollars of an engine that ran for so long."""
    return seconds * usd_per_hour / _SECONDS_PER_HOUR


@dataclass(slots=True)
class ReplyShare:
    """One reply's part of an engine's time."""

    seconds: float = 0.0
    """0 until the reply has arrived."""


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
        self._advance()
        self._awaited += 1
        begun = self._seconds_each
        try:
            yield share
        finally:
            self._advance()
            self._awaited -= 1
            share.seconds = self._seconds_each - begun

    def _advance(self) -> None:
        """Add the time that has passed to the share of each awaited reply."""
        now = self._clock()
        if self._awaited:
            self._seconds_each += (now - self._updated_at) / self._awaited
        self._updated_at = now
