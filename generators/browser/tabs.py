"""The tabs of a session: those that it opened, and the windows that its pages opened.

What a page opens is followed and shown. A window that closes itself shows its opener, and one in which a
download began instead of a page is no tab.
"""

import asyncio
import contextlib
from typing import Any

from playwright.async_api import BrowserContext, Error, Page

from generators.browser.devtools.connection import Connection
from generators.browser.devtools.patience import Patience
from generators.browser.devtools.websocket import Endpoint
from generators.browser.dialogs import Dialogs
from generators.browser.page_calls import CALL_SECONDS, TOLD, Channel
from generators.browser.page_input import Clipboard
from generators.browser.protocol import SessionSpec
from generators.browser.questions import FileChooser
from generators.browser.session_files import SessionFiles
from generators.browser.tab import BLANK, ActionRefused, PageTab
from schemas.base import canonical_json
from schemas.episodes.action import Tab, TabOperation
from schemas.errors import FailureKind, RolloutFailure, boundary

POPUP_SECONDS = 5.0
"""Time that the session waits for a window that a page announced, seconds."""

CLOSE_SECONDS = 1.0
"""Time that a page gets to close once it was told to, seconds; one that asks first is waited for."""

_LOOK_SECONDS = 0.01

MAX_TABS = 8
"""The most open tabs; any further one that a page opens is closed."""

_COPIES = "copies "
"""What the notice of a page that copies a text begins with."""


