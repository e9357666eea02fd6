"""Draws how a training went: the success of each step's episodes, and that on held-out tasks before and after.

Equal figures always give the same bytes. A thin line is one seed, a thick one the mean of all, and a dot the mean on the
tasks that are held out.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from bench.measuring.svg import RULE, SOFT, dot, page, text

LEFT, RIGHT, TOP, BOTTOM = 64, 560, 88, 376
PARTS = 5
"""Into how many parts lines divide the height."""

COLOURS = {"trained": "#1a73e8", "control": "#b06000"}
NAMES = {"trained": "judged by the site", "control": "rewards dealt out anew"}
TITLE = "A tiny policy learns from the site's reward alone"


class _Scale(NamedTuple):
    """Where a number of episodes is."""

    most: int

    def x(self, episodes: float) -> float:
        return LEFT + (RIGHT - LEFT) * episodes / self.most


def draw(figures: Mapping[str, Any]) -> str:
    """Return the picture of a result of `bench/grpo.py` as SVG."""
    plan, seeds = figures["plan"], figures["seeds"]
    each = plan["groups"] * plan["group"]
    scale = _Scale(each * plan["steps"])
    said = (
        f"{len(seeds)} seeds of GRPO by TRL on two CPU cores; lines: the episodes of each step, all of new tasks; "
        "dots: held-out tasks"
    )
    body = [*_axes(scale, each, plan["steps"])]
    for arm in ("control", "trained"):
        found = [one for one in seeds if arm in one]
        if found:
            body += _arm(scale, each, arm, found)
    return page(TITLE, said, body, size=12)


def _arm(scale: _Scale, each: int, arm: str, seeds: Sequence[Mapping[str, Any]]) -> list[str]:
    colour = COLOURS[arm]
    curves = [one[arm]["rewards"] for one in seeds]
    mean = [fmean(step) for step in zip(*curves, strict=True)]
    before = fmean(one["before"]["all"] for one in seeds)
    after = fmean(one[arm]["after"]["all"] for one in seeds)
    found = [_line(scale, each, curve, colour, width=1.0, strength=0.45) for curve in curves]
    found.append(_line(scale, each, mean, colour, width=3.0, strength=1.0))
    found += [dot(LEFT, _y(before), SOFT), dot(RIGHT, _y(after), colour)]
    x = RIGHT + 14
    found.append(text(x, _y(after), NAMES[arm], colour=colour, weight="bold"))
    note = f"{before:.0%} before, {after:.0%} after"
    found.append(text(x, _y(after) + 16, note, colour=SOFT, size=12))
    return found


def _line(
    scale: _Scale, each: int, rates: Sequence[float], colour: str, *, width: float, strength: float
) -> str:
    places = " ".join(
        f"{scale.x(each * (step + 0.5)):.1f},{_y(rate):.1f}" for step, rate in enumerate(rates)
    )
    return (
        f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'stroke-opacity="{strength}" stroke-linejoin="round" stroke-linecap="round"/>'
    )


def _y(rate: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * rate


def _axes(scale: _Scale, each: int, steps: int) -> list[str]:
    found = []
    for part in range(PARTS + 1):
        y = _y(part / PARTS)
        found.append(
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="{RULE if part else SOFT}"/>'
        )
        found.append(text(LEFT - 8, y + 4, f"{part / PARTS:.0%}", anchor="end", colour=SOFT))
    for step in range(0, steps + 1, 2):
        episodes = step * each
        found.append(
            text(scale.x(episodes), BOTTOM + 18, str(episodes), anchor="middle", colour=SOFT)
        )
    found.append(text((LEFT + RIGHT) / 2, BOTTOM + 42, "episodes learnt from", anchor="middle"))
    found.append(text(LEFT - 8, TOP - 12, "success", anchor="middle"))
    return found
