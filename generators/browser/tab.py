"""One tab of a session: it loads, navigates and settles its page in exact virtual time.

How it settles is in `settling.py`. A tab that a page opened shares its opener's renderer and so its clock;
the current tab moves the clock for all of them.
"""

import contextlib
from typing import Any
from urllib.parse import urlsplit

from generators.browser.clock import VirtualClock
from generators.browser.page_calls import Channel, DocumentGone
from generators.browser.page_input import Clipboard, PageInput
from generators.browser.protocol import SessionSpec
from generators.browser.settling import Settling
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
from schemas.errors import FailureKind, RolloutFailure

LOAD_PORTIONS = 3
"""Portions of load time after which a page that has not finished loading has failed."""

NAVIGATION_START_SECONDS = 2.0
"""Time that a navigation may take to begin after the script that starts it, seconds."""

BLANK = "about:blank"
"""The page of a new tab; `back` does not go there."""


_SHOWN_AT_ONCE = frozenset({"", "http", "https", "about", "blob", "file", "chrome", "view-source"})
"""Addresses of windows that have a page at once; one with another, as of a mail, has none until it gets one."""


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
        self._settling = Settling(channel, self.input, clock, spec.clock)
        self.target = self.browser_context = ""
        """The browser's ids of its page and of the context that it is in."""
        self.opener: PageTab | None = None
        """The tab whose page opened it; None: the session did."""
        self.opened = 0
        """Windows that the page has opened and the session has not adopted yet."""
        self.asked = 0
        """Tabs that clicks have asked for, as one of the middle button on a link, and that are not adopted yet."""

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
        tab.opener = opener
        channel.on("Page.windowOpen", tab._on_opened)
        channel.on("Page.frameRequestedNavigation", tab._on_asked)
        await channel.send("Inspector.enable")
        await channel.send("Page.enable")
        await channel.send("Page.setInterceptFileChooserDialog", {"enabled": True})
        await channel.begin(draws_lists=spec.draws_lists)
        tab.show()
        if clock is not None:
            await clock.watch(channel)
            await tab._settling.follow_workers()
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

    async def call(self, expression: str) -> Any:
        """Evaluate in the isolated world; None if the document was replaced meanwhile."""
        try:
            return await self.channel.call(expression)
        except DocumentGone:
            return None

    async def load(self, url: str) -> None:
        """Load `url` in place of the current page, and wait until it, or where it leads to on the site, is complete.

        Raises:
            RolloutFailure: the page does not finish loading, or leads to another site.
        """
        if self.clock is not None:
            await self.clock.start()
        await self.call(f"location.replace({canonical_json(url)})")
        state: Any = None
        for _ in range(LOAD_PORTIONS):
            await self._settling.load_portion()
            state = await self.call("[location.href, document.readyState]")
            if state and state[1] == "complete" and self._spec.has_origin(state[0]):
                await self._settling.end_load()
                return
        raise RolloutFailure(FailureKind.PAGE, f"{url} did not finish loading: {state}")

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
            await self._settling.draw()
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
        moved = self._settling.moved
        moved.clear()
        await self.call(f"void ({expression})")
        with contextlib.suppress(TimeoutError):
            async with self.channel.patience.limit(NAVIGATION_START_SECONDS):
                await moved.wait()

    async def travel(self, by: int) -> bool:
        """Go `by` entries along the tab's history; False where there is no such entry."""
        history = await self.channel.send("Page.getNavigationHistory")
        index = history["currentIndex"] + by
        entries = history["entries"]
        if not 0 <= index < len(entries) or entries[index]["url"] == BLANK:
            return False
        await self.navigate(f"history.go({by})")
        return True

    async def title(self) -> str:
        """Return the title of its page.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        history = await self.channel.send("Page.getNavigationHistory")
        return str(history["entries"][history["currentIndex"]]["title"])

    @property
    def goes_on(self) -> bool:
        """As `Settling.goes_on`."""
        return self._settling.goes_on

    async def rest(self) -> None:
        """As `Settling.rest`."""
        await self._settling.rest()

    async def settle(self, *, wait_ms: int) -> None:
        """As `Settling.settle`."""
        await self._settling.settle(wait_ms=wait_ms)

    def _on_asked(self, event: dict[str, Any]) -> None:
        if event["disposition"] == "newTab":
            self.asked += 1

    def _on_opened(self, event: dict[str, Any]) -> None:
        if urlsplit(event["url"]).scheme in _SHOWN_AT_ONCE:
            self.opened += 1
