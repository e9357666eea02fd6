"""One tab of a session: it loads, navigates and settles its page in exact virtual time.

Settling is the same after every action and in every replay: the tab draws a frame, lets a portion of
time pass, follows any navigation to its end and the clock to the next multiple of a grid, shows a new
page where the pointer is, draws another frame, and lets a little more time pass. A tab that a page
opened shares its opener's renderer and so its clock; the current tab moves the clock for all of them.
"""

import asyncio
import contextlib
import math
from typing import Any

from generators.browser.channel import Channel, DocumentGone
from generators.browser.clock import NAVIGATION_STEP_MS, VirtualClock
from generators.browser.page_input import Clipboard, PageInput
from generators.browser.protocol import ClockSpec, SessionSpec
from schemas.base import canonical_json
from schemas.episodes.action import (
    Action,
    Back,
    Click,
    Drag,
    Forward,
    Goto,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    Reload,
    Restart,
    Scroll,
    Select,
    TypeText,
)
from schemas.errors import FailureKind, RolloutFailure, boundary

LOAD_PORTIONS = 3
"""Portions of load time after which a page that has not finished loading has failed."""

LOAD_SECONDS = 20.0
"""Time limit of loading a page in real time, seconds."""

NAVIGATION_PORTIONS = 1_500
"""Portions of 10 ms after which a navigation that has not finished has failed."""

FONT_PORTIONS = 100
"""Largest number of further `settle_ms` of the clock until a page's fonts are loaded."""

FONT_SECONDS = 0.01
"""The same without a clock, in real time."""

NAVIGATION_START_SECONDS = 2.0
"""Time that a navigation may take to begin after the script that starts it, seconds."""

MOTION_MS = 2_000
"""Time that passes at most, after an action's own, until animations that have an end have come to it."""

MOTION_FRAME_MS = 48
"""The shortest time between two frames of a page in motion: three of a screen's."""

WORKER_MS = 2_000
"""Real time at most that a page's workers get after an action: as much as passes on its clock. Their timers run in both."""

BLANK = "about:blank"
"""The page of a new tab; `back` does not go there."""


class ActionRefused(Exception):
    """An action that this page does not allow; the policy is shown the text."""


