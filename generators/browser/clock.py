"""A page's virtual time, advanced in exact portions over DevTools.

Time passes only while `advance` runs and no request is in flight, so a slow machine or a slow
server uses none of it. The browser itself waits for requests, but also for streams, which never end
(`open_requests.py`). While a stream is open, time passes in small portions that wait for nothing, and
between two of them the clock waits until all other requests have ended. If a portion does not end, its
rollout fails. Only one portion runs at a time.

A page's process delays each frame until its clock has caught up with real time, so with a stopped clock
it would soon draw nothing. The clock is therefore set hours ahead before the page is loaded, when no
timer runs and doing so is free.
"""

import asyncio
import contextlib
import time

from generators.browser.devtools.connection import PageLost
from generators.browser.open_requests import NEWS_SECONDS, SILENT_SECONDS, OpenRequests
from generators.browser.page_calls import Channel, DocumentGone, to_failure
from generators.browser.protocol import ClockSpec
from schemas.errors import FailureKind, RolloutFailure

EXPIRY_SECONDS = 15.0
"""Real time that a portion may take while no request is open that time waits for; after it the clock is lost."""

LOOK_SECONDS = 0.02
"""Real time between two looks at the requests that are open."""

STREAM_STEP_MS = 20
"""The portions in which time passes while a stream is open."""

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
        self._expired: asyncio.Future[PageLost | None] | None = None
        self._requests: dict[Channel, OpenRequests] = {}
        self._stopped_at = 0.0
        self._stale_until = 0
        self.elapsed_ms = 0
        """Virtual time since the start, ms."""

    async def watch(self, channel: Channel) -> None:
        """Follow the time and the requests of a page that has this clock.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        channel.on("Emulation.virtualTimeBudgetExpired", lambda _: self._end_portion(None))
        channel.on_lost(lambda why: self._on_lost(channel, why))
        self._requests[channel] = OpenRequests()
        await self._requests[channel].follow(channel)

    def follow(self, channel: Channel) -> None:
        """Advance the clock through this page from now on."""
        self._channel = channel

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
        if not await self._portion(AHEAD_MS, "advance"):
            raise _clock_failure(AHEAD_MS)

    async def _stop_at(self, ms: int) -> None:
        await self._set({"policy": "pause", "initialVirtualTime": ms / 1_000})

    async def advance(self, ms: int) -> None:
        """Let `ms` milliseconds pass.

        Raises:
            RolloutFailure: the page's time does not pass (`clock`).
        """
        shown = self._channel
        try:
            await self._advance_beside_streams(ms, await self._advance_with_requests(ms))
        finally:
            self._channel = shown
        self.elapsed_ms += ms

    async def _advance_with_requests(self, ms: int) -> int:
        """Let time pass while no request is in flight, and return how much has not because it waits for what never ends."""
        left = ms
        while left and not self._has_streams:
            begun = self.elapsed_ms + ms - left
            if await self._portion(left, _PAUSE_FOR_NETWORK):
                if begun >= self._stale_until:
                    return 0
                left = await self._left_after(ms, begun, left)
                continue
            # Else time would go on until it is read. The end of this portion is told later all the same.
            await self._set({"policy": "pause"})
            left = await self._left_after(ms, begun, left)
            other = self._loading_elsewhere()
            if other is None:
                break
            self._channel = other
        return left

    async def _left_after(self, ms: int, begun: int, part: int) -> int:
        """Return how much of `ms` has not passed after a portion, and remember the end of one that was interrupted.

        The browser tells the end of an interrupted portion at its time, whatever runs then, and so interrupts that.
        """
        left = await self._left(ms)
        if self.elapsed_ms + ms - left < begun + part:
            self._stale_until = max(self._stale_until, begun + part)
        return left

    def _loading_elsewhere(self) -> Channel | None:
        """Return another page of this clock that loads a document, which it does only while it moves the clock itself."""
        others = (channel for channel in self._requests if channel is not self._channel)
        return next((one for one in others if self._requests[one].loads_document), None)

    async def _advance_beside_streams(self, ms: int, left: int) -> None:
        """Let the rest of `ms` pass in small portions, and wait between them for the requests that are no streams."""
        while left > 0:
            while self._awaits:  # noqa: ASYNC110 - which real time decides, too
                await asyncio.sleep(LOOK_SECONDS)
            begun, part = self.elapsed_ms + ms - left, min(left, STREAM_STEP_MS)
            if not await self._portion(part, "advance"):
                raise _clock_failure(part)
            left = left - part
            if begun < self._stale_until:
                left = await self._left_after(ms, begun, part)

    async def _left(self, ms: int) -> int:
        """Return how much of a portion of `ms` has not passed yet."""
        with contextlib.suppress(DocumentGone):
            now = await self._followed.call("Date.now()")
            passed = int(now) - self._spec.start_ms - self.elapsed_ms
            return min(max(ms - passed, 0), ms)
        return ms

    async def wait_for_bodies(self) -> bool:
        """Wait in real time until all requests have ended that are no streams; return whether there were any.

        The browser's own clock stands until an answer's headers have come, and goes on while a script reads its body in
        pieces.
        """
        waited = self._awaits
        while self._awaits:  # noqa: ASYNC110 - which real time decides, too
            await asyncio.sleep(LOOK_SECONDS)
        return waited

    async def hear_news(self) -> bool:
        """Give open streams real time, until none of them has had news for a while; return whether one still had."""
        begun = time.monotonic()
        while self._has_streams and (gone := time.monotonic() - begun) < NEWS_SECONDS:
            if min(gone, *(one.silent_seconds for one in self._requests.values())) > SILENT_SECONDS:
                return False
            await asyncio.sleep(LOOK_SECONDS)
        return self._has_streams

    @property
    def _is_held(self) -> bool:
        """Whether what holds time is a stream, or the document of another page."""
        return (self._has_streams and not self._awaits) or self._loading_elsewhere() is not None

    @property
    def _has_streams(self) -> bool:
        return any(one.has_streams for one in self._requests.values())

    @property
    def _awaits(self) -> bool:
        return any(one.awaited for one in self._requests.values())

    async def settle_to_grid(self, grid_ms: int = NAVIGATION_GRID_MS) -> None:
        """Let time pass until the next multiple of a grid."""
        rest = -self.elapsed_ms % grid_ms
        if rest:
            await self.advance(rest)

    async def _portion(self, ms: int, policy: str) -> bool:
        """Let a portion pass, and return whether it has; one that waits for requests does not beside a stream."""
        patience = self._followed.patience
        self._expired = expired = asyncio.get_running_loop().create_future()
        idle_since = patience.time()
        try:
            await self._set({"policy": policy, "budget": ms})
            while not (await asyncio.wait({expired}, timeout=LOOK_SECONDS))[0]:
                if self._awaits:
                    idle_since = patience.time()
                is_over = patience.time() - idle_since > EXPIRY_SECONDS
                if is_over or (policy == _PAUSE_FOR_NETWORK and self._is_held):
                    return False
        finally:
            self._expired = None
        lost = expired.result()
        if lost is not None:
            raise to_failure(lost)
        return True

    @property
    def _followed(self) -> Channel:
        if self._channel is None:
            raise AssertionError("the clock follows no page yet")
        return self._channel

    async def _set(self, policy: dict[str, str | float]) -> None:
        await self._followed.send("Emulation.setVirtualTimePolicy", policy)


def _clock_failure(ms: int) -> RolloutFailure:
    return RolloutFailure(FailureKind.CLOCK, f"{ms} ms of virtual time did not pass")
