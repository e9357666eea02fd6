"""Scenes, strips and charts for the pages of worlds, as SVG in the colours of their stylesheets.

Each is derived from a text alone. Charts have no numbers and random data.
"""

from functools import lru_cache
from random import Random

from generators.worlds.rendering.pictures import draw_row
from schemas.worlds.world import Picture

_ACCENT, _SOFT, _LINE, _PANEL = "var(--accent)", "var(--tint)", "var(--line)", "var(--panel)"
_WIDTH, _HEIGHT = 480, 240
"""The size of a scene."""


def svg_of(inner: str, name: str, width: int, height: int) -> str:
    """Return an SVG of the given size in its own units; `name` is its class."""
    return f'<svg class="{name}" viewBox="0 0 {width} {height}" aria-hidden="true">{inner}</svg>'


@lru_cache(maxsize=256)
def draw_scene(of: str) -> str:
    """Return a scene."""
    rng = Random(f"scene {of}")
    inner = rng.choice((_hills, _skyline, _circles, _window, _waves, _shelves, _tiles, _group))(rng)
    ground = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="{_SOFT}"/>'
    return svg_of(ground + inner, "scene", _WIDTH, _HEIGHT)


@lru_cache(maxsize=128)
def draw_band(of: str) -> str:
    """Return a strip with a pattern."""
    rng = Random(f"band {of}")
    inner = rng.choice((_circles, _waves, _tiles))(rng)
    return svg_of(f'<rect width="{_WIDTH}" height="80" fill="{_SOFT}"/>{inner}', "band", _WIDTH, 80)


def _opacity(rng: Random) -> str:
    return f"{rng.uniform(0.25, 0.9):.2f}"


def _hills(rng: Random) -> str:
    sun = f'<circle cx="{rng.randint(60, 420)}" cy="{rng.randint(40, 90)}" r="{rng.randint(18, 40)}" fill="#f2b84b"/>'
    return sun + "".join(
        f'<path d="M0 {_HEIGHT}V{rng.randint(90, 160) + 25 * at}Q{rng.randint(90, 200)} {rng.randint(50, 120) + 25 * at} 260'
        f' {rng.randint(110, 160) + 20 * at}T480 {rng.randint(110, 170) + 15 * at}V{_HEIGHT}z" fill="{_ACCENT}" opacity="{0.3 + 0.25 * at:.2f}"/>'
        for at in range(3)
    )


def _skyline(rng: Random) -> str:
    out, x = "", 0
    while x < _WIDTH:
        width, top = rng.randint(30, 70), rng.randint(50, 180)
        out += f'<path d="M{x} {_HEIGHT}V{top}h{width}V{_HEIGHT}z" fill="{_ACCENT}" opacity="{_opacity(rng)}"/>'
        out += "".join(
            f'<path d="M{x + 8} {y}h{width - 16}" stroke="{_PANEL}" stroke-width="5" stroke-dasharray="6 7"/>'
            for y in range(top + 16, _HEIGHT - 10, 22)
        )
        x += width + rng.choice((0, 0, 6))
    return out


def _circles(rng: Random) -> str:
    return "".join(
        f'<circle cx="{rng.randint(0, _WIDTH)}" cy="{rng.randint(0, _HEIGHT)}" r="{rng.randint(14, 90)}" fill="{_ACCENT}" opacity="{_opacity(rng)}"/>'
        for _ in range(rng.randint(5, 11))
    )


def _window(rng: Random) -> str:
    left = rng.randint(60, 120)
    lines = "".join(
        f'<rect x="{left + 130}" y="{y}" width="{rng.randint(60, 190)}" height="12" rx="3" fill="{rng.choice((_ACCENT, _LINE))}"/>'
        for y in range(84, 200, 24)
    )
    return (
        f'<rect x="{left}" y="30" width="340" height="190" rx="8" fill="{_PANEL}" stroke="{_LINE}" stroke-width="2"/>'
        f'<path d="M{left} 60h340" stroke="{_LINE}" stroke-width="2"/>'
        f'<circle cx="{left + 18}" cy="45" r="5" fill="{_ACCENT}"/><circle cx="{left + 36}" cy="45" r="5" fill="{_LINE}"/>'
        f'<rect x="{left + 16}" y="76" width="96" height="{rng.randint(70, 128)}" rx="4" fill="{_ACCENT}" opacity=".6"/>{lines}'
    )