class PageTab:
    """One page with its input and its clock. Made by `attach`."""

    def __init__(
        self,
        channel: Channel,
        clock: VirtualClock | None,
        spec: SessionSpec,
        clipboard: Clipboard,
    ) -> None:
        self.channel = channel
        """DevTools calls to the page."""
        self.input = PageInput(channel, clock, clipboard)
        """Input to the page."""
        self.clock = clock
        """The virtual clock, shared with the tabs that the page opened; None: real time."""
        self._spec = spec
        self._loading: set[str] = set()
        self._navigated = False
        self._moved = asyncio.Event()
        self._workers: set[str] = set()
        self.opened = 0
        """Windows that the page has opened and the session has not adopted yet."""

    @classmethod
    async def attach(
        cls,
        channel: Channel,
        *,
        spec: SessionSpec,
        opener: "PageTab | None",
        clipboard: Clipboard,
    ) -> "PageTab":
        """Follow the page's events, and stop its time; with an `opener`, share its clock.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        clock = opener.clock if opener is not None else None
        if clock is None and spec.clock is not None:
            clock = VirtualClock(spec.clock)
        tab = cls(channel, clock, spec, clipboard)
        channel.on("Page.frameStartedLoading", tab._on_started)
        channel.on("Page.frameStoppedLoading", tab._on_stopped)
        channel.on("Page.frameDetached", tab._on_stopped)
        channel.on("Page.navigatedWithinDocument", lambda _: tab._moved.set())
        channel.on("Page.windowOpen", tab._on_opened)
        await channel.send("Inspector.enable")
        await channel.send("Page.enable")
        await channel.begin()
        tab.show()
        if clock is not None:
            await clock.watch(channel)
            channel.on("Target.attachedToTarget", tab._on_worker)
            channel.on("Target.detachedFromTarget", tab._on_worker_end)
            await channel.send(
                "Target.setAutoAttach",
                {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True},
            )
            await channel.send("Animation.setPlaybackRate", {"playbackRate": 0})
        if opener is not None and clock is not None:
            await clock.join(await tab.call("Date.now()"))
        # Playwright's own setting reaches the page, but not the pictures that another session takes: these
        # would have the size of the window, which a page may change, and one pixel for each of CSS.
        await channel.send(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": spec.viewport_width,
                "height": spec.viewport_height,
                "screenWidth": spec.viewport_width,
                "screenHeight": spec.viewport_height,
                "deviceScaleFactor": spec.device_scale_factor,
                "mobile": False,
            },
        )
        return tab

    def show(self) -> None:
        """Make this the tab that moves the clock."""
        if self.clock is not None:
            self.clock.follow(self.channel)

    @property
    def loading(self) -> bool:
        """Whether the page or a frame in it is navigating."""
        return bool(self._loading)

    async def call(self, expression: str) -> Any:
        """Evaluate in the isolated world; None if the document was replaced meanwhile."""
        try:
            return await self.channel.call(expression)
        except DocumentGone:
            return None

    async def load(self, url: str) -> None:
        """Load `url` in place of the current page, and wait until it is complete.

        Raises:
            RolloutFailure: the page does not finish loading, or another one was loaded.
        """
        if self.clock is not None:
            await self.clock.start()
        await self.call(f"location.replace({canonical_json(url)})")
        state: Any = None
        for _ in range(LOAD_PORTIONS):
            if self.clock is None or self._spec.clock is None:
                await self._wait_loaded()
            else:
                await self._load_portion(self.clock, self._spec.clock)
            state = await self.call("[location.href, document.readyState]")
            if state == [url, "complete"]:
                self._navigated = False
                await self._end_motion(MOTION_MS)
                await self._wait_for_fonts()
                return
        raise RolloutFailure(FailureKind.PAGE, f"{url} did not finish loading: {state}")

    async def _load_portion(self, clock: VirtualClock, times: ClockSpec) -> None:
        """Let the load time pass, with a frame halfway and one before its end.

        A page's observers are told what is in sight when a frame is drawn. Without these they would be told whenever
        real time drew one, and what a page does then, most often a moment later, would be seen or not by chance.
        """
        half = times.load_ms // 2
        await clock.advance(half)
        await self._pass(clock, times.load_ms - half - times.settle_ms, await self._frame())
        await self._pass(clock, times.settle_ms, await self._frame())

    async def _frame(self, passed_ms: int = 0) -> float | None:
        """Draw a frame, and return in how many ms the first animation ends; None: none does, or real time moves them."""
        return await self.channel.frame(None if self.clock is None else passed_ms)

    async def _pass(self, clock: VirtualClock, ms: int, ends_in: float | None) -> float | None:
        """Let `ms` pass, with a frame wherever an animation ends; `ends_in` and what is returned are as `_frame` says."""
        while ends_in is not None and ms > 0 and not self.loading:
            part = min(max(math.ceil(ends_in), MOTION_FRAME_MS), ms)
            await clock.advance(part)
            ends_in = await self._frame(part)
            ms -= part
        if ms:
            await clock.advance(ms)
        return ends_in

    async def _end_motion(self, left_ms: int) -> int:
        """Draw a frame, and let time pass until nothing that has an end still moves.

        Returns what is left of `left_ms`, the most that passes.
        """
        ends_in = await self._frame()
        while self.clock is not None and ends_in is not None and left_ms > 0 and not self.loading:
            part = min(max(math.ceil(ends_in), MOTION_FRAME_MS), left_ms)
            ends_in = await self._pass(self.clock, part, ends_in)
            left_ms -= part
        return left_ms

    async def _wait_loaded(self) -> None:
        with boundary(FailureKind.PAGE, "loading"):
            await self.channel.page.wait_for_load_state("load", timeout=LOAD_SECONDS * 1_000)

    async def perform(self, action: Action, *, start_url: str) -> None:
        """Carry out an action on the page or its history; all others are the session's to carry out.

        Raises:
            ActionRefused: the page does not allow it.
            UnknownKey: the action names an unknown key.
        """
        match action:
            case Click():
                await self.input.click(action)
            case Hover():
                await self.input.move(action.x, action.y)
            case Drag():
                await self.input.drag(action)
            case TypeText():
                await self._type(action)
            case Key():
                await self.input.press(action.key)
            case KeyDown():
                await self.input.key_down(action.key)
            case KeyUp():
                await self.input.key_up(action.key)
            case Scroll():
                x = self._spec.viewport_width / 2 if action.x is None else action.x
                y = self._spec.viewport_height / 2 if action.y is None else action.y
                await self.input.scroll(action, x=x, y=y)
            case Select():
                await self._select(action)
            case _:
                await self._go(action, start_url=start_url)

    async def _go(self, action: Action, *, start_url: str) -> None:
        """Navigate, if that is the action."""
        match action:
            case Goto():
                self.check_origin(action.url)
                await self.navigate(f"location.href = {canonical_json(action.url)}")
            case Restart():
                await self.navigate(f"location.replace({canonical_json(start_url)})")
            case Back():
                if not await self.travel(-1):
                    raise ActionRefused("there is no page to go back to")
            case Forward():
                if not await self.travel(1):
                    raise ActionRefused("there is no page to go forward to")
            case Reload():
                await self.navigate("location.reload()")
            case _:
                pass

    async def _type(self, action: TypeText) -> None:
        if action.x is not None and action.y is not None:
            await self.input.click(Click(x=action.x, y=action.y))
        if action.overwrite:
            await self.call("stepmill.selectAll()")
        await self.input.type(action)

    async def _select(self, action: Select) -> None:
        option = canonical_json(action.option)
        refusal = await self.call(f"stepmill.choose({action.x},{action.y},{option})")
        if refusal:
            raise ActionRefused(str(refusal))

    def check_origin(self, url: str) -> None:
        """Raise `ActionRefused` for an address outside the session's origins and paths."""
        if not self._spec.allows(url):
            paths = self._spec.allowed_paths or ("",)
            allowed = ", ".join(o + path for o in self._spec.allowed_origins for path in paths)
            raise ActionRefused(f"{url} is not allowed here; allowed: {allowed}")

    async def navigate(self, expression: str) -> None:
        """Start a navigation from within the page, so that the clock waits until it commits."""
        self._moved.clear()
        await self.call(f"void ({expression})")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(NAVIGATION_START_SECONDS):
                await self._moved.wait()

    async def travel(self, by: int) -> bool:
        """Go `by` entries along the tab's history; False where there is no such entry."""
        history = await self.channel.send("Page.getNavigationHistory")
        index = history["currentIndex"] + by
        entries = history["entries"]
        if not 0 <= index < len(entries) or entries[index]["url"] == BLANK:
            return False
        await self.navigate(f"history.go({by})")
        return True

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
        if self.clock is not None and self._spec.clock is not None:
            await self.clock.advance(self._spec.clock.settle_ms)
            await self._end_motion(left_ms)
        await self._wait_for_fonts()

    async def _wait_for_fonts(self) -> None:
        """Let time pass until the fonts of the drawn text are loaded, within a limit."""
        for _ in range(FONT_PORTIONS):
            if await self.call("document.fonts.status") != "loading":
                return
            if self.clock is None or self._spec.clock is None:
                await asyncio.sleep(FONT_SECONDS)
            else:
                await self.clock.advance(self._spec.clock.settle_ms)
            await self._frame()

    async def settle(self, *, wait_ms: int) -> None:
        """Draw a frame, let time pass (and `wait_ms` more), draw another, let a little more pass.

        Raises:
            RolloutFailure: a navigation never ends, or time does not pass.
        """
        clock = self._spec.clock
        if self.clock is None or clock is None:
            await self._frame()
            await asyncio.sleep(wait_ms / 1_000)
            await self._wait_loaded()
            return
        ends_in = None if self.loading else await self._frame()
        ends_in = await self._pass(self.clock, clock.step_ms, ends_in)
        if wait_ms:
            await self._pass(self.clock, wait_ms, ends_in)
        await self._follow(self.clock)
        await self.clock.hear_news()
        if self._workers:
            await asyncio.sleep(min(clock.step_ms + wait_ms, WORKER_MS) / 1_000)
        await self.rest()

    async def _follow(self, clock: VirtualClock) -> None:
        """Let time pass in small portions while the tab navigates, then up to the grid's next multiple.

        Then the pointer is moved to its own position, because the element under it has changed.
        """
        if not (self.loading or self._navigated):
            return
        for _ in range(NAVIGATION_PORTIONS):
            if not self.loading:
                await clock.settle_to_grid()
                self._navigated = False
                await self.input.point_again()
                return
            await clock.advance(NAVIGATION_STEP_MS)
        raise RolloutFailure(FailureKind.PAGE, "a navigation did not finish")

    def _on_started(self, event: dict[str, Any]) -> None:
        self._loading.add(event["frameId"])
        self._navigated = True
        self._moved.set()

    def _on_stopped(self, event: dict[str, Any]) -> None:
        self._loading.discard(event["frameId"])

    def _on_worker(self, event: dict[str, Any]) -> None:
        if event["targetInfo"]["type"] == "worker":
            self._workers.add(event["sessionId"])

    def _on_worker_end(self, event: dict[str, Any]) -> None:
        self._workers.discard(event["sessionId"])

    def _on_opened(self, _: object) -> None:
        self.opened += 1
