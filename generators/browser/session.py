"""A session in Chromium: one context for one episode, seen and acted on through one page at a time.

`act` is the only place where anything happens to a page, for a rollout and a replay alike: the
input, a drawn frame, an exact portion of virtual time, another frame, a little more time. What
cannot be done (a point outside the viewport, a forbidden address) is an error in the effect and
part of the episode; what breaks is a `RolloutFailure`.
"""

import asyncio
import base64
import contextlib
import time
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Dialog, Page
from pydantic import JsonValue

from generators.browser.channel import Channel, DocumentGone
from generators.browser.clock import NAVIGATION_STEP_MS, VirtualClock
from generators.browser.hand import Hand
from generators.browser.keyboard import UnknownKey
from generators.browser.protocol import PageReader, SessionSpec
from generators.browser.reader import DocumentReader
from schemas.action import (
    Action,
    Answer,
    Back,
    Click,
    Drag,
    Forward,
    Goto,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    NoAction,
    Reload,
    Restart,
    Scroll,
    Select,
    Tab,
    TabOperation,
    TypeText,
    Wait,
    point_of,
)
from schemas.base import canonical_json, sha256_hex
from schemas.errors import FailureKind, RolloutFailure
from schemas.observation import Effect, Element, Observation, PageState, Screenshot, Target

JPEG_QUALITY = 80
"""Of the screenshots: the cheapest to take on rich pages, a quarter of PNG's bytes."""

LOAD_PORTIONS = 3
"""How often the load's portion of time is given before a page counts as never finishing."""

NAVIGATION_PORTIONS = 1_500
"""How often a navigation in flight is given 10 ms before it counts as never finishing."""

NAVIGATION_START_SECONDS = 2.0
"""How long a navigation that was asked for may take to begin."""

BLANK = "about:blank"
"""What a tab shows before it shows anything; no place to go back to."""

MAX_TABS = 8
"""Tabs kept open; what a page opens beyond is closed."""


class CannotDo(Exception):
    """An action that this page does not allow; the text is told to the policy."""


