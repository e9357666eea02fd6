"""A session's DevTools calls to its page, each with a deadline.

Playwright's `evaluate`, `new_context` and `close` wait for ever when a page spins, so nothing here is
awaited without a limit, and every failure is raised as a `RolloutFailure`. Our scripts run in an isolated
world: they see the document but none of the page's variables, and the page cannot see or alter them. The
channel creates the world again after each navigation.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from playwright.async_api import Page
from pydantic import JsonValue

from generators.browser.devtools.connection import (
    CommandRefused,
    Connection,
    DevToolsError,
    Handler,
    PageClosed,
    PageCrashed,
    PageLost,
    TooMuchMemory,
    answers,
    read_json,
)
from generators.browser.devtools.patience import Patience
from generators.browser.page_scripts import read_script
from schemas.base import canonical_json
from schemas.errors import FailureKind, RolloutFailure, boundary

CALL_SECONDS = 20.0
"""Time limit of one call on a loaded machine, seconds; after it the page counts as broken."""

FRAME_SECONDS = 1.0
"""Time limit for a drawn frame, seconds; none comes while the page navigates."""

_LOOK_SECONDS = 0.01

BUSY = -1.0
"""What `Channel.frame` returns while a page works at what neither its clock nor the network decides."""

WORLD = "stepmill"
"""The name of our isolated world."""

TOLD = "stepmillTold"
"""The function by which the isolated world tells the session something; DevTools' `Runtime.bindingCalled`."""

_NO_MIDDLE_PASTE = "addEventListener('mouseup', (event) => { if (event.button === 1) event.preventDefault() }, true)"
"""Keeps a middle click from pasting the last selection of any session of the browser."""

_FUNCTIONS = (
    "page.js",
    "fields.js",
    "reader.js",
    "sight.js",
    "lists.js",
    "calendar.js",
    "pickers.js",
    "motion.js",
    "notices.js",
)
"""The scripts of the isolated world's functions, in their order."""

_GONE_MESSAGES = (
    "Cannot find context",
    "context was destroyed",
    "navigated or closed",
    "uniqueContextId",
)
"""Parts of DevTools' messages about a script whose document is gone."""


class DocumentGone(Exception):
    """The document that a script ran in was replaced while it ran."""


def to_failure(error: DevToolsError, doing: str = "") -> RolloutFailure:
    """Return the failure for a command without a result: the page's, unless the browser is gone."""
    if isinstance(error, TooMuchMemory):
        return RolloutFailure(FailureKind.BROWSER, str(error), again=False)
    own = isinstance(error, PageCrashed | PageClosed | CommandRefused)
    return RolloutFailure(FailureKind.PAGE if own else FailureKind.BROWSER, f"{doing}{error}")