def _waves(rng: Random) -> str:
    step = rng.choice((18, 24, 32))
    return "".join(
        f'<path d="M-20 {y}q40 {-rng.randint(10, 40)} 80 0t80 0 80 0 80 0 80 0 80 0 80 0" fill="none" stroke="{_ACCENT}"'
        f' stroke-width="{rng.randint(2, 9)}" opacity="{_opacity(rng)}"/>'
        for y in range(20, _HEIGHT, step)
    )


def _shelves(rng: Random) -> str:
    out = ""
    for base in (90, 160, 230):
        out += f'<path d="M30 {base}h420v6H30z" fill="{_ACCENT}"/>'
        x = 40
        while x < _WIDTH - 80:
            width, height = rng.randint(14, 46), rng.randint(22, 56)
            fill = rng.choice((_ACCENT, _PANEL, _LINE))
            out += f'<rect x="{x}" y="{base - height}" width="{width}" height="{height}" fill="{fill}" stroke="{_ACCENT}" stroke-width="2"/>'
            x += width + rng.choice((2, 2, 14))
    return out


def _tiles(rng: Random) -> str:
    size = rng.choice((40, 60, 80))
    shapes = (
        "M0 0h1v1H0z",
        "M0 0h1L0 1z",
        "M1 0v1H0z",
        "M0 1A1 1 0 0 1 1 0v1z",
        "M0 0a1 1 0 0 0 1 1V0z",
    )
    return "".join(
        f'<path transform="translate({x} {y}) scale({size})" d="{rng.choice(shapes)}" fill="{_ACCENT}" opacity="{_opacity(rng)}"/>'
        for x in range(0, _WIDTH, size)
        for y in range(0, _HEIGHT, size)
        if rng.randrange(4)
    )


def _group(rng: Random) -> str:
    return "".join(
        f'<g transform="translate({20 + 150 * at} {rng.randint(70, 100)}) scale(1.25)">'
        + draw_row(Picture.PERSON, f"{rng.random()}")
        .partition(">")[2]
        .partition("/>")[2]
        .removesuffix("</svg>")
        + "</g>"
        for at in range(3)
    )


@lru_cache(maxsize=128)
def draw_chart(of: str) -> str:
    """Return a chart without numbers."""
    rng = Random(f"chart {of}")
    heights = [rng.randint(20, 105) for _ in range(rng.choice((7, 12)))]
    room = 320 / len(heights)
    match rng.choice(("bars", "line", "area", "ring")):
        case "bars":
            inner = "".join(
                f'<rect x="{at * room + 3:.0f}" y="{120 - each}" width="{room - 6:.0f}" height="{each}" fill="{_ACCENT}" opacity="{0.9 if at % 2 else 0.55}"/>'
                for at, each in enumerate(heights)
            )
        case "ring":
            inner = "".join(
                f'<circle cx="{70 + 90 * at}" cy="60" r="36" fill="none" stroke="{_LINE}" stroke-width="12"/>'
                f'<circle cx="{70 + 90 * at}" cy="60" r="36" fill="none" stroke="{_ACCENT}" stroke-width="12" stroke-dasharray="{each * 2} 230"/>'
                for at, each in enumerate(heights[:3])
            )
        case shape:
            points = " ".join(
                f"{(at + 0.5) * room:.0f},{120 - each}" for at, each in enumerate(heights)
            )
            inner = f'<polyline points="{points}" fill="none" stroke="{_ACCENT}" stroke-width="3"/>'
            if shape == "area":
                inner += f'<polygon points="{room / 2:.0f},120 {points} {320 - room / 2:.0f},120" fill="{_ACCENT}" opacity=".25"/>'
    return svg_of(
        inner + f'<path d="M0 121h320" stroke="{_LINE}" stroke-width="2"/>', "chart", 320, 124
    )