class Tabs:
    """The tabs in their order. `start` opens the first."""

    def __init__(
        self,
        context: BrowserContext,
        spec: SessionSpec,
        *,
        endpoint: Endpoint,
        patience: Patience,
        dialogs: Dialogs,
        files: SessionFiles,
    ) -> None:
        self._context, self._spec, self._endpoint = context, spec, endpoint
        self._patience, self._dialogs, self._files = patience, dialogs, files
        self._connections = contextlib.AsyncExitStack()
        self._clipboard = Clipboard()
        self._new_pages: list[Page] = []
        self._arrived = 0
        self._closing: set[asyncio.Task[None]] = set()
        self._tabs: list[PageTab] = []
        self.current = 0
        """The number of the tab that is shown, from 0."""

    def __len__(self) -> int:
        """The number of tabs."""
        return len(self._tabs)

    @property
    def first(self) -> PageTab:
        """The task's own."""
        return self._tabs[0]

    @property
    def shown(self) -> PageTab:
        """The one that is shown."""
        return self._tabs[self.current]

    async def start(self) -> None:
        """Open an empty page, before anything from a site is in the context.

        Raises:
            RolloutFailure: the browser opens none.
        """
        with boundary(FailureKind.BROWSER, "opening a page"):
            async with asyncio.timeout(CALL_SECONDS):
                page = await self._context.new_page()
        self._tabs = [await self._attach(page, opener=None)]
        await self._files.follow(self._endpoint, self.first.browser_context, self._patience)
        self._context.on("page", self._on_page)

    def _on_page(self, page: Page) -> None:
        """Keep a window for the next look, or close it at once where there are tabs enough."""
        self._arrived += 1
        if len(self._tabs) + len(self._new_pages) < MAX_TABS:
            self._new_pages.append(page)
            return
        closing = asyncio.ensure_future(_close_page(page))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close the connections to the pages."""
        for closing in self._closing:
            closing.cancel()
        await self._connections.aclose()

    async def titles(self) -> list[str]:
        """Return the titles of the tabs; empty where there is only one.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        return [await one.title() for one in self._tabs] if self._tabs[1:] else []

    async def _attach(self, page: Page, *, opener: PageTab | None) -> PageTab:
        with boundary(FailureKind.BROWSER, "attaching to a page"):
            async with self._patience.limit(CALL_SECONDS):
                cdp = await self._context.new_cdp_session(page)
                target = (await cdp.send("Target.getTargetInfo"))["targetInfo"]
                connection = await self._connections.enter_async_context(
                    Connection.open_page(self._endpoint, target["targetId"], self._patience)
                )
        channel = Channel(page, connection, self._patience)
        channel.on("Page.fileChooserOpened", lambda event: self._on_chooser(channel, event))
        channel.on("Network.loadingFailed", self._on_failed)
        channel.on("Runtime.bindingCalled", lambda event: self._on_told(channel, event))
        tab = await PageTab.attach(
            channel, spec=self._spec, opener=opener, clipboard=self._clipboard
        )
        tab.target, tab.browser_context = target["targetId"], target["browserContextId"]
        return tab

    def _on_told(self, channel: Channel, event: dict[str, Any]) -> None:
        if event["name"] != TOLD:
            return
        told: str = event["payload"]
        if told == "downloads":
            self._files.expect()
        elif told.startswith(_COPIES):
            self._clipboard.text = told.removeprefix(_COPIES)
        else:
            self._dialogs.on_told(channel, told)

    def _on_failed(self, event: dict[str, Any]) -> None:
        """Expect a download where an answer was taken for one instead of a page."""
        if event["type"] == "Document" and event.get("canceled"):
            self._files.expect()

    def _on_chooser(self, channel: Channel, event: dict[str, Any]) -> None:
        if "backendNodeId" in event:
            names, place = self._files.names, self._files.place
            self._dialogs.on_chooser(FileChooser(channel, event, names, place))

    def drop_closed(self) -> bool:
        """Forget the tabs whose pages have closed; return whether the one shown has: its opener is shown."""
        closed = [tab for tab in self._tabs if tab.channel.is_closed]
        shown = self.shown
        left = [tab for tab in self._tabs if tab not in closed]
        if not left:
            return False
        self._tabs = left
        if shown in closed:
            opener = shown.opener
            self.current = left.index(opener) if opener in left else len(left) - 1
            self.shown.show()
        else:
            self.current = left.index(shown)
        return shown in closed

    async def close_empty(self) -> None:
        """Close the tabs in which a download began instead of a page."""
        for tab in self._tabs[1:]:
            if tab.target in self._files.frames and tab.channel.page.url in ("", BLANK):
                await self._close(tab)

    async def _close(self, tab: PageTab) -> None:
        with contextlib.suppress(RolloutFailure):
            await tab.channel.send("Page.close")
        await tab.channel.wait_closed(CLOSE_SECONDS)

    async def change(self, action: Tab) -> None:
        """Open, show or close a tab.

        Raises:
            ActionRefused: there is no such tab, or it must not be opened or closed.
        """
        index = self.current if action.index is None else action.index
        if action.operation is TabOperation.OPEN:
            if len(self._tabs) >= MAX_TABS:
                raise ActionRefused(f"there are {MAX_TABS} tabs already")
            if action.url is not None:
                self.shown.check_origin(action.url)
            await self._open(action.url or BLANK)
            return
        if index >= len(self._tabs):
            raise ActionRefused(f"there is no tab {index}; there are {len(self._tabs)}")
        if action.operation is TabOperation.SWITCH:
            self.current = index
        elif len(self._tabs) == 1:
            raise ActionRefused("the last tab cannot be closed")
        else:
            closed = self._tabs[index]
            await self._close(closed)
            if not closed.channel.is_closed:
                raise ActionRefused(f"the tab {index} did not close: its page asked first")
            self._tabs.remove(closed)
            self.current = min(self.current, len(self._tabs) - 1)
        self.shown.show()
        await self.shown.channel.send("Page.bringToFront")

    async def _open(self, url: str) -> None:
        """Have the page open a tab, as a middle click does, and show it."""
        await self.shown.call(f"void window.open({canonical_json(url)})")
        known = len(self._tabs)
        await self.adopt_popups(at_least=1)
        if len(self._tabs) == known:
            raise ActionRefused("the tab did not open")

    async def adopt_popups(self, *, at_least: int = 0) -> None:
        """Turn windows that pages opened into tabs, and show the last; those beyond `MAX_TABS` are closed.

        A window that shows a page of its own is waited for; one that comes unannounced, as a window's own window, is
        taken with the others.
        """
        announced = max(at_least, sum(max(tab.opened, tab.asked) for tab in self._tabs))
        for tab in self._tabs:
            tab.opened = tab.asked = 0
        if announced:
            with contextlib.suppress(TimeoutError):
                async with self._patience.limit(POPUP_SECONDS):
                    while self._arrived < announced:  # noqa: ASYNC110 - also those that are closed
                        await asyncio.sleep(_LOOK_SECONDS)
        self._arrived = 0
        while self._new_pages:
            page = self._new_pages[0]  # which counts until it is a tab
            made = None if page.is_closed() else await self._attach(page, opener=self.shown)
            self._new_pages.pop(0)
            if made is not None:
                self._tabs.append(made)
                self.current = len(self._tabs) - 1
                self.shown.show()


async def _close_page(page: Page) -> None:
    with contextlib.suppress(Error):
        await page.close()
