"""The parts that the drawn pictures of benches share: a page with its title, text and dots. Equal parts give the same bytes."""

from collections.abc import Iterable
from html import escape

WIDTH, HEIGHT = 760, 430
INK, SOFT, RULE = "#202124", "#5f6368", "#e3e5e8"


def page(title: str, subtitle: str, body: Iterable[str], *, size: int) -> str:
    """Return a picture with its title, and below it a line of the given size, px."""
    lines = (
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="13" fill="{INK}" role="img">'
        ),
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text(20, 30, title, size=17, weight="bold"),
        text(20, 52, subtitle, colour=SOFT, size=size),
        *body,
        "</svg>",
        "",
    )
    return "\n".join(lines)


def dot(x: float, y: float, colour: str) -> str:
    """Return a filled circle with a white edge; `x` and `y` in px."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}" stroke="#ffffff" stroke-width="2"/>'


def text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    colour: str = INK,
    size: int = 13,
    weight: str = "normal",
) -> str:
    """Return words at a place, px."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )
