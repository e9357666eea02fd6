"""A session without a browser: a list of pages, turned by acting.

For tests of everything above the browser. Each
page is a colour, so its picture is a real JPEG; each action shows the next page, the last one
stays. What is to go wrong is said by page.
"""

import contextlib
import io
from collections.abc import AsyncIterator, Sequence

from PIL import Image, ImageDraw
from pydantic import JsonValue

from generators.browser.protocol import Node, SessionSpec
from schemas.base import Record, sha256_hex
from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Forward,
    Goto,
    NoAction,
    Reload,
    Restart,
    target_point,
)
from schemas.episodes.episode import BlockedRequests
from schemas.episodes.observation import (
    Download,
    Effect,
    Observation,
    PageState,
    Screenshot,
    Sight,
    Target,
)
from schemas.errors import FailureKind, RolloutFailure

MARK = (0, 0, 15, 15)
"""Left, top, right and bottom of what every page shows beside its colour, px: one block of a JPEG."""


class Page(Record):
    """One state of a scripted session."""

    colour: tuple[int, int, int]
    """Red, green and blue of the whole picture, 0–255."""
    value: JsonValue = None
    """What the page's world answers to any expression."""
    breaks: FailureKind | None = None
    """Looking at it raises a failure of this kind; None: it does not."""


class ScriptedSession:
    """A `Session` over a list of pages."""

    browser_version = "scripted"

    def __init__(self, pages: Sequence[Page], spec: SessionSpec) -> None:
        self._pages = pages
        self._spec = spec
        self._at = 0
        self._url = ""
        self._left = False

    @property
    def _page(self) -> Page:
        return self._pages[min(self._at, len(self._pages) - 1)]

    @property
    def reader(self) -> "ScriptedSession":
        """The privileged view: an empty document."""
        return self

    async def read(self) -> Node:
        """Return a document with nothing in it."""
        return Node("html", {}, "", "", (0, 0, 0, 0), None, shown=True, style={})

    def blocked_requests(self) -> tuple[BlockedRequests, ...]:
        """Return nothing: pages of a list ask for nothing."""
        return ()

    @property
    def downloads(self) -> tuple[Download, ...]:
        """Nothing: pages of a list give nothing to keep."""
        return ()

    async def open(self, url: str) -> None:
        """Show the first page."""
        self._url, self._at = url, 0

    async def observe(self) -> Observation:
        """Return a picture of the current page."""
        if self._page.breaks is not None:
            raise RolloutFailure(self._page.breaks, "the page breaks")
        size = (self._spec.viewport_width, self._spec.viewport_height)
        out = io.BytesIO()
        picture = Image.new("RGB", size, self._page.colour)
        ImageDraw.Draw(picture).rectangle(MARK, fill="black")
        picture.save(out, "JPEG", quality=80)
        state = sha256_hex(repr(self._page).encode())
        return Observation(
            screenshot=Screenshot(bytes=out.getvalue(), path="scripted.jpg"),
            width=size[0],
            height=size[1],
            page=PageState(
                url=self._url,
                title="scripted",
                form_sha256=state,
                scroll_x=0,
                scroll_y=0,
                dom_sha256=state,
            ),
            sights=(Sight(text="", bbox=(MARK[0], MARK[1], MARK[2] - MARK[0], MARK[3] - MARK[1])),),
            observe_ms=0.0,
        )

    async def act(self, action: Action) -> Effect:
        """Show the next page; a point outside the viewport is an error and shows none."""
        point = target_point(action)
        if point is not None and not (
            point[0] < self._spec.viewport_width and point[1] < self._spec.viewport_height
        ):
            return Effect(error="that is outside the viewport", act_ms=0.0)
        if not isinstance(action, Answer | NoAction):
            self._at += 1
        self._left |= isinstance(action, Goto | Back | Forward | Reload | Restart)
        size = (0.0, 0.0, float(self._spec.viewport_width), float(self._spec.viewport_height))
        return Effect(target=Target(tag="body", bbox=size) if point else None, act_ms=0.0)

    async def settle(self) -> None:
        """Do nothing: a page of a list is as it is."""

    async def evaluate(self, expression: str) -> JsonValue:
        """Return the page's value, whatever is asked; in another document, that it was left."""
        del expression
        return "left" if self._left else self._page.value


class ScriptedSessions:
    """Hands out sessions over lists of pages, the last list again and again."""

    version = "scripted"

    def __init__(self, *scripts: Sequence[Page]) -> None:
        self._scripts = scripts
        self.opened = 0
        """Sessions handed out so far."""

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[ScriptedSession]:
        """Open a session over the next list."""
        script = self._scripts[min(self.opened, len(self._scripts) - 1)]
        self.opened += 1
        yield ScriptedSession(script, spec)
