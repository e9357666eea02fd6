"""Draws levels: tokens a second and latency over the number of sessions, side by side."""

import math
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from bench.loading.figures import Level, Spread

_SIZE = (1_080, 460)
_PANEL = (440, 300)
_TOP = 80
_LEFTS = (80, 610)
_INK, _RULE = "#222222", "#d8d8d8"
_COLOURS = ("#1f5fbf", "#d0601f", "#2a8f4f")
_RULES = 5

Line = tuple[str, Sequence[float | None]]
"""A name, and a value for each level; None: a gap."""


def plot(levels: Sequence[Level], target: Path, *, title: str) -> None:
    """Draw the levels into a PNG file."""
    picture = Image.new("RGB", _SIZE, "white")
    pen = ImageDraw.Draw(picture)
    pen.text((_LEFTS[0], 14), title, fill=_INK, font=ImageFont.load_default(17))
    ticks = [str(level.sessions) for level in levels]
    throughput: list[Line] = [
        ("tokens/s, all", [level.total_tokens_per_second for level in levels]),
        ("computed (no cache hits)", [_computed(level) for level in levels]),
    ]
    latency: list[Line] = [
        ("latency p50, s", [_seconds(level.latency_ms, "p50") for level in levels]),
        ("latency p90, s", [_seconds(level.latency_ms, "p90") for level in levels]),
        ("first token p50, s", [_seconds(level.ttft_ms, "p50") for level in levels]),
    ]
    for left, lines in zip(_LEFTS, (throughput, latency), strict=True):
        _panel(pen, left, lines, ticks)
    picture.save(target, "PNG", optimize=True)


def round_step(maximum: float) -> float:
    """Return the smallest step of 1, 2 or 5 times a power of ten that reaches `most` in time."""
    power = 10.0 ** math.floor(math.log10(maximum / _RULES))
    return next(n * power for n in (1, 2, 5, 10) if n * power * _RULES >= maximum * (1 - 1e-9))


def _seconds(spread: Spread | None, name: str) -> float | None:
    return None if spread is None else float(getattr(spread, name)) / 1e3


def _computed(level: Level) -> float | None:
    total, prompts = level.total_tokens_per_second, level.prompt_tokens_per_second
    share = level.prefix_hit_rate if level.cached_share is None else level.cached_share
    return None if total is None or prompts is None or share is None else total - share * prompts


def _panel(
    pen: ImageDraw.ImageDraw, left: int, lines: Sequence[Line], ticks: Sequence[str]
) -> None:
    width, height = _PANEL
    font = ImageFont.load_default(13)
    step = round_step(max((value for _, values in lines for value in values if value), default=1.0))
    maximum = step * _RULES
    for rule in range(_RULES + 1):
        y = _TOP + height - height * rule / _RULES
        pen.line((left, y, left + width, y), fill=_RULE)
        pen.text((left - 8, y), f"{step * rule:,.10g}", fill=_INK, font=font, anchor="rm")
    places = [left + width * (n + 0.5) / len(ticks) for n in range(len(ticks))]
    for x, tick in zip(places, ticks, strict=True):
        pen.text((x, _TOP + height + 8), tick, fill=_INK, font=font, anchor="ma")
    pen.text((left + width / 2, _TOP + height + 30), "sessions", fill=_INK, font=font, anchor="ma")
    for number, (name, values) in enumerate(lines):
        colour = _COLOURS[number]
        points = [
            (x, _TOP + height - height * value / maximum)
            for x, value in zip(places, values, strict=True)
            if value is not None
        ]
        pen.line(points, fill=colour, width=3)
        for x, y in points:
            pen.ellipse((x - 4, y - 4, x + 4, y + 4), fill=colour)
        pen.text((left + number * 155, _TOP - 24), name, fill=colour, font=font)
