"""The protocol of a session: a page that callers observe, act on and, if privileged, read.

`Session` is the seam between the browser and the rest. Policies get its observations, the rollout and
the replay call `act`, sites call `evaluate`, and a privileged policy gets `reader`. `ChromiumSession`
implements it; tests without a browser have one over a list of pages.
"""

import itertools
import posixpath
import socket
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from pydantic import Field, JsonValue

from schemas.base import Record
from schemas.configuration.masks import Masks
from schemas.episodes.action import Action
from schemas.episodes.episode import BlockedRequests
from schemas.episodes.observation import Box, Download, Effect, Observation
from schemas.episodes.viewport import Viewport
from schemas.page_facts import NO_FACTS, PageFacts, says_nothing
from schemas.tasks.task_file import TaskFile

PRODUCT = "chromium"
"""The name of the browser in episodes."""


class ClockSpec(Record):
    """Settings of a virtual clock, in milliseconds.

    The clock stands still between actions. After each action it advances by `step_ms`, and once a frame
    was drawn by `settle_ms`; it advances only while no request is in flight.
    """

    start_ms: int = 1_700_000_000_000
    """The time at which the page's clock starts, Unix time."""
    load_ms: int = 1_000
    """Time that passes while the start page loads."""
    step_ms: int = 500
    """Time that passes after each action."""
    settle_ms: int = 20
    """Time that passes after the frame that follows."""


class Cookie(Record):
    """A cookie that a session's browser has from the beginning; it belongs to no record of an episode."""

    url: str
    """An address of the origin that it is for."""
    name: str
    """Its name."""
    value: str
    """Its value, most often a secret."""
    http_only: bool = True
    """Pages' scripts cannot read it."""
    domain: str = ""
    """The domain whose hosts all get it; empty: the host of `url` alone does."""


class SignIn(Record):
    """The cookies and storage of a logged-in session; never recorded."""

    cookies: tuple[Cookie, ...] = ()
    """The cookies."""
    storage: Mapping[str, Mapping[str, str]] = Field(default_factory=dict)
    """The initial `localStorage` of the pages of each origin."""


class SessionSpec(Record):
    """Everything besides the actions that determines a session."""

    viewport_width: int
    """CSS px."""
    viewport_height: int
    """CSS px."""
    device_scale_factor: float = 1.0
    """Picture px per CSS px."""
    allowed_origins: tuple[str, ...] = Field(min_length=1)
    """The only origins that its pages may reach, as `http://miniwob.localhost`."""
    allowed_paths: tuple[str, ...] = ()
    """The only paths that an action may open there; a path that ends with `/` includes everything below it.
    Empty: any."""
    clock: ClockSpec | None
    """Virtual time; None: real time."""
    masks: Masks | None = Field(default=None, exclude=True)
    """Parts left out of the hashes of pages; recorded with the visit. None: there are none."""
    sign_in: SignIn | None = Field(default=None, exclude=True, repr=False)
    """The cookies and storage that log the session in; never recorded. None: no login."""
    draws_lists: bool = True
    """Whether open lists, suggestions and words on wrong fields are drawn into the page, and permissions are asked
    for; false in replays of earlier versions, which left them to the browser."""
    chance: str | None = Field(default=None, exclude_if=lambda chance: chance is None)
    """The seed of what its pages draw by chance; None, and then not recorded: the browser draws, as in episodes of
    earlier versions."""
    page: PageFacts = Field(default=NO_FACTS, exclude_if=says_nothing)
    """What its pages find out about their user; not recorded where nothing is set."""
    files: tuple[TaskFile, ...] = Field(default=(), exclude=True, repr=False)
    """The files of the task, which alone its pages may be given; recorded with the task."""

    @property
    def viewport(self) -> Viewport:
        """The same sizes as a viewport."""
        return Viewport(
            width=self.viewport_width, height=self.viewport_height, scale=self.device_scale_factor
        )

    def has_origin(self, url: str) -> bool:
        """Return whether this address is on an allowed origin; false for an invalid address."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        return f"{parts.scheme}://{parts.netloc}" in self.allowed_origins

    def allows(self, url: str) -> bool:
        """Return whether an action may open this address."""
        if not self.has_origin(url):
            return False
        parts = urlsplit(url)
        return not self.allowed_paths or any(
            posixpath.normpath(parts.path).startswith(allowed)
            if allowed.endswith("/")
            else parts.path == allowed
            for allowed in self.allowed_paths
        )


@dataclass(slots=True)
class Node:
    """One element of the rendered document, as a privileged policy may read it.

    It holds what the browser's developer tools show: tags, attributes, text, geometry, computed styles
    and the state of form controls. It holds no script variable.
    """

    tag: str
    """The tag in lower case, for SVG too."""
    attrs: dict[str, str]
    """The attributes by name, as in the document."""
    text: str
    """All rendered text in the element, white space collapsed."""
    own_text: str
    """Text directly in the element, white space collapsed."""
    box: Box
    """CSS px of the viewport."""
    point: tuple[float, float] | None
    """A point of the viewport where a click hits the element or a descendant; None: no such point exists."""
    shown: bool
    """Whether it is rendered: it has a box and is neither hidden nor transparent."""
    style: dict[str, str]
    """Computed styles that carry meaning (`STYLES` in `page.js`); shared by the elements that have the same."""
    value: str | None = None
    """The value of a form control; None for other elements."""
    checked: bool | None = None
    """Whether a checkbox or radio button is checked; None for other elements."""
    selected: str | None = None
    """The selected text of a text field, or the text of the chosen option; None for other elements, or
    without a selection."""
    scroll: tuple[float, float, float, float] | None = None
    """scrollLeft, scrollTop, scrollWidth, scrollHeight; None if it cannot scroll."""
    inner: tuple[float, float] = (0.0, 0.0)
    """clientWidth, clientHeight; of the root: the viewport's."""
    focused: bool = False
    """Whether it has the keyboard's focus."""
    words: tuple[tuple[str, Box], ...] = ()
    """The words directly in it, each with its box; empty if it is not rendered."""
    is_cut: bool = False
    """Whether some of its text cannot be read in the picture; of a document as the browser has it, nothing is said."""
    children: list["Node"] = field(default_factory=list)
    """The children in document order."""
    key: int = field(default_factory=itertools.count(1).__next__)
    """The same number whenever the same element is read, and that of no other one. It says nothing else."""

    def walk(self) -> Iterator["Node"]:
        """Yield this node and everything below it, in document order."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.children)


class PageReader(Protocol):
    """Reads the rendered document, changes nothing, runs none of the page's code."""

    async def read(self) -> Node:
        """Return the current document's root.

        Raises:
            RolloutFailure: the page does not answer.
        """
        ...


