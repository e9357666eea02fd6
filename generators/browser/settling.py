"""How a page settles: what has begun on it comes to its end, in exact virtual time.

Settling is the same after every action and in every replay: a frame is drawn, a portion of time passes,
any navigation is followed to its end and the clock to the next multiple of a grid, a new page is shown
where the pointer is, another frame is drawn, and a little more time passes. With each frame, what moves by
itself is taken on by the time that has passed (`motion.js`); what has an end comes to it.
"""

import asyncio
import contextlib
import math
from typing import Any

from generators.browser.clock import NAVIGATION_STEP_MS, VirtualClock
from generators.browser.page_calls import BUSY, Channel, DocumentGone
from generators.browser.page_input import PageInput
from generators.browser.protocol import ClockSpec
from schemas.errors import FailureKind, RolloutFailure, boundary

LOAD_SECONDS = 20.0
"""Time limit of loading a page in real time, seconds."""

NAVIGATION_PORTIONS = 1_500
"""Portions of 10 ms after which a navigation that has not finished has failed."""

FONT_PORTIONS = 100
"""Largest number of further `settle_ms` of the clock until a page's fonts are loaded."""

FONT_SECONDS = 0.01
"""The same without a clock, in real time."""

MOTION_MS = 2_000
"""Time that passes at most, after an action's own, until animations that have an end have come to it."""

MOTION_FRAME_MS = 48
"""The shortest time between two frames of a page in motion: three of a screen's."""

WORKER_MS = 20
"""The portions in which time passes while a page has workers, whose timers run in real time as well: each takes as long."""

MOTION_LOOK_MS = 100
"""The longest time between two frames of a page in motion: what stops or turns it meanwhile is seen by the next."""

BUSY_FRAMES = 40
"""Frames at most in which a page ends what real time decides."""

BUSY_GRID_MS = 100
"""The clock of a page that has ended such a work goes on to a multiple of this."""


