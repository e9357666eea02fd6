"""An observation: one picture, the state of the page, and the elements on it.

An observation is taken once before each action and once at the end. The screenshot is stored byte by
byte as the browser encoded it. A model whose dialect needs another size gets a resized copy, and its
call records that size.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import Field

from schemas.base import Record
from schemas.columns import AsJson, Int32

Box = tuple[float, float, float, float]
"""x, y, width, height in CSS pixels of the viewport."""

UNPARTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts that do not part words, for a class of a regular expression."""


class Screenshot(Record):
    """An encoded picture, in the form of Hugging Face's Image feature."""

    bytes: Annotated[bytes, Field(repr=False)]
    """JPEG."""
    path: str
    """A file name for tools that need one; no such file exists."""


class Element(Record):
    """One visible or interactive thing on the page."""

    role: str
    """ARIA role, explicit or implied by the tag; empty if none."""
    name: str
    """Accessible name, shortened."""
    tag: str
    """Lower-case tag name."""
    text: str
    """Own rendered text, shortened."""
    bbox: Box
    """Its box in CSS px of the viewport; may be outside the viewport."""
    value: str | None = None
    """The value of a form control; None for other elements."""
    interactive: bool
    """Whether one can click it, type into it or drag it."""
    visible: float = Field(ge=0, le=1)
    """Share of its box inside the viewport."""
    covered: bool
    """Whether another element covers its centre."""
    frame: str | None = None
    """URL of the frame that it is in, at most 8 kB; None for the page itself."""


def holds(box: Box, point: tuple[float, float]) -> bool:
    """Return whether a point is in a box or on its edge."""
    left, top, width, height = box
    return left <= point[0] <= left + width and top <= point[1] <= top + height


def element_at(elements: Iterable[Element], point: tuple[float, float] | None) -> Element | None:
    """Return the smallest usable element at a point; None if no element is there, or `point` is None."""
    found = [
        one
        for one in elements
        if point is not None and one.interactive and not one.covered and holds(one.bbox, point)
    ]
    return min(found, key=lambda one: one.bbox[2] * one.bbox[3], default=None)


class Sight(Record):
    """A text that the picture shows, or a drawn thing without text."""

    text: str
    """Words that stand on one line, at most 1 kB; empty for a drawn thing."""
    bbox: Box
    """Its box in CSS px of the viewport, whole."""


class Target(Record):
    """The element under the pointer when an action began."""

    tag: str
    """Lower-case tag name."""
    role: str | None = None
    """ARIA role; None if it has none."""
    name: str | None = None
    """Its label in the picture, else its text there, shortened; None if the picture shows neither."""
    text: str | None = None
    """The text that the picture shows in its box, shortened; None if it shows none."""
    bbox: Box | None = None
    """CSS px of the viewport."""
    visible: float | None = None
    """Share of its box inside the viewport, 0–1."""
    frame: str | None = None
    """URL of the frame that it is in, at most 8 kB; None for the page itself."""


class DialogKind(StrEnum):
    """What a page asks with a dialog."""

    ALERT = "alert"
    """It tells something, and waits until it was read."""
    CONFIRM = "confirm"
    """Yes or no."""
    PROMPT = "prompt"
    """A text."""
    BEFOREUNLOAD = "beforeunload"
    """Whether to leave the page and lose what was changed."""
    PERMISSION = "permission"
    """Whether it may do what its browser asks for first; the page does not stand still."""
    FILE = "file"
    """Which of the task's files the page gets; the page does not stand still."""


class OpenDialog(Record):
    """A dialog that a page has opened and that waits for its answer, as the picture shows it."""

    kind: DialogKind
    """What it asks."""
    title: str
    """The line above its message, which names who asks, at most 1 kB."""
    message: str
    """What it says, at most 2 kB."""
    text: str | None = None
    """What its field holds, as the names of files, a line each; None: it has no field."""


class PageState(Record):
    """The state of a page, as far as a replay must reproduce it."""

    url: str
    """The address, on the site's stable origin, at most 8 kB."""
    title: str
    """The document's title, at most 1 kB."""
    form_sha256: str | None = None
    """Hash of the values and checked states of all form controls; None if they could not be read."""
    focus: str | None = None
    """The focused element (`tag#id[name]` and its index among its tag); None if the body."""
    scroll_x: float
    """CSS px."""
    scroll_y: float
    """CSS px."""
    dom_sha256: str | None = None
    """Hash of the serialised document; None if it was not read."""
    dialog: Annotated[OpenDialog | None, AsJson()] = None
    """The dialog that is open: the page stands still, and its other fields are those of before; None: none is."""
    tab: Annotated[int | None, Int32] = None
    """Which tab is shown, from 0; None where an earlier version recorded it."""
    tabs: tuple[str, ...] | None = None
    """The titles of the tabs, each at most 1 kB; empty where there is only one, None where an earlier version
    recorded it."""


class Observation(Record):
    """One observation of a session."""

    screenshot: Screenshot
    """The picture of the viewport."""
    width: int
    """Of the picture, in its own pixels."""
    height: int
    """Of the picture, in its own pixels."""
    page: PageState
    """The state of the page."""
    elements: tuple[Element, ...] = ()
    """The elements of the page, in document order: those in sight, and as far as there is room those near."""
    elements_left_out: int = 0
    """How many more elements the page has, for which there was no room."""
    sights: tuple[Sight, ...] | None = None
    """The visible texts and drawn things, in document order; None if they were not recorded."""
    observe_ms: float
    """Duration of taking the observation, wall ms."""


class Download(Record):
    """A file that a page gave to the browser to keep."""

    name: str
    """The name that the page or the server suggests, without a folder, at most 255 bytes."""
    media_type: str
    """As the name says it, as `text/csv`; `application/octet-stream` where it says nothing."""
    size: int | None = Field(default=None, ge=0)
    """Bytes; None: it was not kept."""
    sha256: str | None = None
    """Of the contents; None: it was not kept."""
    base64: str | None = None
    """The contents in base64; None: it was not kept, or is larger than what rows hold."""
    problem: str | None = None
    """Why it was not kept; None: it was."""


class Effect(Record):
    """The effect of an action."""

    error: str | None = None
    """Why it could not be carried out, in a sentence for the policy; None if it was."""
    result_text: str | None = None
    """What the page said in dialogs and gave to download, shown to the policy beside the next picture, at most
    2 kB; None: nothing."""
    downloads: tuple[Download, ...] = ()
    """What was downloaded meanwhile."""
    target: Target | None = None
    """The element under the pointer; None for an action without a point."""
    act_ms: float
    """Duration of the action, settling included, wall ms."""


class Look(Protocol):
    """A picture and the state of the page: an observation, or the step that recorded it."""

    @property
    def screenshot(self) -> Screenshot:
        """The picture of the viewport."""
        ...

    @property
    def page(self) -> PageState:
        """The state of the page."""
        ...

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements of the page."""
        ...

    @property
    def sights(self) -> tuple[Sight, ...] | None:
        """The visible texts and drawn things; None if they were not recorded."""
        ...


def visible_state(look: Look) -> tuple[bytes, str | None, str | None, str]:
    """Return the parts of a look that distinguish it from another one: picture, document, form and address."""
    return (look.screenshot.bytes, look.page.dom_sha256, look.page.form_sha256, look.page.url)