class Session(Protocol):
    """One isolated browser context, for one episode."""

    @property
    def reader(self) -> PageReader:
        """The privileged view; only policies that declare themselves privileged get it."""
        ...

    @property
    def browser_version(self) -> str:
        """The browser's version."""
        ...

    def blocked_requests(self) -> tuple[BlockedRequests, ...]:
        """Return the requests to unserved hosts so far, by host name."""
        ...

    @property
    def downloads(self) -> tuple[Download, ...]:
        """What its pages have downloaded so far, in order."""
        ...

    async def open(self, url: str) -> None:
        """Load the start page and wait until it is complete.

        Raises:
            RolloutFailure: it does not load, or not in time.
        """
        ...

    async def observe(self) -> Observation:
        """Take a screenshot and read the page's state.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        ...

    async def act(self, action: Action) -> Effect:
        """Carry out an action and let the page settle.

        Forbidden actions (a point outside the viewport, a forbidden URL) are an `error` in the effect.
        `answer` and `none` do nothing.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        ...

    async def settle(self) -> None:
        """Draw what a script has just changed, and wait until the page's images have loaded.

        Raises:
            RolloutFailure: the browser does not answer, or time does not pass.
        """
        ...

    async def evaluate(self, expression: str) -> JsonValue:
        """Evaluate JavaScript in the main world of the task's own page, whichever tab is shown.

        Only sites call it.

        Raises:
            RolloutFailure: it throws, or does not answer.
        """
        ...


class Entrance(Protocol):
    """One session's proxy to the sites."""

    @property
    def port(self) -> int:
        """The port on 127.0.0.1 of its SOCKS5 proxy."""
        ...

    def blocked_requests(self) -> tuple[BlockedRequests, ...]:
        """Return the refused requests by host name."""
        ...


class Network(Protocol):
    """The server at which a browser's connections end."""

    @property
    def port(self) -> int:
        """The port on 127.0.0.1 for connections that bypass a proxy."""
        ...

    @property
    def certificate(self) -> str:
        """The fingerprint of its certificate's key (SHA-256 of the SubjectPublicKeyInfo, in base64)."""
        ...

    def enter(self, made: socket.socket | None = None) -> AbstractAsyncContextManager[Entrance]:
        """Open an entrance for one session, and close it at the end of the context.

        It listens on `made`, a fresh TCP socket of the browser's network namespace; None: on a socket of
        this program.
        """
        ...


class Sessions(Protocol):
    """Opens sessions."""

    @property
    def version(self) -> str:
        """The browser's version; empty before it was started."""
        ...

    def session(self, spec: SessionSpec) -> AbstractAsyncContextManager[Session]:
        """Open a session, which is closed at the end whatever happens."""
        ...
