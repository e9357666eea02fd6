"""Whether the simulator's server works as the one that was measured: calls a second, and the share from the cache.

The points of `bench/closed_loop/measured.toml` are played again in virtual time, over eight seeds, each warmed up and
watched for as long as it was on the card. The times of `presets.toml` were fitted to three of them (`--fit` does it again
and prints them); two more are foretold. The line to hold: these within 15 % in both figures. What was measured later is
printed beside them. Without arguments it also draws `docs/pictures/live_episodes.svg`: calls a second by live episodes, beside the measured points of the same load.
"""

import argparse
import statistics
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

from bench.closed_loop import sessions
from bench.closed_loop.picture import Curve, draw
from bench.closed_loop.sessions import ClosedLoop, Load
from bench.measuring.result import report
from generators.engine.simulator.batching.presets import ServerPreset, read_presets
from schemas.base import Record

MEASURED = Path(__file__).parent / "closed_loop" / "measured.toml"
SEEDS = range(1, 9)
FIT_SEEDS = (1, 2)
MAX_OFF = 0.15
FITTED = ("iteration_seconds", "token_seconds", "picture_token_seconds", "reply_token_seconds")
CLIENT = "CLIENT_SECONDS"
TRIES, SHRINK_EVERY, SHRINK, SPREAD = 300, 60, 0.6, 0.3
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "live_episodes.svg"
LIVE = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128)
LINE_SEEDS, LINE_BEGIN, LINE_END = range(1, 5), 200.0, 500.0
SHAPE, PICTURE_TOKENS = "window", 1_280
"""The load of the picture, which is that of the shipped configuration."""
LINES = {
    "holotron-fp16": ("16-bit states", (47, 5.62), "#1f5fbf"),
    "holotron-fp32": ("32-bit states", (6, 4.62), "#d0601f"),
    "holotron-fp32-8192": ("32-bit states, larger steps", (78, 3.75), "#2f7d4f"),
    "holotron-uncached": ("no prefix cache", (40, 1.4), "#6b7075"),
}
WEIGHTS = {"calls_s": 4.0, "cached": 1.0, "latency_s": 0.5}


class Point(Record):
    """One measurement."""

    name: str
    """The server and the load, in a few words."""
    server: str
    """The preset's name."""
    shape: str
    """Of the prompts: `window` or `loop`."""
    picture_tokens: int
    """Tokens of a picture."""
    sessions: int
    """Sessions at once."""
    warm_seconds: float
    """From the first request until it was watched."""
    seconds: float
    """For how long it was watched."""
    calls_s: float
    """Replies a second."""
    cached: float | None = None
    """The share of prompts from the cache; None: it had none."""
    latency_s: float
    """The median latency."""
    fitted: bool
    """Whether the times were fitted to it."""
    later: bool = False
    """Whether it was measured when the clock was long fixed; no line is of it."""


def read_points() -> list[Point]:
    """Return what was measured."""
    table = tomllib.loads(MEASURED.read_text("utf-8"))
    return TypeAdapter(list[Point]).validate_python(table["point"])


def play(point: Point, preset: ServerPreset, seeds: Sequence[int]) -> dict[str, float]:
    """Return what the batching clock makes of a point, a mean over seeds."""
    begin, end = point.warm_seconds, point.warm_seconds + point.seconds
    found = []
    for seed in seeds:
        load = Load(point.sessions, seed, end, point.shape, point.picture_tokens)
        load.in_the_middle = True
        account = ClosedLoop(preset, load).run()
        looked = [look for look in account.looks if look.at >= begin]
        found.append(
            {
                "calls_s": account.written_rate(begin, end),
                "cached": account.share(begin, end),
                "latency_s": account.latency(begin, end),
                "running": statistics.mean(look.running for look in looked),
                "waiting": statistics.mean(look.waiting for look in looked),
                "usage": statistics.mean(look.usage for look in looked),
            }
        )
    return {key: statistics.mean(one[key] for one in found) for key in found[0]}


