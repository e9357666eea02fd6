"""What an action did, as marks on the picture of its step: where it pointed, at what, and what was typed.

`marks` gives the geometry, in pixels of the picture; `draw` draws it with Pillow, and `flows/looking/overlay.py` as SVG for
pages. Texts of marks are what a policy or a page wrote, of any length: `label` shortens them and makes their control
and direction characters visible, and both drawings use it.
"""

import io
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache

from PIL import Image, ImageDraw, ImageFont

from schemas.base import Record
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Click,
    Direction,
    Drag,
    DropFile,
    Goto,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    NoAction,
    Scroll,
    Select,
    Tab,
    TypeText,
    Wait,
    target_point,
)
from schemas.episodes.episode import Step
from schemas.episodes.observation import Box, Element
from schemas.errors import Damaged
from storage.publish.card.escape import visible

MAX_LABEL_CHARS = 60
"""The maximum length of a text on a picture."""

MAX_PIXELS = 1 << 25
"""A picture with more pixels than this is not drawn: it would take too much memory."""

COLOUR, PAPER, INK = "#d93025", "#ffffff", "#202124"
"""The colour of marks, of the ground of their texts and around them, and of these texts."""

RADIUS = 9.0
"""Of the ring around a point, px."""

LETTERS = 13
"""The size of letters, px."""

_HEAD, _PAD = 9.0, 4
_SCROLL_LENGTH = 60.0
_STEPS = {
    Direction.UP: (0.0, -1.0),
    Direction.DOWN: (0.0, 1.0),
    Direction.LEFT: (-1.0, 0.0),
    Direction.RIGHT: (1.0, 0.0),
}


class MarkKind(StrEnum):
    """What a mark shows."""

    TARGET = "target"
    """The box of the element under the pointer, or of the field that took what was typed."""
    POINTER = "pointer"
    """Where the pointer acted; the text says which button and how often, if not once with the left one."""
    DRAG = "drag"
    """An arrow from where the button was pressed to where it was released."""
    SCROLL = "scroll"
    """An arrow the way the content went on; the text says how far the page moved."""
    TYPED = "typed"
    """The text that was typed or chosen."""
    KEY = "key"
    """The key or chord that was pressed."""
    NOTE = "note"
    """An action without a place on the page, as `back` or an answer, in words."""


class Mark(Record):
    """One mark, in pixels of the picture from its top left; it may be outside of it."""

    kind: MarkKind
    """What it shows."""
    x: float
    """The left edge of a box or a text, else the point, or where an arrow begins."""
    y: float
    """The top edge, likewise; of a text its middle."""
    width: float = 0.0
    """Of a box; 0 for all else."""
    height: float = 0.0
    """Of a box; 0 for all else."""
    to_x: float | None = None
    """Where an arrow ends; None for all else."""
    to_y: float | None = None
    """Where an arrow ends; None for all else."""
    text: str = ""
    """What it says; empty: nothing. It is a page's or a model's text and may hold any character."""


def marks(step: Step, after: Step | None, *, scale: float | None = None) -> tuple[Mark, ...]:
    """Return the marks of a step's action on its picture.

    Args:
        step: the step.
        after: the next one, which shows what the action did; None: it is not known.
        scale: picture pixels per CSS pixel, the episode's `device_scale_factor`; None: it is taken from the step's
            point, and is 1 where the action has none.
    """
    found = _Marks(step, after, _scale(step) if scale is None else scale)
    return tuple(found.all())


def _scale(step: Step) -> float:
    point = target_point(step.action)
    for css, norm, pixels in zip(
        point or (0, 0), (step.x_norm, step.y_norm), (step.width, step.height), strict=True
    ):
        if css and norm:
            return norm * pixels / css
    return 1.0