class Settling:
    """Lets a page come to rest."""

    def __init__(
        self,
        channel: Channel,
        pointer: PageInput,
        clock: VirtualClock | None,
        times: ClockSpec | None,
    ) -> None:
        """`clock` and `times` are None in real time."""
        self._channel, self._pointer = channel, pointer
        self._clock, self._times = clock, times
        self._loading: set[str] = set()
        self._navigated = False
        self._workers: set[str] = set()
        self.goes_on = False
        """Whether a stream of the page still had news when the last action had settled."""
        self.moved = asyncio.Event()
        """Set when a navigation has begun."""
        channel.on("Page.frameStartedLoading", self._on_started)
        channel.on("Page.frameStoppedLoading", self._on_stopped)
        channel.on("Page.frameDetached", self._on_stopped)
        channel.on("Page.navigatedWithinDocument", lambda _: self.moved.set())

    async def follow_workers(self) -> None:
        """Note from now on which workers the page has.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        self._channel.on("Target.attachedToTarget", self._on_worker)
        self._channel.on("Target.detachedFromTarget", self._on_worker_end)
        await self._channel.send(
            "Target.setAutoAttach",
            {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True},
        )

    async def load_portion(self) -> None:
        """Let the load time pass, with a frame halfway and one before its end.

        A page's observers are told what is in sight when a frame is drawn. Without these they would be told whenever
        real time drew one, and what a page does then, most often a moment later, would be seen or not by chance.
        """
        clock, times = self._clock, self._times
        if clock is None or times is None:
            await self._wait_loaded()
            return
        half = times.load_ms // 2
        await clock.advance(half)
        # What answers and streams bring late gets the other half: at the end, the same time has passed in any case.
        await clock.wait_for_bodies()
        await clock.hear_news()
        await self._pass(clock, times.load_ms - half - times.settle_ms, await self._frame())
        await self._pass(clock, times.settle_ms, await self._frame())

    async def draw(self) -> None:
        """Draw a frame between two parts of an action, in which a page is told of what the first has selected or scrolled."""
        await self._channel.frame(None if self._clock is None else 0)

    async def _frame(self, passed_ms: int = 0) -> float | None:
        """Draw a frame, and return in how many ms the first animation ends; None: none does, or real time moves them.

        A page that works at what real time decides gets some, and a little of its own with each frame; then its clock
        goes on to the next multiple of a grid, so that runs agree.
        """
        if self._clock is None:
            return await self._channel.frame(None)
        ends_in = await self._channel.frame(passed_ms)
        if ends_in != BUSY:
            return ends_in
        for _ in range(BUSY_FRAMES):
            await self._clock.advance(1)
            ends_in = await self._channel.frame(1)
            if ends_in != BUSY:
                break
        before_ms = self._clock.elapsed_ms
        await self._clock.settle_to_grid(BUSY_GRID_MS)
        ends_in = await self._channel.frame(self._clock.elapsed_ms - before_ms)
        return None if ends_in == BUSY else ends_in

    async def _pass(self, clock: VirtualClock, ms: int, ends_in: float | None) -> float | None:
        """Let `ms` pass, with a frame wherever an animation ends; `ends_in` and what is returned are as `_frame` says."""
        while ends_in is not None and ms > 0 and not self._loading:
            ends_in, ms = await self._move(clock, ms, ends_in)
        while self._workers and ms > 0:
            part = min(ms, WORKER_MS)
            await clock.advance(part)
            await asyncio.sleep(part / 1_000)
            ms -= part
        if ms:
            await clock.advance(ms)
        return ends_in

    async def _move(
        self, clock: VirtualClock, left_ms: int, ends_in: float
    ) -> tuple[float | None, int]:
        """Let time pass until the first animation ends, and draw a frame; return what it says, and what is left."""
        part = min(max(math.ceil(ends_in), MOTION_FRAME_MS), MOTION_LOOK_MS, left_ms)
        await clock.advance(part)
        return await self._frame(part), left_ms - part

    async def _end_motion(self, left_ms: int) -> int:
        """Draw a frame, and let time pass until nothing that has an end still moves.

        Returns what is left of `left_ms`, the most that passes.
        """
        ends_in = await self._frame()
        while self._clock is not None and ends_in is not None and left_ms > 0 and not self._loading:
            ends_in, left_ms = await self._move(self._clock, left_ms, ends_in)
        return left_ms

    async def _wait_loaded(self) -> None:
        with boundary(FailureKind.PAGE, "loading"):
            async with self._channel.patience.limit(LOAD_SECONDS):
                await self._channel.page.wait_for_load_state("load", timeout=0)

    async def rest(self) -> None:
        """Draw a frame, which requests the images on it, let a little time pass, and draw another.

        Time passes only after the images have arrived, however long that takes. The pointer is updated in
        the second frame, for elements that have moved under it; in the frame of a screenshot its position
        would be divided by the device scale factor. Drawing text requests its fonts, and time does not wait
        for all of them: more time passes until they are loaded.

        Raises:
            RolloutFailure: time does not pass.
        """
        left_ms = await self._end_motion(MOTION_MS)
        if self._clock is not None and self._times is not None:
            await self._clock.advance(self._times.settle_ms)
            await self._end_motion(left_ms)
        await self._wait_for_fonts()

    async def end_load(self) -> None:
        """Let what moves on a loaded page come to its end, and its answers and fonts arrive."""
        self._navigated = False
        if self._clock is not None:
            await self._clock.wait_for_bodies()
        await self._end_motion(MOTION_MS)
        await self._wait_for_fonts()

    async def _font_status(self) -> str:
        try:
            return str(await self._channel.call("document.fonts.status"))
        except DocumentGone:
            return ""

    async def _wait_for_fonts(self) -> None:
        """Let time pass until the fonts of the drawn text are loaded, within a limit."""
        for _ in range(FONT_PORTIONS):
            if await self._font_status() != "loading":
                return
            if self._clock is None or self._times is None:
                await asyncio.sleep(FONT_SECONDS)
            else:
                await self._clock.advance(self._times.settle_ms)
            await self._frame()

    async def settle(self, *, wait_ms: int) -> None:
        """Draw a frame, let time pass (and `wait_ms` more), draw another, let a little more pass.

        Raises:
            RolloutFailure: a navigation never ends, or time does not pass.
        """
        clock, times = self._clock, self._times
        if clock is None or times is None:
            await self._frame()
            await asyncio.sleep(wait_ms / 1_000)
            await self._wait_loaded()
            return
        ends_in = None if await self._leaves() else await self._frame()
        ends_in = await self._pass(clock, times.step_ms, ends_in)
        if wait_ms:
            await self._pass(clock, wait_ms, ends_in)
        await self._follow(clock)
        if await clock.wait_for_bodies():
            await clock.settle_to_grid(BUSY_GRID_MS)
        self.goes_on = await clock.hear_news()
        await self.rest()

    async def _leaves(self) -> bool:
        """Return whether the page loads another, and so draws no frame; a jump within it is over when it answers."""
        if self._loading:
            with contextlib.suppress(DocumentGone):
                await self._channel.call("0")
        return bool(self._loading)

    async def _follow(self, clock: VirtualClock) -> None:
        """Let time pass in small portions while the tab navigates, then up to the grid's next multiple.

        Then the pointer is moved to its own position, because the element under it has changed.
        """
        if not (self._loading or self._navigated):
            return
        for _ in range(NAVIGATION_PORTIONS):
            if not self._loading:
                await clock.settle_to_grid()
                self._navigated = False
                await self._pointer.point_again()
                return
            await clock.advance(NAVIGATION_STEP_MS)
        raise RolloutFailure(FailureKind.PAGE, "a navigation did not finish")

    def _on_started(self, event: dict[str, Any]) -> None:
        self._loading.add(event["frameId"])
        self._navigated = True
        self.moved.set()

    def _on_stopped(self, event: dict[str, Any]) -> None:
        self._loading.discard(event["frameId"])

    def _on_worker(self, event: dict[str, Any]) -> None:
        if event["targetInfo"]["type"] == "worker":
            self._workers.add(event["sessionId"])

    def _on_worker_end(self, event: dict[str, Any]) -> None:
        self._workers.discard(event["sessionId"])
