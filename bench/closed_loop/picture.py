"""Draws calls a second by live episodes: a line for each server in virtual time, and what was measured as points.

Equal figures always give the same bytes. A line is named beside it, in its colour, so that nobody looks for a legend.
"""

from collections.abc import Sequence
from typing import NamedTuple

from bench.measuring.svg import RULE, SOFT, dot, page, text

LEFT, RIGHT, TOP, BOTTOM = 56, 736, 88, 376
MAX_LIVE, MAX_RATE = 128, 6
TICKS = (8, 16, 32, 48, 64, 96, 128)


class Curve(NamedTuple):
    """What one server does."""

    name: str
    named_at: tuple[float, float]
    """Where its name begins, in live episodes and calls a second."""
    colour: str
    points: Sequence[tuple[int, float]]
    """Live episodes and calls a second, in virtual time."""
    measured: Sequence[tuple[int, float]] = ()
    """The same on a card."""


def draw(title: str, subtitle: str, curves: Sequence[Curve]) -> str:
    """Return the picture as SVG."""
    body = [*_axes(), *_names(curves)]
    for curve in curves:
        places = " ".join(f"{_x(live):.1f},{_y(rate):.1f}" for live, rate in curve.points)
        body.append(
            f'<polyline points="{places}" fill="none" stroke="{curve.colour}" stroke-width="2.5" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )
    body += [_dot(live, rate, one.colour) for one in curves for live, rate in one.measured]
    return page(title, subtitle, body, size=13)


def _x(live: float) -> float:
    return LEFT + (RIGHT - LEFT) * live / MAX_LIVE


def _y(rate: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * rate / MAX_RATE


def _axes() -> list[str]:
    found = []
    for rate in range(MAX_RATE + 1):
        y = _y(rate)
        found.append(
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="{RULE if rate else SOFT}"/>'
        )
        found.append(text(LEFT - 8, y + 4, str(rate), anchor="end", colour=SOFT))
    found += [
        text(_x(live), BOTTOM + 18, str(live), anchor="middle", colour=SOFT) for live in TICKS
    ]
    found.append(text((LEFT + RIGHT) / 2, BOTTOM + 42, "live episodes", anchor="middle"))
    found.append(text(LEFT - 8, TOP - 12, "calls/s", anchor="middle"))
    x, y = RIGHT - 170, BOTTOM + 38
    said = text(x + 12, y + 4, "measured on real vLLM", colour=SOFT)
    return [*found, dot(x, y, SOFT), said]


def _names(curves: Sequence[Curve]) -> list[str]:
    """Return the names of the lines, each with its best number below it."""
    found = []
    for curve in curves:
        x, y = _x(curve.named_at[0]), _y(curve.named_at[1])
        rate, live = max((rate, live) for live, rate in curve.points)
        note = f"best at {live}: {rate:.1f} calls/s"
        found.append(text(x, y, curve.name, colour=curve.colour, weight="bold"))
        found.append(text(x, y + 16, note, colour=SOFT, size=12))
    return found


def _dot(live: float, rate: float, colour: str) -> str:
    return dot(_x(live), _y(rate), colour)