class ChromiumSession:
    """A `Session` in one Chromium context. Made and closed by `Chromium`."""

    def __init__(self, context: BrowserContext, spec: SessionSpec, *, version: str) -> None:
        self._context = context
        self._spec = spec
        self._version = version
        self._start_url = ""
        self._tabs: list[_TabState] = []
        self._current = 0
        self._dialogs: list[str] = []

    @property
    def reader(self) -> PageReader:
        """The privileged view of the current tab."""
        return DocumentReader(self._tab.channel)

    @property
    def browser_version(self) -> str:
        """The browser's version."""
        return self._version

    @property
    def _tab(self) -> "_TabState":
        return self._tabs[self._current]

    async def open(self, url: str) -> None:
        """Load the start page under the session's clock and wait until it is complete."""
        self._start_url = url
        page = await self._context.new_page()
        self._tabs = [await _TabState.attach(self._context, page, clock=None, spec=self._spec)]
        self._watch(page)
        tab = self._tab
        if tab.clock is not None:
            await tab.clock.start()
        await self._replace(url)
        if tab.clock is not None:
            await tab.channel.send("Animation.setPlaybackRate", {"playbackRate": 0})

    async def observe(self) -> Observation:
        """Take a picture and read the page."""
        begun = time.perf_counter()
        tab = self._tab
        shot = await tab.channel.send(
            "Page.captureScreenshot", {"format": "jpeg", "quality": JPEG_QUALITY}
        )
        try:
            state = await tab.channel.call("stepmill.observe()")
        except DocumentGone as error:
            raise RolloutFailure(FailureKind.PAGE, "the page is replaced all the time") from error
        picture = base64.b64decode(shot["data"])
        scale = self._spec.device_scale_factor
        return Observation(
            screenshot=Screenshot(bytes=picture, path=f"{sha256_hex(picture)[:16]}.jpg"),
            width=round(self._spec.viewport_width * scale),
            height=round(self._spec.viewport_height * scale),
            page=_page_state(state),
            elements=tuple(Element.model_validate(item) for item in state["elements"]),
            observe_ms=(time.perf_counter() - begun) * 1_000,
        )

    async def act(self, action: Action) -> Effect:
        """Carry out an action and let the page settle."""
        begun = time.perf_counter()
        error: str | None = None
        target: Target | None = None
        self._dialogs.clear()
        try:
            target = await self._aim(action)
            await self._do(action)
        except (CannotDo, UnknownKey) as refusal:
            error = str(refusal)
        if not isinstance(action, Answer | NoAction):
            await self._settle(action)
        said = "; ".join(self._dialogs)
        return Effect(
            error=error,
            result_text=f"The page said: {said}" if said else None,
            target=target,
            act_ms=(time.perf_counter() - begun) * 1_000,
        )

    async def evaluate(self, expression: str) -> JsonValue:
        """Evaluate JavaScript in the page's own world. For sites alone."""
        return await self._tab.channel.evaluate(expression)

    async def _aim(self, action: Action) -> Target | None:
        """Return what lies under the action's point, refusing points outside the viewport."""
        ends = [point_of(action)]
        if isinstance(action, Drag):
            ends.append((action.to_x, action.to_y))
        for end in ends:
            if end is not None and not self._inside(*end):
                width, height = self._spec.viewport_width, self._spec.viewport_height
                raise CannotDo(f"({end[0]:g}, {end[1]:g}) is outside the {width}×{height} viewport")
        if ends[0] is None:
            return None
        x, y = ends[0]
        try:
            found = await self._tab.channel.call(f"stepmill.target({x},{y})")
        except DocumentGone:
            return None
        return Target.model_validate(found) if found else None

    def _inside(self, x: float, y: float) -> bool:
        return x < self._spec.viewport_width and y < self._spec.viewport_height

    async def _do(self, action: Action) -> None:
        hand = self._tab.hand
        match action:
            case Click():
                await hand.click(action)
            case Hover():
                await hand.move(action.x, action.y)
            case Drag():
                await hand.drag(action)
            case TypeText():
                await self._type(action)
            case Key():
                await hand.press(action.key)
            case KeyDown():
                await hand.key_down(action.key)
            case KeyUp():
                await hand.key_up(action.key)
            case Scroll():
                x = self._spec.viewport_width / 2 if action.x is None else action.x
                y = self._spec.viewport_height / 2 if action.y is None else action.y
                await hand.scroll(action, x=x, y=y)
            case Select():
                await self._select(action)
            case _:
                await self._go(action)

    async def _go(self, action: Action) -> None:
        """Carry out an action on the tab rather than on its page."""
        channel = self._tab.channel
        match action:
            case Goto():
                self._refuse_foreign(action.url)
                await self._navigate(f"location.href = {canonical_json(action.url)}")
            case Restart():
                await self._navigate(f"location.replace({canonical_json(self._start_url)})")
            case Back():
                await self._travel(-1)
            case Forward():
                await self._travel(1)
            case Reload():
                await self._navigate("location.reload()")
            case Tab():
                await self._tabs_do(action)
            case Wait() if self._tab.clock is None:
                await channel.page.wait_for_timeout(action.ms)
            case _:
                pass

    async def _type(self, action: TypeText) -> None:
        if action.x is not None and action.y is not None:
            await self._tab.hand.click(Click(x=action.x, y=action.y))
        if action.overwrite:
            await self._call("stepmill.selectAll()")
        await self._tab.hand.type(action)

    async def _select(self, action: Select) -> None:
        option = canonical_json(action.option)
        refusal = await self._call(f"stepmill.choose({action.x},{action.y},{option})")
        if refusal:
            raise CannotDo(str(refusal))

    async def _call(self, expression: str) -> Any:
        try:
            return await self._tab.channel.call(expression)
        except DocumentGone:
            return None

    async def _travel(self, by: int) -> None:
        """Go `by` entries along the tab's history."""
        history = await self._tab.channel.send("Page.getNavigationHistory")
        index = history["currentIndex"] + by
        entries = history["entries"]
        if not 0 <= index < len(entries) or entries[index]["url"] == BLANK:
            raise CannotDo(f"there is no page to go {'back' if by < 0 else 'forward'} to")
        await self._navigate(f"history.go({by})")

    async def _navigate(self, expression: str) -> None:
        """Start a navigation from within the page, which holds the clock until it commits."""
        tab = self._tab
        tab.moved.clear()
        await self._call(f"void ({expression})")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(NAVIGATION_START_SECONDS):
                await tab.moved.wait()

    def _refuse_foreign(self, url: str) -> None:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._spec.allowed_origins:
            allowed = ", ".join(self._spec.allowed_origins)
            raise CannotDo(f"{url} is not allowed here; allowed: {allowed}")

    async def _tabs_do(self, action: Tab) -> None:
        index = self._current if action.index is None else action.index
        if action.operation is TabOperation.OPEN:
            if len(self._tabs) >= MAX_TABS:
                raise CannotDo(f"there are {MAX_TABS} tabs already")
            if action.url is not None:
                self._refuse_foreign(action.url)
            known = len(self._tabs)
            await self._call(f"void window.open({canonical_json(action.url or BLANK)})")
            await self._adopt_popups()
            self._current = min(known, len(self._tabs) - 1)
            return
        if index >= len(self._tabs):
            raise CannotDo(f"there is no tab {index}; there are {len(self._tabs)}")
        if action.operation is TabOperation.SWITCH:
            self._current = index
        elif len(self._tabs) == 1:
            raise CannotDo("the last tab cannot be closed")
        else:
            closed = self._tabs.pop(index)
            await closed.channel.send("Page.close")
            self._current = min(self._current, len(self._tabs) - 1)
        await self._tab.channel.send("Page.bringToFront")

    def _watch(self, page: Page) -> None:
        page.on("dialog", self._answer_dialog)

    async def _answer_dialog(self, dialog: Dialog) -> None:
        self._dialogs.append(dialog.message)
        if dialog.type in {"alert", "beforeunload"}:
            await dialog.accept()
        else:
            await dialog.dismiss()

    async def _adopt_popups(self) -> None:
        """Take pages that were opened into the tabs; close what is beyond their number."""
        known = {tab.channel.page for tab in self._tabs}
        for page in [page for page in self._context.pages if page not in known]:
            if len(self._tabs) >= MAX_TABS:
                await page.close()
                continue
            self._watch(page)
            self._tabs.append(
                await _TabState.attach(self._context, page, clock=self._tab.clock, spec=self._spec)
            )

    async def _replace(self, url: str) -> None:
        """Load `url` in place of what is there, until it is complete.

        Raises:
            RolloutFailure: it never completes, or another page came.
        """
        tab = self._tab
        await tab.channel.call(f"location.replace({canonical_json(url)})")
        state: Any = None
        for _ in range(LOAD_PORTIONS):
            if tab.clock is None:
                await tab.channel.page.wait_for_load_state("load", timeout=20_000)
            else:
                await tab.clock.advance(self._load_ms)
            state = await self._call("[location.href, document.readyState]")
            if state == [url, "complete"]:
                tab.navigated = False
                return
        raise RolloutFailure(FailureKind.PAGE, f"{url} did not finish loading: {state}")

    @property
    def _load_ms(self) -> int:
        return 0 if self._spec.clock is None else self._spec.clock.load_ms

    async def _settle(self, action: Action) -> None:
        """Draw a frame, let time pass, draw another; follow a navigation to its end."""
        tab = self._tab
        clock = self._spec.clock
        if tab.clock is None or clock is None:
            await tab.channel.frame()
            await tab.channel.page.wait_for_load_state("load", timeout=20_000)
        else:
            if not tab.loading:
                await tab.channel.frame()
            await tab.clock.advance(clock.step_ms)
            if isinstance(action, Wait):
                await tab.clock.advance(action.ms)
            await self._follow(tab)
            await tab.channel.frame()
            await tab.clock.advance(clock.settle_ms)
        if len(self._context.pages) != len(self._tabs):
            await self._adopt_popups()

    async def _follow(self, tab: "_TabState") -> None:
        """While the tab navigates, let time pass in small portions, then up to the grid.

        Raises:
            RolloutFailure: the navigation never ends.
        """
        clock = tab.clock
        if clock is None or not (tab.loading or tab.navigated):
            return
        for _ in range(NAVIGATION_PORTIONS):
            if not tab.loading:
                await clock.settle_to_grid()
                tab.navigated = False
                return
            await clock.advance(NAVIGATION_STEP_MS)
        raise RolloutFailure(FailureKind.PAGE, "a navigation did not finish")