class _Marks:
    """The marks of one step."""

    def __init__(self, step: Step, after: Step | None, scale: float) -> None:
        self._step = step
        self._after = after
        self._scale = scale

    def all(self) -> Iterator[Mark]:
        """Yield them, boxes first, so that what is drawn later lies above."""
        action = self._step.action
        point = target_point(action)
        box = self._box()
        if box is not None:
            left, top, width, height = (self._scale * each for each in box)
            yield Mark(kind=MarkKind.TARGET, x=left, y=top, width=width, height=height)
        at = None if point is None else (point[0] * self._scale, point[1] * self._scale)
        if isinstance(action, Scroll):
            yield self._scroll(action, at)
        elif isinstance(action, Drag):
            to_x, to_y = action.to_x * self._scale, action.to_y * self._scale
            yield self._mark(MarkKind.DRAG, at).model_copy(update={"to_x": to_x, "to_y": to_y})
        elif at is not None:
            yield self._mark(MarkKind.POINTER, at, _pointer_words(action))
        yield from self._texts(action, at, box)

    def _texts(
        self, action: Action, at: tuple[float, float] | None, box: Box | None
    ) -> Iterator[Mark]:
        """Yield the action's text: below its box, else below its point, else at the foot of the picture."""
        told = _words(action)
        if told is None:
            return
        kind, text = told
        foot = self._step.height - LETTERS
        if box is not None and kind is not MarkKind.NOTE:
            left, top, _, height = (self._scale * each for each in box)
            place = left, top + height + LETTERS
        elif at is not None:
            place = at[0] + RADIUS, at[1] + RADIUS + LETTERS
        else:
            place = 2.0 * _PAD, foot
        x = min(max(place[0], _PAD), max(self._step.width - 2.0 * _PAD, _PAD))
        yield self._mark(kind, (x, min(max(place[1], LETTERS), foot)), text)

    def _mark(self, kind: MarkKind, at: tuple[float, float] | None, text: str = "") -> Mark:
        x, y = at or (self._step.width / 2, self._step.height / 2)
        return Mark(kind=kind, x=x, y=y, text=text)

    def _scroll(self, action: Scroll, at: tuple[float, float] | None) -> Mark:
        across, down = _STEPS[action.direction]
        mark = self._mark(MarkKind.SCROLL, at, f"scroll {action.direction} {action.amount} px")
        if self._after is not None:
            before, after = self._step.page, self._after.page
            moved = abs(after.scroll_x - before.scroll_x) + abs(after.scroll_y - before.scroll_y)
            changed = self._step.screenshot_sha256 != self._after.screenshot_sha256
            told = f", the page moved {moved:.0f} px" if moved else ", nothing moved"
            mark = mark.model_copy(
                update={"text": mark.text + ("" if changed and not moved else told)}
            )
        return mark.model_copy(
            update={
                "to_x": mark.x + across * _SCROLL_LENGTH,
                "to_y": mark.y + down * _SCROLL_LENGTH,
            }
        )

    def _box(self) -> Box | None:
        """Return the box of what the action was for, CSS px: what was under the pointer, or took what was typed."""
        if self._step.target is not None and self._step.target.bbox is not None:
            return self._step.target.bbox
        if isinstance(self._step.action, TypeText | Key) and self._after is not None:
            return _field_of(self._step.elements, self._after.elements)
        return None


def _field_of(before: Sequence[Element], after: Sequence[Element]) -> Box | None:
    """Return the box of the only field whose value is another afterwards; None if there is none or several."""
    values = {(one.role, one.tag, one.bbox): one.value for one in before if one.value is not None}
    found = [
        one.bbox
        for one in after
        if values.get((one.role, one.tag, one.bbox), one.value) != one.value
    ]
    return found[0] if len(found) == 1 else None


def _pointer_words(action: Action) -> str:
    match action:
        case Click():
            often = {1: "", 2: "double", 3: "triple"}[action.count]
            return " ".join(filter(None, (often, action.button if action.button != "left" else "")))
        case Hover():
            return "hover"
    return ""


def _words(action: Action) -> tuple[MarkKind, str] | None:  # noqa: C901, PLR0911 - one line for each action
    """Return the text of an action and the kind of its mark; None for an action that says nothing but its place."""
    match action:
        case TypeText():
            return MarkKind.TYPED, f"“{action.text}”{' ⏎' if action.enter else ''}"
        case Select():
            return MarkKind.TYPED, f"“{action.option}”"
        case DropFile():
            return MarkKind.TYPED, f"file “{action.name}”"
        case Key() | KeyDown() | KeyUp():
            more = {"key_down": " down", "key_up": " up"}.get(action.type, "")
            return MarkKind.KEY, f"{action.key}{more}"
        case Answer():
            return MarkKind.NOTE, f"answer “{action.text}”" if action.text else "answer, empty"
        case AnswerDialog():
            text = "" if action.text is None else f" “{action.text}”"
            return MarkKind.NOTE, f"{'accept' if action.accept else 'dismiss'} the dialog{text}"
        case Goto():
            return MarkKind.NOTE, f"open {action.url}"
        case Tab():
            which = "" if action.index is None else f" {action.index}"
            return MarkKind.NOTE, f"{action.operation} tab{which}"
        case Wait():
            return MarkKind.NOTE, f"wait {action.ms} ms"
        case Click() | Hover() | Drag() | Scroll() | NoAction():
            return None
    return MarkKind.NOTE, action.type


