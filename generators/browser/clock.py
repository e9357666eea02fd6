"""A page's virtual time, advanced in exact portions over DevTools.

Time passes only while `advance` runs and no request is in flight, so a slow machine or a slow
server uses none of it. The event that ends a portion can get lost in known ways (an endless request,
an EventSource). After a deadline the clock sends the same portion again without waiting for the
network; if the page still does not answer, its rollout fails. Only one portion runs at a time.

A page's process delays each frame until its clock has caught up with real time, so with a stopped clock
it would soon draw nothing. The clock is therefore set hours ahead before the page is loaded, when no
timer runs and doing so is free.
"""

import asyncio
import time

from generators.browser.channel import Channel, to_failure
from generators.browser.devtools import PageLost
from generators.browser.protocol import ClockSpec
from schemas.errors import FailureKind, RolloutFailure

EXPIRY_SECONDS = 15.0
"""Real time that a portion may take before it is sent again without waiting for the network."""

NAVIGATION_STEP_MS = 10
"""The portions in which time passes while a new page loads."""

NAVIGATION_GRID_MS = 2_000
"""After a navigation the clock advances to a multiple of this, so that runs agree."""

AHEAD_MS = 4 * 3_600_000
"""Lead of a page process's clock over real time, ms; it is longer than any episode."""

_SAME_CLOCK_MS = 1_000
_PAUSE_FOR_NETWORK = "pauseIfNetworkFetchesPending"


class VirtualClock:
    """The clock of one page, which may share it with the pop-ups that it opens."""

    def __init__(self, spec: ClockSpec) -> None:
        self._spec = spec
        self._channel: Channel | None = None
        self._subscribed: set[Channel] = set()
        self._expired: asyncio.Future[PageLost | None] | None = None
        self._ignores_network = False
        self._stopped_at = 0.0
        self.elapsed_ms = 0
        """Virtual time since the start, ms."""

    def follow(self, channel: Channel) -> None:
        """Advance the clock through this page from now on."""
        self._channel = channel
        if channel not in self._subscribed:
            self._subscribed.add(channel)
            channel.on("Emulation.virtualTimeBudgetExpired", lambda _: self._end_portion(None))
            channel.on_lost(lambda why: self._on_lost(channel, why))

    def _on_lost(self, channel: Channel, why: PageLost) -> None:
        if channel is self._channel:
            self._end_portion(why)

    def _end_portion(self, lost: PageLost | None) -> None:
        if self._expired is not None and not self._expired.done():
            self._expired.set_result(lost)

    @property
    def event_seconds(self) -> float:
        """The timestamp of input events, Unix seconds: never older than the page."""
        return self._stopped_at + (AHEAD_MS + self.elapsed_ms) / 1_000

    async def start(self) -> None:
        """Stop time at the clock's start.

        Raises:
            RolloutFailure: time does not pass (`clock`).
        """
        await self._stop_ahead(self._spec.start_ms)
        self._stopped_at = time.time()

    async def join(self, page_ms: float | None) -> None:
        """Stop time at its current value in a page that was opened later and whose clock shows `page_ms`.

        A page in its opener's process has the opener's time already. None: the page did not answer,
        and is assumed to be in that process.

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
        """Let time pass until the next multiple of the grid."""
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
            raise to_failure(lost)
        return True

    async def _set(self, policy: dict[str, str | float]) -> None:
        if self._channel is None:
            raise AssertionError("the clock follows no page yet")
        await self._channel.send("Emulation.setVirtualTimePolicy", policy)
