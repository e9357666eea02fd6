"""A session in Chromium: one context for one episode, observed and acted on one page at a time.

Only `act` does anything to a page, in a rollout and a replay alike. An action that cannot be carried out
(a point outside the viewport, a forbidden address) is an error in the effect and part of the episode; a
failure of the browser or the page is a `RolloutFailure`. All text of a page passes through
`untrusted_text`.
"""

import asyncio
import base64
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from playwright.async_api import BrowserContext, Page
from pydantic import JsonValue

from generators.browser import untrusted_text
from generators.browser.devtools import Connection
from generators.browser.dialogs import DialogRefusal, Dialogs
from generators.browser.document_reader import DocumentReader
from generators.browser.keyboard import UnknownKey
from generators.browser.page_calls import CALL_SECONDS, Channel, DocumentGone
from generators.browser.page_input import Clipboard
from generators.browser.patience import Patience
from generators.browser.protocol import Entrance, PageReader, SessionSpec
from generators.browser.slots import Slots, in_slot
from generators.browser.tab import BLANK, ActionRefused, PageTab
from generators.browser.websocket import Endpoint
from schemas.base import canonical_json, sha256_hex
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Drag,
    NoAction,
    Tab,
    TabOperation,
    Wait,
    target_point,
)
from schemas.episodes.episode import BlockedRequests
from schemas.episodes.observation import Effect, Observation, Screenshot, Target
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.truncation import MESSAGE_BYTES, truncate

JPEG_QUALITY = 80
"""JPEG quality of the screenshots: the cheapest to take on rich pages, with a quarter of PNG's bytes."""

USE_SECONDS = 40.0
"""Time limit of one use of a page, from its first call to the last: to open, act and settle, or look; seconds."""

POPUP_SECONDS = 5.0
"""Time that the session waits for a window that a page announced, seconds."""

MAX_TABS = 8
"""The most open tabs; any further one that a page opens is closed."""


