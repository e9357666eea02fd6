"""A page's virtual time, advanced in exact portions over DevTools.

Time passes only while `advance` runs and no request is in flight, so a slow machine or a slow
server costs none of it. The event that ends a portion can be lost in known ways (an endless
request, an EventSource); after a deadline the same portion is sent again without waiting for the
network, and a page that still does not answer has lost its clock. One portion at a time.

A page's process waits with each frame until its clock has caught up with real time, so a clock
that stands still would soon let it draw nothing. The process is therefore put hours ahead before
the page is there, when no timer runs and that costs nothing.
"""

import asyncio
import time

from generators.browser.channel import Channel
from generators.browser.protocol import ClockSpec
from schemas.errors import FailureKind, RolloutFailure

EXPIRY_SECONDS = 15.0
"""How long a portion may take in real time before the clock stops waiting for the network."""

NAVIGATION_STEP_MS = 10
"""Portion by which time passes while a new page is on its way."""

NAVIGATION_GRID_MS = 2_000
"""After a navigation the clock is brought to a multiple of this, so that runs agree."""

AHEAD_MS = 4 * 3_600_000
"""How far a page's process is put ahead of real time; no episode lasts as long."""

_SAME_CLOCK_MS = 1_000
_PAUSE_FOR_NETWORK = "pauseIfNetworkFetchesPending"


class VirtualClock:
    """The clock of one page; it may be shared with the popups it opens."""

    def __init__(self, spec: ClockSpec) -> None:
        self._spec = spec
        self._channel: Channel | None = None
        self._subscribed: set[Channel] = set()
        self._expired: asyncio.Future[str | None] | None = None
        self._ignores_network = False
        self._stopped_at = 0.0
        self.elapsed_ms = 0
        """Virtual milliseconds since the start."""

    def follow(self, channel: Channel) -> None:
        """Move the clock through this page from now on."""
        self._channel = channel
        if channel not in self._subscribed:
            self._subscribed.add(channel)
            channel.on("Emulation.virtualTimeBudgetExpired", lambda _: self._end_portion(None))
            channel.on_lost(lambda why: self._on_lost(channel, why))

    def _on_lost(self, channel: Channel, why: str) -> None:
        if channel is self._channel:
            self._end_portion(why)

    def _end_portion(self, lost: str | None) -> None:
        if self._expired is not None and not self._expired.done():
            self._expired.set_result(lost)

    @property
    def event_seconds(self) -> float:
        """What input events say the time is, Unix seconds, so that none is older than its page."""
        return self._stopped_at + (AHEAD_MS + self.elapsed_ms) / 1_000

    async def start(self) -> None:
        """Stop time at the clock's start.

        Raises:
            RolloutFailure: time does not pass (`clock`).
        """
        await self._stop_ahead(self._spec.start_ms)
        self._stopped_at = time.time()

    async def join(self, page_ms: float | None) -> None:
        """Stop time where it stands, in a page that came later and whose clock shows `page_ms`.

        A page in its opener's process has the opener's time already; None: it could not be asked,
        and is taken for one of these.

        Raises:
            RolloutFailure: time does not pass (`clock`).
        """
        now = self._spec.start_ms + self.elapsed_ms
        if page_ms is None or abs(page_ms - now) < _SAME_CLOCK_MS:
            await self._stop_at(now)
        else:
            await self._stop_ahead(now)

    async def _stop_ahead(self, ms: int) -> None:
        await self._stop_at(ms - AHEAD_MS)
        await self._pass(AHEAD_MS, ("advance",))

    async def _stop_at(self, ms: int) -> None:
        await self._set({"policy": "pause", "initialVirtualTime": ms / 1_000})

    async def advance(self, ms: int) -> None:
        """Let `ms` milliseconds pass.

        Raises:
            RolloutFailure: the page's time does not pass (`clock`).
        """
        await self._pass(
            ms, ("advance",) if self._ignores_network else (_PAUSE_FOR_NETWORK, "advance")
        )
        self.elapsed_ms += ms

    async def _pass(self, ms: int, policies: tuple[str, ...]) -> None:
        for policy in policies:
            if await self._portion(ms, policy):
                return
            self._ignores_network = True
        raise RolloutFailure(FailureKind.CLOCK, f"{ms} ms of virtual time did not pass")

    async def settle_to_grid(self) -> None:
        """Let time pass up to the next multiple of the grid."""
        rest = -self.elapsed_ms % NAVIGATION_GRID_MS
        if rest:
            await self.advance(rest)

    async def _portion(self, ms: int, policy: str) -> bool:
        self._expired = asyncio.get_running_loop().create_future()
        try:
            await self._set({"policy": policy, "budget": ms})
            async with asyncio.timeout(EXPIRY_SECONDS):
                lost = await self._expired
        except TimeoutError:
            return False
        finally:
            self._expired = None
        if lost is not None:
            raise RolloutFailure(FailureKind.BROWSER, lost)
        return True

    async def _set(self, policy: dict[str, str | float]) -> None:
        if self._channel is None:
            raise AssertionError("a clock moves through a page")
        await self._channel.send("Emulation.setVirtualTimePolicy", policy)
