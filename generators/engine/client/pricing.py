"""The cost of a reply: by its tokens, or by its share of an engine that is paid by the hour.

An engine that is paid by the hour works on many replies together. Each second in which it has requests is
divided equally among the replies awaited then, so that the shares of all replies add up to the seconds in
which it was busy. A server that the run started itself is paid for from its start to its end, whether or not it has
requests: `Meter` counts what a command spends so, while it goes on.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from generators.engine.protocol import Reply
from schemas.configuration.sections import EngineSection, PriceSection

LOG = logging.getLogger(__name__)

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
        self._busy_seconds = 0.0
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

    @property
    def busy_seconds(self) -> float:
        """The seconds in which at least one reply was awaited, until now."""
        self._advance()
        return self._busy_seconds

    def _advance(self) -> None:
        """Add the time that has passed to the share of each awaited reply."""
        now = self._clock()
        if self._awaited:
            self._seconds_each += (now - self._updated_at) / self._awaited
            self._busy_seconds += now - self._updated_at
        self._updated_at = now


class Meter:
    """What a command spends on its engines, while it goes on."""

    def __init__(
        self, pricing: EngineSection | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """`pricing` has the prices; None: nothing has a price."""
        self._pricing = pricing or EngineSection()
        self._clock = clock
        self._tokens_usd = 0.0
        self._own_began: float | None = None
        self._own_seconds: float | None = None
        self._is_warned = False
        self.time = TimeShare(clock)
        """The engines' time, shared among all replies."""
        self.own_gpus = 0
        """GPUs of the servers that the command started itself."""
        self.other_gpus = 0
        """GPUs of all other endpoints."""

    @contextlib.contextmanager
    def run_servers(self, gpus: int) -> Iterator[None]:
        """Count the block as the time of the command's own servers, which have so many GPUs."""
        self.own_gpus = gpus
        self._own_began = self._clock()
        try:
            yield
        finally:
            self._own_seconds, self._own_began = self.server_seconds, None

    @property
    def server_seconds(self) -> float | None:
        """Seconds of the command's own servers, from their start until now or their end; None: it started none."""
        if self._own_began is None:
            return self._own_seconds
        return self._clock() - self._own_began

    @property
    def dollars(self) -> float | None:
        """The dollars spent until now; None where nothing has a price.

        With an hourly price these are the hours of the command's own servers, and of other endpoints the time in
        which replies were awaited. With a price by tokens they are those of the calls.
        """
        if self._pricing.usd_per_million is not None:
            return self._tokens_usd
        if self._pricing.usd_per_hour is None:
            return None
        seconds = self.own_gpus * (self.server_seconds or 0.0)
        seconds += self.other_gpus * self.time.busy_seconds
        return usd_of_seconds(seconds, self._pricing.usd_per_hour)

    def charge(self, pricing: EngineSection, reply: Reply, share: ReplyShare) -> float | None:
        """Count a call at its role's prices and return its dollars; None without a price, or where its tokens are unknown.

        With an hourly price a call costs its share of all GPUs.
        """
        if pricing.usd_per_million is not None:
            cost = usd_of_reply(reply, pricing.usd_per_million)
            self._tokens_usd += cost or 0.0
            if cost is None and not self._is_warned:
                self._is_warned = True
                LOG.warning("%s does not count tokens: its calls have no price", reply.endpoint)
            return cost
        if pricing.usd_per_hour is not None:
            gpus = max(1, self.own_gpus + self.other_gpus)
            return usd_of_seconds(share.seconds * gpus, pricing.usd_per_hour)
        return None