def label(mark: Mark) -> str:
    """Return the text of a mark on one line, shortened, with invisible characters replaced."""
    text = visible(mark.text)
    return text if len(text) <= MAX_LABEL_CHARS else f"{text[: MAX_LABEL_CHARS - 1]}…"


def open_picture(picture: bytes) -> Image.Image:
    """Return a recorded picture, decoded, in RGB.

    Raises:
        Damaged: the bytes are no picture, or one that is too large to be drawn.
    """
    try:
        with Image.open(io.BytesIO(picture)) as recorded:
            if recorded.width * recorded.height > MAX_PIXELS:
                raise Damaged(f"the picture has {recorded.width} × {recorded.height} px: too many")
            return recorded.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise Damaged(f"the picture cannot be decoded: {error}") from None


def draw(picture: bytes, marks: Sequence[Mark], *, side: int | None = None) -> Image.Image:
    """Return a recorded picture with marks drawn on it.

    Args:
        picture: as it was recorded.
        marks: in its pixels.
        side: the length of the longer side that it is shrunk to, px; its marks keep their strength. None: as it is.

    Raises:
        Damaged: the bytes are no picture, or one that is too large to be drawn.
    """
    out = open_picture(picture)
    factor = min(1.0, (side or max(out.size)) / max(out.size))
    if factor < 1:
        size = (max(1, round(out.width * factor)), max(1, round(out.height * factor)))
        out = out.resize(size, Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(out)
    for mark in marks:
        _draw(pen, _shrink(mark, factor), out.size)
    return out


def _shrink(mark: Mark, factor: float) -> Mark:
    """Return a mark on a picture that is smaller by a factor."""
    names = ("x", "y", "width", "height", "to_x", "to_y")
    known = {name: getattr(mark, name) for name in names}
    return mark.model_copy(
        update={name: value * factor for name, value in known.items() if value is not None}
    )


def _draw(pen: ImageDraw.ImageDraw, mark: Mark, size: tuple[int, int]) -> None:
    match mark.kind:
        case MarkKind.TARGET:
            corners = (mark.x, mark.y, mark.x + mark.width, mark.y + mark.height)
            pen.rectangle(corners, outline=PAPER, width=4)
            pen.rectangle(corners, outline=COLOUR, width=2)
        case MarkKind.POINTER:
            for radius, colour, width in ((RADIUS + 1, PAPER, 5), (RADIUS, COLOUR, 3)):
                box = (mark.x - radius, mark.y - radius, mark.x + radius, mark.y + radius)
                pen.ellipse(box, outline=colour, width=width)
        case MarkKind.DRAG | MarkKind.SCROLL if mark.to_x is not None and mark.to_y is not None:
            for colour, width in ((PAPER, 6), (COLOUR, 3)):
                pen.line((mark.x, mark.y, mark.to_x, mark.to_y), fill=colour, width=width)
            pen.polygon(arrow_head(mark), fill=COLOUR, outline=PAPER)
    if mark.text:
        _write(pen, mark, size)


def _write(pen: ImageDraw.ImageDraw, mark: Mark, size: tuple[int, int]) -> None:
    text = label(mark)
    wide = pen.textlength(text, font=_font())
    x, y = text_place(mark)
    left = max(_PAD, min(x, size[0] - wide - _PAD))
    top = y - LETTERS / 2 - _PAD
    pen.rectangle((left - _PAD, top, left + wide + _PAD, top + LETTERS + 2 * _PAD), PAPER, COLOUR)
    pen.text((left, y), text, fill=INK, font=_font(), anchor="lm")


def text_place(mark: Mark) -> tuple[float, float]:
    """Return the left end and the middle of a mark's text: beside a point or an arrow, else its own place."""
    if mark.kind in (MarkKind.POINTER, MarkKind.SCROLL, MarkKind.DRAG):
        return mark.x + RADIUS + 2 * _PAD, mark.y
    return mark.x, mark.y


def arrow_head(mark: Mark) -> list[tuple[float, float]]:
    """Return the three corners of an arrow's head."""
    x, y = mark.to_x or 0.0, mark.to_y or 0.0
    across, down = x - mark.x, y - mark.y
    length = max((across**2 + down**2) ** 0.5, 1.0)
    back, side = (across / length * _HEAD, down / length * _HEAD), (-down / length, across / length)
    half = _HEAD / 2
    return [
        (x, y),
        (x - back[0] + side[0] * half, y - back[1] + side[1] * half),
        (x - back[0] - side[0] * half, y - back[1] - side[1] * half),
    ]


@cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(LETTERS)
