"""Draws the dialog that a page has opened over the picture of the page, as a browser with a window does.

A headless browser draws none, and while one is open it takes no picture. So the page is shown as it was
last photographed, under a box with the question, its field and its buttons. Clicks and keys answer it as in
a window (`dialogs.py`).
"""

import io
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from schemas.episodes.observation import Box, DialogKind, Element, OpenDialog, Sight
from schemas.truncation import LABEL_BYTES, truncate

WIDTH, TOP, PAD, GAP = 448, 8, 20, 8
LINE, TITLE_SIZE, TEXT_SIZE = 20, 15, 13
FIELD, BUTTON, BUTTON_WIDTH = 30, 32, 68
"""Sizes in CSS px."""

QUALITY = 80
"""JPEG quality, as that of the screenshots."""

_PAPER, _INK, _EDGE, _ACCENT = (255, 255, 255), (32, 33, 36), (128, 134, 139), (11, 87, 208)

BUTTONS = {
    DialogKind.ALERT: ("OK", None),
    DialogKind.CONFIRM: ("OK", "Cancel"),
    DialogKind.PROMPT: ("OK", "Cancel"),
    DialogKind.BEFOREUNLOAD: ("Leave", "Cancel"),
    DialogKind.FILE: ("Open", "Cancel"),
    DialogKind.PERMISSION: ("Allow", "Block"),
}
"""The words on the buttons that accept and dismiss; None: there is no such button."""


class DrawnDialog(NamedTuple):
    """The parts of a dialog in CSS px of the viewport."""

    box: Box
    """All of it."""
    lines: tuple[tuple[str, Box], ...]
    """Its words, a line each, with their boxes: the title first."""
    field: Box | None
    """The field of a prompt; None: it has none."""
    accept: Box
    """The button that accepts."""
    dismiss: Box | None
    """The button that dismisses; None: it has none."""


