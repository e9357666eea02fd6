"""Marks as an SVG that lies over a picture: sharp at any size, and text of pages in it is escaped."""

from collections.abc import Sequence
from html import escape

from flows.looking.marks import (
    COLOUR,
    INK,
    LETTERS,
    PAPER,
    RADIUS,
    Mark,
    MarkKind,
    arrow_head,
    label,
    text_place,
)

_LINE = 2.5


def overlay(marks: Sequence[Mark], *, width: int, height: int) -> str:
    """Return marks as an SVG element to be laid over the picture, without a style or a script of its own.

    Args:
        marks: the marks of the picture's step.
        width: of the picture, its own pixels.
        height: of the picture, its own pixels.
    """
    body = "".join(_as_svg(mark) for mark in marks)
    return (
        f'<svg class="marks" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'aria-hidden="true" font-family="sans-serif" font-size="{LETTERS}">{body}</svg>'
    )


def _as_svg(mark: Mark) -> str:
    shape = ""
    match mark.kind:
        case MarkKind.TARGET:
            place = f'x="{mark.x:.1f}" y="{mark.y:.1f}"'
            place += f' width="{mark.width:.1f}" height="{mark.height:.1f}"'
            shape = _stroke_twice("rect", place)
        case MarkKind.POINTER:
            shape = _stroke_twice("circle", f'cx="{mark.x:.1f}" cy="{mark.y:.1f}" r="{RADIUS:g}"')
        case MarkKind.DRAG | MarkKind.SCROLL if mark.to_x is not None and mark.to_y is not None:
            ends = f'x1="{mark.x:.1f}" y1="{mark.y:.1f}" x2="{mark.to_x:.1f}" y2="{mark.to_y:.1f}"'
            corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in arrow_head(mark))
            shape = f'{_stroke_twice("line", ends)}<polygon points="{corners}" fill="{COLOUR}"/>'
    if not mark.text:
        return shape
    x, y = text_place(mark)
    text = escape(label(mark))
    return (
        f'{shape}<text x="{x:.1f}" y="{y:.1f}" dominant-baseline="middle" fill="{INK}" '
        f'stroke="{PAPER}" stroke-width="4" paint-order="stroke">{text}</text>'
    )


def _stroke_twice(tag: str, place: str) -> str:
    """Return a shape twice: broad and pale, then in the colour of marks, so that it shows on any ground."""
    return "".join(
        f'<{tag} {place} fill="none" stroke="{colour}" stroke-width="{width:g}"/>'
        for colour, width in ((PAPER, 2 * _LINE), (COLOUR, _LINE))
    )