class Channel:
    """DevTools calls to one page."""

    def __init__(self, page: Page, devtools: Connection, patience: Patience) -> None:
        self.page = page
        self.patience = patience
        """The limits of real time of its session."""
        self._devtools = devtools
        self._world: int | None = None
        self._count: str | None = None

    @property
    def is_closed(self) -> bool:
        """Whether the page was closed, as by itself."""
        return isinstance(self._devtools.lost, PageClosed)

    async def wait_closed(self, seconds: float) -> None:
        """Wait until the page is closed, for some seconds at most."""
        with contextlib.suppress(TimeoutError):
            async with self.patience.limit(seconds):
                while not self.is_closed:  # noqa: ASYNC110 - an event would be one more thing to undo
                    await asyncio.sleep(_LOOK_SECONDS)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each DevTools `event`."""
        self._devtools.on(event, handler)

    def on_lost(self, handler: Callable[[PageLost], None]) -> None:
        """Call `handler` with the reason as soon as the page is gone."""
        self._devtools.on_lost(handler)

    async def send(
        self,
        method: str,
        parameters: dict[str, Any] | None = None,
        *,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """Send a DevTools command and return its result.

        Raises:
            RolloutFailure: the browser refuses, is gone, or does not answer in time.
        """
        return (await self._burst(method, (parameters or {},), seconds=seconds))[0]

    async def burst(self, method: str, parameters: Sequence[dict[str, Any]]) -> None:
        """Send a command several times in order, without waiting between them.

        Raises:
            RolloutFailure: the browser refuses one, is gone, or does not answer in time.
        """
        await self._burst(method, parameters, seconds=None)

    async def _burst(
        self, method: str, parameters: Sequence[dict[str, Any]], *, seconds: float | None
    ) -> list[dict[str, Any]]:
        try:
            return await self._devtools.burst(method, parameters, seconds=seconds or CALL_SECONDS)
        except TimeoutError as error:
            raise await self.silence(f"{method}: no answer in time") from error
        except DevToolsError as error:
            raise to_failure(error, f"{method}: ") from error

    async def silence(self, message: str) -> RolloutFailure:
        """Return the failure of a silent page; it is the browser's if the browser is silent too."""
        page_only = await answers(self._devtools.endpoint)
        return RolloutFailure(FailureKind.PAGE if page_only else FailureKind.BROWSER, message)

    async def call(self, expression: str, *, seconds: float | None = None) -> Any:
        """Evaluate an expression in the isolated world of the current document.

        The value is sent as one JSON text, because every layer on the way would convert a tree of
        objects piece by piece.

        Raises:
            DocumentGone: the document was replaced before the answer came.
            RolloutFailure: the expression throws, or the page does not answer in time.
        """
        text = await self._evaluate_in_world(
            f"JSON.stringify({expression})", wait=False, seconds=seconds
        )
        with boundary(FailureKind.PAGE, "reading the page's answer"):
            return None if text is None else read_json(text)

    async def _evaluate_in_world(
        self, expression: str, *, wait: bool, seconds: float | None
    ) -> Any:
        for fresh in (False, True):
            if self._world is None or fresh:
                self._world = await self._make_world()
            try:
                return await self._evaluate(expression, self._world, wait=wait, seconds=seconds)
            except DocumentGone:
                self._world = None
                if fresh:
                    raise
        raise AssertionError  # pragma: no cover - the loop returns or raises

    async def begin(self, *, draws_lists: bool) -> None:
        """Install our functions in the isolated worlds of this and, before their scripts, later documents.

        `draws_lists` is whether open lists are drawn by us.

        Raises:
            RolloutFailure: the browser refuses, is gone, or does not answer in time.
        """
        functions = "".join(read_script("generators.browser", name) for name in _FUNCTIONS)
        if draws_lists:
            functions += "stepmill.drawLists();"
        ours = f"{_NO_MIDDLE_PASTE};if (globalThis === top) {{{functions}}}"
        await self.send(
            "Page.addScriptToEvaluateOnNewDocument", {"source": ours, "worldName": WORLD}
        )
        with contextlib.suppress(DocumentGone):
            await self._evaluate_in_world(ours, wait=False, seconds=None)

    async def count_actions(self, actions: int) -> None:
        """Tell the documents that are loaded from now on how many actions came before, for what they draw (`chance.js`).

        Raises:
            RolloutFailure: the browser refuses, is gone, or does not answer in time.
        """
        script = f"dispatchEvent(new CustomEvent('stepmill-actions', {{ detail: {actions} }}))"
        told = await self.send("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        if self._count is not None:
            await self.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._count})
        self._count = str(told["identifier"])

    async def evaluate(self, expression: str, *, seconds: float | None = None) -> JsonValue:
        """Evaluate an expression in the page's own world.

        Raises:
            RolloutFailure: the expression throws, or the page does not answer in time.
        """
        try:
            value: JsonValue = await self._evaluate(expression, None, wait=True, seconds=seconds)
        except DocumentGone as error:
            raise RolloutFailure(
                FailureKind.PAGE, "the page was replaced during the call"
            ) from error
        return value

    async def frame(self, passed_ms: int | None) -> float | None:
        """Take animations on by `passed_ms`, wait for a drawn frame, and return in how many ms the first of them ends.

        `passed_ms` is None where they move in real time. None is returned then, where nothing moves that has an
        end, and where no frame came, as while the page is replaced; `BUSY` while the page works at what real time
        decides, as a database does.
        """
        with contextlib.suppress(DocumentGone, TimeoutError):
            async with self.patience.limit(FRAME_SECONDS):
                left: float | None = await self._evaluate_in_world(
                    f"stepmill.frame({canonical_json(passed_ms)})", wait=True, seconds=None
                )
                return left
        return None

    async def _make_world(self) -> int:
        tree = await self.send("Page.getFrameTree")
        made = await self.send(
            "Page.createIsolatedWorld",
            {"frameId": tree["frameTree"]["frame"]["id"], "worldName": WORLD},
        )
        # A binding is given to the contexts that there are, and to none that comes later.
        await self.send("Runtime.removeBinding", {"name": TOLD})
        await self.send("Runtime.addBinding", {"name": TOLD, "executionContextName": WORLD})
        return int(made["executionContextId"])

    async def _evaluate(
        self, expression: str, world: int | None, *, wait: bool, seconds: float | None
    ) -> Any:
        parameters: dict[str, Any] = {
            "expression": expression,
            "returnByValue": True,
            "awaitPromise": wait,
        }
        if world is not None:
            parameters["contextId"] = world
        try:
            result = await self._devtools.send(
                "Runtime.evaluate", parameters, seconds=seconds or CALL_SECONDS
            )
        except TimeoutError as error:
            raise await self.silence("the page does not answer") from error
        except DevToolsError as error:
            message = str(error)
            if any(part in message for part in _GONE_MESSAGES):
                raise DocumentGone(message) from error
            raise to_failure(error) from error
        thrown = result.get("exceptionDetails")
        if thrown:
            text = thrown.get("exception", {}).get("description") or thrown.get("text", "")
            line = next(iter(text.splitlines()), "")
            raise RolloutFailure(FailureKind.PAGE, f"the page threw: {line[:300]}")
        return result["result"].get("value")
