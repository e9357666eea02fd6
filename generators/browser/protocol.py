"""What a session is: a page that can be observed, acted on and, by privileged policies, read.

`Session` is the seam between the browser and the rest. Policies get its observations, rollout and
replay its `act`, sites its `evaluate`, and a privileged policy its `reader`. It is implemented
by `ChromiumSession`; tests without a browser have one over a list of pages.
"""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from pydantic import Field, JsonValue

from schemas.action import Action
from schemas.base import Record
from schemas.observation import Box, Effect, Observation


class ClockSpec(Record):
    """Virtual time: when it starts and how it passes. All in milliseconds.

    It stands still between actions; after each action it advances by `step_ms`, then by
    `settle_ms` once a frame was drawn, and it passes only while no request is in flight.
    """

    start_ms: int = 1_700_000_000_000
    """What the page's clock shows at first, Unix time."""
    load_ms: int = 1_000
    """Passes while the start page loads."""
    step_ms: int = 500
    """Passes after each action."""
    settle_ms: int = 20
    """Passes after the frame that follows."""


class SessionSpec(Record):
    """What a session is made from; with the actions, all that decides what it will show."""

    viewport_width: int
    """CSS px."""
    viewport_height: int
    """CSS px."""
    device_scale_factor: float = 1.0
    """Picture px per CSS px."""
    allowed_origins: tuple[str, ...] = Field(min_length=1)
    """The only origins it may reach, as `http://miniwob.localhost`."""
    clock: ClockSpec | None
    """Virtual time; None: real time."""

    def allows(self, url: str) -> bool:
        """Say whether an address is of an origin that the session may reach."""
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}" in self.allowed_origins


@dataclass(slots=True)
class Node:
    """One element of the rendered document, as a privileged policy may read it.

    It holds what a person with the developer tools could see: tags, attributes, text, geometry,
    computed styles and the state of form controls. No script variable is in it.
    """

    tag: str
    """Lower case; SVG tags too."""
    attrs: dict[str, str]
    """As they stand in the document."""
    text: str
    """All rendered text in it, white space collapsed."""
    own_text: str
    """Text directly in it, white space collapsed."""
    box: Box
    """CSS px of the viewport."""
    point: tuple[float, float] | None
    """A point in the viewport where a click reaches it or its inside; None if there is none."""
    shown: bool
    """It is rendered: it has a box and is neither hidden nor transparent."""
    style: dict[str, str]
    """Computed styles that carry meaning (`STYLES` in `page.js`)."""
    value: str | None = None
    """What a form control holds; None for what is none."""
    checked: bool | None = None
    """Of a checkbox or radio button; None for what is neither."""
    selected: str | None = None
    """Selection inside a text field, or the chosen option's text; None if there is none."""
    scroll: tuple[float, float, float, float] | None = None
    """scrollLeft, scrollTop, scrollWidth, scrollHeight where it can scroll; else None."""
    inner: tuple[float, float] = (0.0, 0.0)
    """clientWidth, clientHeight; of the root: the viewport's."""
    focused: bool = False
    """It has the keyboard's focus."""
    words: tuple[tuple[str, Box], ...] = ()
    """The words directly in it and where each stands; empty where it is not rendered."""
    children: list["Node"] = field(default_factory=list)
    """In document order."""

    def walk(self) -> Iterator["Node"]:
        """Yield this node and everything below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


class PageReader(Protocol):
    """Reads the rendered document, changes nothing, runs none of the page's code."""

    async def read(self) -> Node:
        """Return the document's root as it stands.

        Raises:
            RolloutFailure: the page does not answer.
        """
        ...


class Session(Protocol):
    """One isolated browser context, for one episode."""

    @property
    def reader(self) -> PageReader:
        """The privileged view; only policies that declare it are handed it."""
        ...

    @property
    def browser_version(self) -> str:
        """The browser's version."""
        ...

    @property
    def waited_seconds(self) -> float:
        """Seconds spent so far waiting for a page slot; 0 where there is no limit."""
        ...

    async def open(self, url: str) -> None:
        """Load the start page and wait until it is complete.

        Raises:
            RolloutFailure: it does not load, or not in time.
        """
        ...

    async def observe(self) -> Observation:
        """Look at the page.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        ...

    async def act(self, action: Action) -> Effect:
        """Carry out an action and let the page settle.

        What the page refuses (a point outside the viewport, a forbidden URL) is an `error` in the
        effect. `answer` and `none` do nothing.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        ...

    async def settle(self) -> None:
        """Draw what a script has just changed, and wait until the pictures it shows are there.

        Raises:
            RolloutFailure: the browser does not answer, or time does not pass.
        """
        ...

    async def evaluate(self, expression: str) -> JsonValue:
        """Evaluate JavaScript in the world of the task's own page, whichever tab is shown.

        For sites alone.

        Raises:
            RolloutFailure: it throws, or does not answer.
        """
        ...


class Sessions(Protocol):
    """Opens sessions."""

    @property
    def version(self) -> str:
        """The browser's version; empty before it was started."""
        ...

    def session(self, spec: SessionSpec) -> AbstractAsyncContextManager[Session]:
        """Open a session of its own, closed at the end whatever happens."""
        ...