class _TabState:
    """One tab: its channel, its hand, its clock and whether it is loading."""

    def __init__(self, channel: Channel, clock: VirtualClock | None) -> None:
        self.channel = channel
        self.hand = Hand(channel)
        self.clock = clock
        self.navigated = False
        self.moved = asyncio.Event()
        self._loading: set[str] = set()

    @property
    def loading(self) -> bool:
        """A navigation of the page or of a frame in it is under way."""
        return bool(self._loading)

    @classmethod
    async def attach(
        cls,
        context: BrowserContext,
        page: Page,
        *,
        clock: VirtualClock | None,
        spec: SessionSpec,
    ) -> "_TabState":
        """Open a DevTools session to `page`; a popup shares its opener's `clock`."""
        cdp = await context.new_cdp_session(page)
        channel = Channel(page, cdp)
        if clock is None and spec.clock is not None:
            clock = VirtualClock(channel, spec.clock)
        tab = cls(channel, clock)
        channel.on("Page.frameStartedLoading", tab._on_started)
        channel.on("Page.frameStoppedLoading", tab._on_stopped)
        channel.on("Page.frameDetached", tab._on_stopped)
        channel.on("Page.navigatedWithinDocument", tab._on_moved)
        await channel.send("Page.enable")
        return tab

    def _on_started(self, event: dict[str, Any]) -> None:
        self._loading.add(event["frameId"])
        self.navigated = True
        self.moved.set()

    def _on_stopped(self, event: dict[str, Any]) -> None:
        self._loading.discard(event["frameId"])

    def _on_moved(self, _: object) -> None:
        self.moved.set()


def _page_state(state: dict[str, Any]) -> PageState:
    return PageState(
        url=state["url"],
        title=state["title"],
        form_sha256=sha256_hex(state["form"].encode("utf-8", "surrogatepass")),
        focus=state["focus"],
        scroll_x=state["scrollX"],
        scroll_y=state["scrollY"],
        dom_sha256=sha256_hex(state["dom"].encode("utf-8", "surrogatepass")),
    )