class ChromiumSession:
    """A `Session` in one Chromium context. `Chromium` makes and closes it."""

    def __init__(
        self,
        context: BrowserContext,
        spec: SessionSpec,
        *,
        entrance: Entrance,
        endpoint: Endpoint,
        version: str,
        slots: Slots,
    ) -> None:
        self._entrance = entrance
        self._slots = slots
        self._context = context
        self._endpoint = endpoint
        self._connections = contextlib.AsyncExitStack()
        self._spec = spec
        self._masked_fields = canonical_json(list(spec.masks.fields) if spec.masks else [])
        self._version = version
        self._start_url = ""
        self._tabs: list[PageTab] = []
        self._current = 0
        self._patience = Patience()
        self._dialogs = Dialogs(spec, self._patience)
        self._done = _Done()
        self._last: Observation | None = None
        self._clipboard = Clipboard()
        self._new_pages: asyncio.Queue[Page] = asyncio.Queue()

    @property
    def reader(self) -> PageReader:
        """The privileged view of the current tab."""
        return DocumentReader(self._tab.channel, slot=self.slot)

    @property
    def browser_version(self) -> str:
        """The browser's version."""
        return self._version

    def blocked_requests(self) -> tuple[BlockedRequests, ...]:
        """Return the requests to unserved hosts so far, by host name."""
        return self._entrance.blocked_requests()

    @contextlib.asynccontextmanager
    async def slot(self, *, waiting_ms: int = 0) -> AsyncIterator[None]:
        """Hold a page slot, and use the page for a limited time and `waiting_ms`.

        Raises:
            RolloutFailure: the page used up its time.
        """
        async with self._slots.hold():
            try:
                async with asyncio.timeout(USE_SECONDS + waiting_ms / 1_000):
                    yield
            except TimeoutError as error:
                busy = f"the page was still busy after {USE_SECONDS:g} s"
                raise await self._tabs[0].channel.silence(busy) from error

    @property
    def _tab(self) -> PageTab:
        return self._tabs[self._current]

    async def start(self) -> None:
        """Open an empty page, before anything from a site is in the context.

        Raises:
            RolloutFailure: the browser opens none.
        """
        self._context.on("dialog", self._dialogs.on_dialog)
        with boundary(FailureKind.BROWSER, "opening a page"):
            async with asyncio.timeout(CALL_SECONDS):
                page = await self._context.new_page()
        self._tabs = [await self._attach(page, opener=None)]
        self._context.on("page", self._new_pages.put_nowait)

    @in_slot
    async def open(self, url: str) -> None:
        """Load the start page under the session's clock and wait until it is complete, or asks something."""
        self._start_url = url
        await self._dialogs.watch(self._tab.load(url))

    async def _attach(self, page: Page, *, opener: PageTab | None) -> PageTab:
        with boundary(FailureKind.BROWSER, "attaching to a page"):
            async with self._patience.limit(CALL_SECONDS):
                cdp = await self._context.new_cdp_session(page)
                target = (await cdp.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
                connection = await self._connections.enter_async_context(
                    Connection.open_page(self._endpoint, target, self._patience)
                )
        return await PageTab.attach(
            Channel(page, connection, self._patience),
            spec=self._spec,
            opener=opener,
            clipboard=self._clipboard,
        )

    async def close(self) -> None:
        """Close the connections to the pages. The owner closes the context before this."""
        await self._dialogs.end()
        await self._connections.aclose()

    @in_slot
    async def observe(self) -> Observation:
        """Take a picture and read the page; of one that has closed itself meanwhile, its opener.

        While a dialog is open, the observation shows it over the page as it was last seen.
        """
        begun = time.perf_counter()
        if self._dialogs.open is None:
            await self._dialogs.watch(self._observe(begun))
        if self._dialogs.open is not None:
            return self._dialogs.show(self._last, begun=begun)
        assert self._last is not None  # noqa: S101 - it was just taken
        return self._last

    async def _observe(self, begun: float) -> None:
        for _ in self._tabs[1:]:
            try:
                self._last = await self._look(begun)
            except RolloutFailure:
                if not self._drop_closed():
                    raise
                await self._tab.settle(wait_ms=0)
            else:
                return
        self._last = await self._look(begun)

    async def _look(self, begun: float) -> Observation:
        tab = self._tab
        shot = await tab.channel.send(
            "Page.captureScreenshot", {"format": "jpeg", "quality": JPEG_QUALITY}
        )
        try:
            state = await tab.channel.call(f"stepmill.observe({self._masked_fields})")
        except DocumentGone as error:
            raise RolloutFailure(
                FailureKind.PAGE, "the page was replaced twice during the call"
            ) from error
        titles = [await one.title() for one in self._tabs] if self._tabs[1:] else []
        picture = base64.b64decode(shot["data"])
        with boundary(FailureKind.PAGE, "reading the page"):
            return Observation(
                screenshot=Screenshot(bytes=picture, path=f"{sha256_hex(picture)[:16]}.jpg"),
                width=self._spec.viewport.picture[0],
                height=self._spec.viewport.picture[1],
                page=untrusted_text.page_state(
                    state, self._spec.masks, tab=self._current, tabs=titles
                ),
                elements=untrusted_text.elements(state["elements"]),
                sights=untrusted_text.sights(state["sights"]),
                observe_ms=(time.perf_counter() - begun) * 1_000,
            )

    async def act(self, action: Action) -> Effect:
        """Carry out an action and let the page settle."""
        waiting_ms = action.ms if isinstance(action, Wait) and self._spec.clock is None else 0
        async with self.slot(waiting_ms=waiting_ms):
            return await self._act(action)

    async def _act(self, action: Action) -> Effect:
        begun = time.perf_counter()
        if isinstance(action, Answer):
            await self._dialogs.answer_by_default()
        if self._dialogs.open is None:
            self._done = _Done()
            await self._dialogs.watch(self._carry_out(action, self._done))
        else:
            self._done.error, self._done.target = None, self._dialogs.aimed_at(action)
            try:
                await self._dialogs.answer(action)
            except DialogRefusal as refusal:
                self._done.error = truncate(str(refusal), MESSAGE_BYTES)
        return Effect(
            error=self._done.error,
            result_text=self._dialogs.take_told(),
            target=self._done.target,
            act_ms=(time.perf_counter() - begun) * 1_000,
        )

    async def _carry_out(self, action: Action, done: "_Done") -> None:
        """Carry out an action, and note in `done` what is known of it as soon as it is."""
        if self._drop_closed():
            await self._tab.settle(wait_ms=0)
        try:
            done.target = await self._aim(action)
            if isinstance(action, AnswerDialog):
                done.error = "there is no dialog to answer"
            elif isinstance(action, Tab):
                await self._change_tabs(action)
            else:
                await self._tab.perform(action, start_url=self._start_url)
        except (ActionRefused, UnknownKey) as refusal:
            done.error = truncate(str(refusal), MESSAGE_BYTES)
        if not isinstance(action, Answer | NoAction):
            await self._settle(action.ms if isinstance(action, Wait) else 0)

    async def _settle(self, wait_ms: int) -> None:
        """Follow what the page opened, let what is shown settle, and come back from what has closed itself."""
        await self._adopt_popups()
        try:
            await self._tab.settle(wait_ms=wait_ms)
        except RolloutFailure:
            if not self._drop_closed():
                raise
        await self._adopt_popups()
        if self._drop_closed():
            await self._tab.settle(wait_ms=0)

    def _drop_closed(self) -> bool:
        """Forget the tabs whose pages have closed themselves; return whether the current one has: its opener is shown."""
        closed = [tab for tab in self._tabs if tab.channel.is_closed]
        shown = self._tab
        left = [tab for tab in self._tabs if tab not in closed]
        if not left:
            return False
        self._tabs = left
        if shown in closed:
            opener = shown.opener
            self._current = left.index(opener) if opener in left else len(left) - 1
            self._tab.show()
        else:
            self._current = left.index(shown)
        return shown in closed

    @in_slot
    async def settle(self) -> None:
        """Draw what a script has just changed, and wait until the page's images have loaded."""
        if self._dialogs.open is None:
            await self._dialogs.watch(self._tab.rest())

    @in_slot
    async def evaluate(self, expression: str) -> JsonValue:
        """Evaluate JavaScript in the main world of the first tab, the task's own page.

        A dialog that is open gets its default answer first, because the page stands still until then.
        """
        await self._dialogs.answer_by_default()
        return await self._tabs[0].channel.evaluate(expression)

    async def _aim(self, action: Action) -> Target | None:
        """Return the element under the action's point, and refuse points outside the viewport."""
        ends = [target_point(action)]
        if isinstance(action, Drag):
            ends.append((action.to_x, action.to_y))
        for end in ends:
            width, height = self._spec.viewport_width, self._spec.viewport_height
            if end is not None and not (end[0] < width and end[1] < height):
                raise ActionRefused(
                    f"({end[0]:g}, {end[1]:g}) is outside the {width}×{height} viewport"
                )
        if ends[0] is None:
            return None
        x, y = ends[0]
        found = await self._tab.call(f"stepmill.target({x},{y})")
        with boundary(FailureKind.PAGE, "reading the page"):
            return untrusted_text.target(found)

    async def _change_tabs(self, action: Tab) -> None:
        index = self._current if action.index is None else action.index
        if action.operation is TabOperation.OPEN:
            if len(self._tabs) >= MAX_TABS:
                raise ActionRefused(f"there are {MAX_TABS} tabs already")
            if action.url is not None:
                self._tab.check_origin(action.url)
            await self._open_tab(action.url or BLANK)
            return
        if index >= len(self._tabs):
            raise ActionRefused(f"there is no tab {index}; there are {len(self._tabs)}")
        if action.operation is TabOperation.SWITCH:
            self._current = index
        elif len(self._tabs) == 1:
            raise ActionRefused("the last tab cannot be closed")
        else:
            closed = self._tabs.pop(index)
            await closed.channel.send("Page.close")
            self._current = min(self._current, len(self._tabs) - 1)
        self._tab.show()
        await self._tab.channel.send("Page.bringToFront")

    async def _open_tab(self, url: str) -> None:
        """Have the page open a tab, as a middle click does, and show it."""
        await self._tab.call(f"void window.open({canonical_json(url)})")
        known = len(self._tabs)
        await self._adopt_popups(at_least=1)
        if len(self._tabs) == known:
            raise ActionRefused("the tab did not open")

    async def _adopt_popups(self, *, at_least: int = 0) -> None:
        """Turn windows that pages opened into tabs, and show the last; close those beyond `MAX_TABS`."""
        announced = max(at_least, sum(tab.opened for tab in self._tabs))
        for tab in self._tabs:
            tab.opened = 0
        if not announced:
            return
        with contextlib.suppress(TimeoutError):
            async with self._patience.limit(POPUP_SECONDS):
                for _ in range(announced):
                    page = await self._new_pages.get()
                    if len(self._tabs) >= MAX_TABS:
                        await page.close()
                        continue
                    self._tabs.append(await self._attach(page, opener=self._tab))
                    self._current = len(self._tabs) - 1
        self._tab.show()


@dataclass(slots=True)
class _Done:
    """What is known of an action that may still wait for the answer to a dialog."""

    target: Target | None = None
    """The element under its point; None for an action without one."""
    error: str | None = None
    """Why it could not be carried out; None if it was."""
