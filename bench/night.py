"""A whole run with a server's clock: the governor beside the same run with 128 episodes alive all the time.

`configs/sim-holotron.toml` is carried out twice, with 128 sessions of Chromium and 200 worlds tasks: governed, and with a
governor that allows as many episodes as are wanted from the beginning. The line to hold, in calls a second from 20 R on
(R: the median latency while 32 to 48 episodes live, 10 s of the server's time) until no task is left to begin: governed
≥ 1.5 × fixed. The run must wait for the engine: of a session's time the browser may take half at most.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from deltalake import DeltaTable

from bench.measuring.result import report

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "sim-holotron.toml"
FROM_SECONDS = 20 * 10.5
"""Of the server's time."""
MIN_RATIO, MAX_BUSY = 1.5, 0.5
FIXED = "--fixed"


class Night(NamedTuple):
    """One of the two runs."""

    calls_s: float
    """Of the server's time."""
    cached: float
    """The share of prompts from the cache."""
    latency_s: float
    """The median, of the server's time."""
    browser_share: float
    """Of the sessions' time, that of their browsers."""
    accepted: int
    episodes: int
    seconds: float


def make_fixed() -> int:
    """Carry out the rest of the command line with as many episodes alive as are wanted."""
    from flows.cli.main import main as stepmill  # noqa: PLC0415 - patched first
    from generators.engine.governor import governor  # noqa: PLC0415

    governor.START_EPISODES = 1 << 20
    governor.Governor.hear = lambda *_, **__: None  # type: ignore[method-assign]
    governor.Governor.read = lambda *_, **__: None  # type: ignore[method-assign]
    return stepmill(sys.argv[2:])


def measure(folder: Path, *, fixed: bool, sample: int, speed: float) -> Night:
    """Carry out one run, and return its figures."""
    program = (
        [sys.executable, "-m", "bench.night", FIXED]
        if fixed
        else [sys.executable, "-m", "flows.cli"]
    )
    arguments = [f"--preset=holotron-fp32 --speed={speed} --puppet".split()]
    flags = [*arguments[0], "--enable-prompt-tokens-details", "--enable-per-request-metrics"]
    command = [*program, "generate", f"--config={CONFIG}", f"--run={folder}", "--no-prefect"]
    command += [f"--set=tasks.sample={sample}", f"--set=engine.args={json.dumps(flags)}", "--json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    answer = json.loads(done.stdout.splitlines()[-1])
    return _figures(folder, answer, speed)


def _figures(folder: Path, answer: dict[str, Any], speed: float) -> Night:
    columns = ["at", "total_ms", "prompt_tokens", "cached_tokens"]
    calls = DeltaTable(f"{folder}/tables/calls").to_pyarrow_table(columns=columns).to_pylist()
    times = ["started_at", "engine_seconds", "browser_seconds", "ended_at"]
    rows = DeltaTable(f"{folder}/tables/episodes").to_pyarrow_table(columns=times).to_pylist()
    begun: datetime = min(row["started_at"] for row in rows)
    last: datetime = max(row["started_at"] for row in rows)
    since = begun + timedelta(seconds=FROM_SECONDS / speed)
    ends = [(row["at"] + timedelta(milliseconds=row["total_ms"]), row) for row in calls]
    watched = [row for end, row in ends if since <= end <= last]
    seconds = (last - since).total_seconds() * speed
    engine = sum(row["engine_seconds"] for row in rows)
    browser = sum(row["browser_seconds"] for row in rows)
    return Night(
        len(watched) / seconds,
        sum(row["cached_tokens"] for row in watched) / sum(row["prompt_tokens"] for row in watched),
        median(row["total_ms"] for row in watched) / 1_000 * speed,
        browser / (engine + browser),
        answer["accepted"],
        answer["episodes"],
        (max(row["ended_at"] for row in rows) - begun).total_seconds(),
    )


def main() -> int:
    """Carry out both runs, print their figures, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=200, help="tasks")
    parser.add_argument("--speed", type=float, default=2.0, help="of the server's time")
    given = parser.parse_args()
    nights = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, fixed in (("governed", False), ("fixed", True)):
            place = Path(folder) / name
            nights[name] = measure(place, fixed=fixed, sample=given.sample, speed=given.speed)
            print(name, nights[name], file=sys.stderr, flush=True)
    ratio = nights["governed"].calls_s / nights["fixed"].calls_s
    busy = max(night.browser_share for night in nights.values())
    held = ratio >= MIN_RATIO and busy <= MAX_BUSY
    report(
        {
            "bench": "night",
            **{name: night._asdict() for name, night in nights.items()},
            "ratio": ratio,
            "min_ratio": MIN_RATIO,
            "browser_share": busy,
            "max_browser_share": MAX_BUSY,
            "speed": given.speed,
            "held": held,
        }
    )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(make_fixed() if FIXED in sys.argv[1:2] else main())