def _off(point: Point, played: Mapping[str, float]) -> dict[str, float]:
    """Return by how much each figure is off, relative to the measured one."""
    measured = {"calls_s": point.calls_s, "cached": point.cached, "latency_s": point.latency_s}
    return {key: played[key] / value - 1 for key, value in measured.items() if value is not None}


def _loss(points: Sequence[Point], times: Sequence[float]) -> float:
    *fitted, sessions.CLIENT_SECONDS = times
    changed = dict(zip(FITTED, fitted, strict=True))
    total = 0.0
    for point in points:
        preset = read_presets()[point.server].model_copy(update=changed)
        off = _off(point, play(point, preset, FIT_SEEDS))
        total += sum(WEIGHTS[key] * value**2 for key, value in off.items())
    return total


def fit() -> None:
    """Look for the times by random steps that become smaller, from those of the file, and print them."""
    points = [point for point in read_points() if point.fitted]
    preset = read_presets()["holotron-fp32"]
    best = [*(getattr(preset, name) for name in FITTED), sessions.CLIENT_SECONDS]
    least, random, spread = _loss(points, best), Random(0), SPREAD
    for number in range(TRIES):
        tried = [value * abs(1 + random.gauss(0, spread)) for value in best]
        if (loss := _loss(points, tried)) < least:
            best, least = tried, loss
        if number % SHRINK_EVERY == SHRINK_EVERY - 1:
            spread *= SHRINK
    for name, value in zip((*FITTED, CLIENT), best, strict=True):
        print(f"{name} = {value:.3g}")
    print(f"# loss {least:.4f}")


def find_lines() -> dict[str, list[list[float]]]:
    """Return live episodes and calls a second of each server of the picture, a mean over seeds."""
    found: dict[str, list[list[float]]] = {}
    for server in LINES:
        preset, found[server] = read_presets()[server], []
        for live in LIVE:
            loads = [Load(live, seed, LINE_END, SHAPE, PICTURE_TOKENS) for seed in LINE_SEEDS]
            rates = [ClosedLoop(preset, one).run().rate(LINE_BEGIN, LINE_END) for one in loads]
            found[server].append([live, round(statistics.mean(rates), 3)])
    return found


def draw_lines(lines: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """Return the picture of what `find_lines` found."""
    curves = []
    for server, (name, named_at, colour) in LINES.items():
        points = [(int(live), rate) for live, rate in lines[server]]
        measured = [
            (point.sessions, point.calls_s)
            for point in read_points()
            if (point.server, point.shape, point.picture_tokens) == (server, SHAPE, PICTURE_TOKENS)
        ]
        curves.append(Curve(name, named_at, colour, points, measured))
    return draw(
        "Beyond a number of live episodes, more of them make fewer calls",
        "Holotron-12B's shape on an H100's memory, vLLM 0.26; the lines are the simulator's, in virtual time",
        curves,
    )


def main() -> int:
    """Play every point, print a line for each, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--fit", action="store_true", help="look for the times again, and print them"
    )
    if parser.parse_args().fit:
        fit()
        return 0
    rows = []
    for point in read_points():
        played = play(point, read_presets()[point.server], SEEDS)
        off = _off(point, played)
        rows.append({**point.model_dump(), "played": played, "off": off})
        shown = " ".join(f"{key}={played[key]:.3g} ({value:+.0%})" for key, value in off.items())
        print(f"{point.name}: {shown}", file=sys.stderr)
    foretold = [
        abs(row["off"][key])
        for row in rows
        if not row["fitted"] and not row["later"]
        for key in ("calls_s", "cached")
    ]
    worst = max(foretold)
    lines = find_lines()
    report(
        {
            "bench": "serving",
            "points": rows,
            "lines": lines,
            "worst_off": worst,
            "max_off": MAX_OFF,
            "held": worst <= MAX_OFF,
        }
    )
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw_lines(lines), "utf-8")
    return 0 if worst <= MAX_OFF else 1


if __name__ == "__main__":
    sys.exit(main())
