"""What was seen: one picture, where it was taken, and the elements on it.

An observation is taken once before each action and once at the end. The screenshot's bytes are
those the browser gave; nothing is drawn on them and nothing encodes them again. A model whose
dialect takes another size is sent a resized copy, of which its call keeps the size.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Record

Box = tuple[float, float, float, float]
"""x, y, width, height in CSS pixels of the viewport."""


class Screenshot(Record):
    """An encoded picture, as Hugging Face's Image feature stores it."""

    bytes: Annotated[bytes, Field(repr=False)]
    """JPEG."""
    path: str
    """A file name for tools that want one; not a place."""


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
    """Where it is, in CSS px of the viewport; may lie outside it."""
    value: str | None = None
    """What a form control holds; None for what is none."""
    interactive: bool
    """Something one can click, type into or drag."""
    visible: float = Field(ge=0, le=1)
    """Share of its box inside the viewport."""
    covered: bool
    """Something else lies over its centre."""
    frame: str | None = None
    """URL of the frame it is in, at most 8 kB of it; None for the page itself."""


class Target(Record):
    """What lay under the pointer when an action began."""

    tag: str
    """Lower-case tag name."""
    role: str | None = None
    """ARIA role; None if it has none."""
    name: str | None = None
    """Accessible name; None if it has none."""
    text: str | None = None
    """Rendered text, shortened; None if it has none."""
    bbox: Box | None = None
    """CSS px of the viewport."""
    visible: float | None = None
    """Share of its box inside the viewport, 0–1."""
    frame: str | None = None
    """URL of the frame it is in, at most 8 kB of it; None for the page itself."""


class PageState(Record):
    """Where a page stands, as far as a replay must find it again."""

    url: str
    """On the site's stable origin; at most 8 kB of it."""
    title: str
    """Document title; at most 1 kB of it."""
    form_sha256: str | None = None
    """Hash of every form control's value and checked state; None where it could not be read."""
    focus: str | None = None
    """The focused element (`tag#id[name]` and its index among its tag); None if the body."""
    scroll_x: float
    """CSS px."""
    scroll_y: float
    """CSS px."""
    dom_sha256: str | None = None
    """Hash of the document's serialisation; None where it was not read."""


class Observation(Record):
    """One look at a session."""

    screenshot: Screenshot
    """What a person would see."""
    width: int
    """Of the picture, in its own pixels."""
    height: int
    """Of the picture, in its own pixels."""
    page: PageState
    """Where the page stands."""
    elements: tuple[Element, ...] = ()
    """What is on it, in document order."""
    observe_ms: float
    """What taking it cost, wall ms."""


class Effect(Record):
    """What carrying out an action did."""

    error: str | None = None
    """Why it could not be carried out, in a sentence for the policy; None if it was."""
    result_text: str | None = None
    """What is told to the policy beside the next picture, what dialogs said, at most 2 kB of it; None if
    nothing."""
    target: Target | None = None
    """What lay under the pointer; None for an action without a point."""
    act_ms: float
    """Wall ms, settling included."""