def lay_out(dialog: OpenDialog, width: int, height: int) -> DrawnDialog:
    """Return where the parts of a dialog are in a viewport of that size, CSS px."""
    wide = min(WIDTH, max(width - 2 * GAP, 2 * BUTTON_WIDTH + GAP))
    left, inner = max(0, (width - wide) // 2), wide - 2 * PAD
    field = FIELD + GAP if dialog.text is not None else 0
    room = max(1, (height - TOP - 2 * PAD - LINE - 3 * GAP - field - BUTTON) // LINE)
    title = _wrap(dialog.title, inner, size=TITLE_SIZE, room=1)[:1]
    words = [*title, *_shorten(_wrap(dialog.message, inner, size=TEXT_SIZE, room=room), room)]
    lines, y = [], TOP + PAD
    for number, line in enumerate(words):
        size = TITLE_SIZE if number < len(title) else TEXT_SIZE
        lines.append((line, (left + PAD, y, round(_font(size).getlength(line)), LINE)))
        y += LINE + (GAP if number == len(title) - 1 else 0)
    y += GAP
    at = (left + PAD, y, inner, FIELD) if field else None
    y += field + GAP
    right = left + wide - PAD
    dismiss = BUTTONS[dialog.kind][1]
    boxes = [
        (right - (n + 1) * BUTTON_WIDTH - n * GAP, y, BUTTON_WIDTH, BUTTON)
        for n in range(2 if dismiss else 1)
    ]
    return DrawnDialog(
        box=(left, TOP, wide, y + BUTTON + PAD - TOP),
        lines=tuple(lines),
        field=at,
        accept=boxes[-1],
        dismiss=boxes[0] if dismiss else None,
    )


def draw(picture: bytes | None, dialog: OpenDialog, size: tuple[int, int], scale: float) -> bytes:
    """Return a JPEG of the viewport with the dialog over it.

    `picture` is the last one of the page; None: an empty page. `size` is that of the viewport in CSS px, and
    `scale` how many pixels one of them has.
    """
    parts = lay_out(dialog, *size)
    if picture is None:
        page = Image.new("RGB", (round(size[0] * scale), round(size[1] * scale)), _PAPER)
    else:
        page = Image.open(io.BytesIO(picture)).convert("RGB")
    pen = ImageDraw.Draw(page)
    pen.rounded_rectangle(_px(parts.box, scale), 12 * scale, fill=_PAPER, outline=_EDGE)
    for number, (line, box) in enumerate(parts.lines):
        size_px = (TITLE_SIZE if number == 0 else TEXT_SIZE) * scale
        pen.text((box[0] * scale, box[1] * scale), line, _INK, _font(size_px))
    if parts.field is not None:
        pen.rounded_rectangle(_px(parts.field, scale), 4 * scale, fill=_PAPER, outline=_ACCENT)
        at = ((parts.field[0] + GAP) * scale, (parts.field[1] + GAP - 1) * scale)
        pen.text(at, _shown_in(parts.field, dialog), _INK, _font(TEXT_SIZE * scale))
    accept, dismiss = BUTTONS[dialog.kind]
    _button(pen, parts.accept, accept, scale=scale, filled=True)
    if parts.dismiss is not None and dismiss is not None:
        _button(pen, parts.dismiss, dismiss, scale=scale, filled=False)
    out = io.BytesIO()
    page.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def dialog_elements(dialog: OpenDialog, parts: DrawnDialog) -> tuple[Element, ...]:
    """Return the dialog's field and buttons, which alone can be used while it is open."""
    accept, dismiss = BUTTONS[dialog.kind]
    found = []
    if parts.field is not None:
        name = dialog.message[:80]
        held = truncate(dialog.text or "", LABEL_BYTES)
        found.append(_element("textbox", "input", name, parts.field, value=held))
    found.append(_element("button", "button", accept, parts.accept))
    if parts.dismiss is not None and dismiss is not None:
        found.append(_element("button", "button", dismiss, parts.dismiss))
    return tuple(found)


def dialog_sights(dialog: OpenDialog, parts: DrawnDialog) -> tuple[Sight, ...]:
    """Return the words that the drawn dialog shows."""
    accept, dismiss = BUTTONS[dialog.kind]
    drawn: list[tuple[str, Box | None]] = [*parts.lines, (accept, parts.accept)]
    drawn.append((dismiss or "", parts.dismiss))
    if parts.field is not None:
        drawn.append((_shown_in(parts.field, dialog), parts.field))
    return tuple(Sight(text=text, bbox=box) for text, box in drawn if text and box is not None)


def _shown_in(field: Box, dialog: OpenDialog) -> str:
    """Return as much of what a field holds as fits on its line."""
    lines = _wrap(dialog.text or "", field[2] - 2 * GAP, size=TEXT_SIZE, room=1)
    return "".join(lines[:1])


def _element(role: str, tag: str, name: str, box: Box, *, value: str | None = None) -> Element:
    return Element(
        role=role,
        name=name,
        tag=tag,
        text="" if value is not None else name,
        bbox=box,
        value=value,
        interactive=True,
        visible=1.0,
        covered=False,
    )


def _button(pen: ImageDraw.ImageDraw, box: Box, words: str, *, scale: float, filled: bool) -> None:
    fill, ink = (_ACCENT, _PAPER) if filled else (_PAPER, _ACCENT)
    pen.rounded_rectangle(
        _px(box, scale), box[3] * scale / 2, fill=fill, outline=_EDGE if not filled else _ACCENT
    )
    middle = ((box[0] + box[2] / 2) * scale, (box[1] + box[3] / 2) * scale)
    pen.text(middle, words, ink, _font(TEXT_SIZE * scale), anchor="mm")


def _px(box: Box, scale: float) -> tuple[float, float, float, float]:
    left, top, width, height = box
    return (left * scale, top * scale, (left + width) * scale - 1, (top + height) * scale - 1)


def _font(size: float) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)  # noqa: S101 - Pillow's wheels have FreeType
    return font


def _wrap(text: str, width: float, *, size: int, room: int) -> list[str]:
    """Return the first `room` lines of a text, and one more if there are more, each at most `width` CSS px wide.

    A longer word is parted.
    """
    font, lines = _font(size), list[str]()
    for paragraph in text.splitlines():
        line = ""
        for word in paragraph.split():
            rest = word
            while rest and len(lines) <= room:
                joined = f"{line} {rest}" if line else rest
                if font.getlength(joined) <= width:
                    line, rest = joined, ""
                elif line:
                    lines.append(line)
                    line = ""
                else:
                    fits = _letters_within(font, rest, width)
                    lines.append(rest[:fits])
                    rest = rest[fits:]
        if len(lines) > room:
            break
        lines.append(line)
    return lines[: room + 1]


def _letters_within(font: ImageFont.FreeTypeFont, word: str, width: float) -> int:
    """Return how many letters of a word are at most `width` wide, one at least."""
    low, high = 1, min(len(word), max(2, int(width)))
    while low < high:
        middle = (low + high + 1) // 2
        if font.getlength(word[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return low


def _shorten(lines: list[str], room: int) -> list[str]:
    return lines if len(lines) <= room else [*lines[: room - 1], "…"]
