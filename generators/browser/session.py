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

from playwright.async_api import BrowserContext
from pydantic import JsonValue

from generators.browser import untrusted_text
from generators.browser.devtools.patience import Patience
from generators.browser.devtools.websocket import Endpoint
from generators.browser.dialogs import DialogRefusal, Dialogs
from generators.browser.document_reader import DocumentReader
from generators.browser.keyboard import UnknownKey
from generators.browser.page_calls import DocumentGone
from generators.browser.protocol import Entrance, PageReader, SessionSpec
from generators.browser.session_files import SessionFiles, download_text
from generators.browser.slots import Slots, in_slot
from generators.browser.tab import ActionRefused, PageTab
from generators.browser.tabs import Tabs
from schemas.base import canonical_json, sha256_hex
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Drag,
    DropFile,
    NoAction,
    Tab,
    Wait,
    target_point,
)
from schemas.episodes.episode import BlockedRequests
from schemas.episodes.observation import Download, Effect, Observation, Screenshot, Target
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.truncation import MESSAGE_BYTES, truncate

JPEG_QUALITY = 80
"""JPEG quality of the screenshots: the cheapest to take on rich pages, with a quarter of PNG's bytes."""

USE_SECONDS = 40.0
"""Time limit of one use of a page, from its first call to the last: to open, act and settle, or look; seconds."""


GOES_ON = "The page still gets news: what came after this is in no picture yet"
"""Told after an action whose page's streams were not silent in time."""


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
        files: SessionFiles,
    ) -> None:
        self._entrance = entrance
        self._slots = slots
        self._context = context
        self._spec = spec
        self._masked_fields = canonical_json(list(spec.masks.fields) if spec.masks else [])
        self._version = version
        self._start_url = ""
        self._files = files
        patience = Patience()
        self._dialogs = Dialogs(spec, patience, lambda: self._settle(0))
        self._tabs = Tabs(
            context,
            spec,
            endpoint=endpoint,
            patience=patience,
            dialogs=self._dialogs,
            files=files,
        )
        self._done = _Done()
        self._last: Observation | None = None
        self._actions = 0

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

    @property
    def downloads(self) -> tuple[Download, ...]:
        """What its pages have downloaded so far, in order."""
        return self._files.downloads

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
                raise await self._tabs.first.channel.silence(busy) from error

    @property
    def _tab(self) -> PageTab:
        return self._tabs.shown

    async def start(self) -> None:
        """Open an empty page, before anything from a site is in the context.

        Raises:
            RolloutFailure: the browser opens none.
        """
        self._context.on("dialog", self._dialogs.on_dialog)
        await self._tabs.start()

    @in_slot
    async def open(self, url: str) -> None:
        """Load the start page under the session's clock and wait until it is complete, or asks something."""
        self._start_url = url
        await self._dialogs.watch(self._tab.load(url))

    async def close(self) -> None:
        """Close the connections to the pages. The owner closes the context before this."""
        await self._dialogs.end()
        await self._tabs.close()
        await self._files.remove()

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
        for _ in range(len(self._tabs) - 1):
            try:
                self._last = await self._look(begun)
            except RolloutFailure:
                if not self._tabs.drop_closed():
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
        titles = await self._tabs.titles()
        picture = base64.b64decode(shot["data"])
        with boundary(FailureKind.PAGE, "reading the page"):
            return Observation(
                screenshot=Screenshot(bytes=picture, path=f"{sha256_hex(picture)[:16]}.jpg"),
                width=self._spec.viewport.picture[0],
                height=self._spec.viewport.picture[1],
                page=untrusted_text.page_state(
                    state, self._spec.masks, tab=self._tabs.current, tabs=titles
                ),
                elements=untrusted_text.elements(state["elements"]),
                elements_left_out=state["leftOut"],
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
        new = self._files.take()
        told = [*self._dialogs.take_told(), *map(download_text, new)]
        if self._dialogs.open is None and self._tab.goes_on and not isinstance(action, Answer):
            told.append(GOES_ON)
        return Effect(
            error=self._done.error,
            result_text=untrusted_text.result_text(told),
            downloads=new,
            target=self._done.target,
            act_ms=(time.perf_counter() - begun) * 1_000,
        )

    async def _carry_out(self, action: Action, done: "_Done") -> None:
        """Carry out an action, and note in `done` what is known of it as soon as it is."""
        if self._tabs.drop_closed():
            await self._tab.settle(wait_ms=0)
        self._actions += 1
        if self._spec.chance is not None:
            await self._tab.channel.count_actions(self._actions)
        try:
            done.target = await self._aim(action)
            if isinstance(action, AnswerDialog):
                done.error = "there is no dialog to answer"
            elif isinstance(action, DropFile):
                await self._drop(action)
            elif isinstance(action, Tab):
                await self._tabs.change(action)
            else:
                await self._tab.perform(action, start_url=self._start_url)
        except (ActionRefused, UnknownKey) as refusal:
            done.error = truncate(str(refusal), MESSAGE_BYTES)
        if not isinstance(action, Answer | NoAction):
            await self._settle(action.ms if isinstance(action, Wait) else 0)

    async def _settle(self, wait_ms: int) -> None:
        """Follow what the page opened, let what is shown settle, and come back from what has closed itself."""
        await self._tabs.adopt_popups()
        try:
            await self._tab.settle(wait_ms=wait_ms)
        except RolloutFailure:
            if not self._tabs.drop_closed():
                raise
        await self._tabs.adopt_popups()
        if await self._dialogs.repeat_answers():
            await self._tab.settle(wait_ms=0)
        await self._files.wait()
        await self._tabs.close_empty()
        if self._tabs.drop_closed():
            await self._tab.settle(wait_ms=0)

    async def _drop(self, action: DropFile) -> None:
        """Drop a file of the task.

        Raises:
            ActionRefused: the task has no such file.
        """
        if action.name not in self._files.names:
            there = ", ".join(self._files.names) or "none"
            raise ActionRefused(f"there is no file '{action.name}'; there are: {there}")
        await self._tab.input.drop_file(action.x, action.y, self._files.place(action.name))

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
        return await self._tabs.first.channel.evaluate(expression)

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


@dataclass(slots=True)
class _Done:
    """What is known of an action that may still wait for the answer to a dialog."""

    target: Target | None = None
    """The element under its point; None for an action without one."""
    error: str | None = None
    """Why it could not be carried out; None if it was."""
