"""Does a policy learn while it runs? A tiny one is trained on live seats by TRL's GRPO, on this machine's CPU.

A language model of less than a million parameters is made here. It reads a page's elements as text, as the step door
tells them, and replies with the number of one of them. It is warmed on at most 300 of the teacher's replies, until it
does some of its tasks: three kinds of MiniWoB++. Then TRL's `GRPOTrainer` plays groups of episodes of other tasks of
these kinds through the step door, and learns from the site's reward alone. Success is measured on tasks of seeds that
neither the rows nor the training have, before and after, with replies drawn as in training. As a control the same warmed
policy is trained by the same number of episodes whose rewards are dealt out anew among those of a step.

The line to hold: over three seeds the 95 % interval of what is gained, from a bootstrap over tasks and seeds, lies above
0, and the control's does not; a seed takes at most a quarter of an hour, its control apart. It needs the environment
that `make test-trainers` makes for TRL.
"""

import argparse
import contextlib
import itertools
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.measuring.arms import Rates, interval
from bench.measuring.result import ROOT, report
from bench.tiny_policy.picture import draw
from bench.tiny_policy.rows import teacher_episodes

CONFIG = ROOT / "bench" / "tiny_policy" / "seats.toml"
PICTURE = ROOT / "docs" / "pictures" / "grpo.svg"
TRAINER = ROOT / ".venv-trainers" / "trl" / "bin" / "python"
STEPMILL = ROOT / ".venv" / "bin" / "stepmill"
TOKEN = "STEPMILL_TOKEN"  # noqa: S105 - the name of a variable

TEACHER_SEEDS = (0, 79)
SEEDS = (0, 1, 2)
PLAN: Mapping[str, Any] = {
    "seats": 5,
    "kinds": ["click-button-sequence", "focus-text-2", "click-tab"],
    "rows": 60,
    "epochs": 16,
    "steps": 10,
    "groups": 6,
    "group": 8,
    "learning_rate": 5e-4,
    "iterations": 4,
    "train_seeds": [100, 799],
    "held_out_seeds": [900, 929],
}
"""What each seed's training does: see `bench.tiny_policy.train.Plan`."""

MIN_GAINED = 0.0
MAX_SECONDS = 900.0
MAX_ROWS, MAX_PARAMETERS = 300, 5_000_000
MIN_WARMED, MAX_WARMED = 0.20, 0.60


def make_rows(folder: Path, seeds: tuple[int, int]) -> Path:
    """Have the teacher play tasks of some seeds, and return the file with its episodes."""
    first, last = seeds
    command: list[str | Path] = [
        STEPMILL,
        "generate",
        "--no-prefect",
        "--config",
        CONFIG,
        "--run",
        folder / "teacher",
    ]
    command += ["--set", f"tasks.seeds=[{first},{last}]"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    file = folder / "teacher.jsonl"
    lines = [json.dumps(episode) for episode in teacher_episodes(folder / "teacher")]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


@contextlib.contextmanager
def seats_of(folder: Path, token: str) -> Iterator[str]:
    """Serve seats, and give where they are."""
    command: list[str | Path] = [
        STEPMILL,
        "serve",
        "--json",
        "--config",
        CONFIG,
        "--run",
        folder / "seats",
    ]
    environment = os.environ | {TOKEN: token}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            (line,) = itertools.islice(server.stdout or (), 1)
            yield json.loads(line)["url"]
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


def train(folder: Path, plan: Mapping[str, Any], *, seed: int, token: str) -> dict[str, Any]:
    """Train with a seed, and return what came of it."""
    file, result = folder / f"plan-{seed}.json", folder / f"result-{seed}.json"
    told = {**plan, "seed": seed, "begun": time.time()}
    file.write_text(json.dumps(told), encoding="utf-8")
    quiet = {TOKEN: token, "HF_HUB_OFFLINE": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}
    command: list[str | Path] = [TRAINER, "-m", "bench.tiny_policy.train", file, result]
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | quiet, stdout=sys.stderr)
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return found


def gains(results: Sequence[Mapping[str, Any]], arm: str) -> Rates:
    """Return what each task gained by a training, seed by seed, in an arm that all of them have.

    A task in which something else failed than the policy is left out.
    """
    pairs = [(result["before"], result[arm]["after"]) for result in results]
    kinds = pairs[0][0]
    found = {
        f"{kind} {number}": [(before[kind][number], after[kind][number]) for before, after in pairs]
        for kind in kinds
        for number in range(len(kinds[kind]))
    }
    return {
        task: [float(after - before) for before, after in earned]
        for task, earned in found.items()
        if not any(None in pair for pair in earned)
    }


def only_kind(rates: Rates, kind: str) -> Rates:
    """Return the rates of one kind's tasks."""
    return {task: found for task, found in rates.items() if task.split()[0] == kind}


def success(earned: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Return the share of tasks that were done, by kind and of all kinds."""
    shares = {
        kind: fmean(one for one in found if one is not None) for kind, found in earned.items()
    }
    shares["all"] = fmean(shares.values())
    return {name: round(share, 4) for name, share in shares.items()}


def of_seed(seed: int, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of one seed's training."""
    arms = [arm for arm in ("trained", "control") if arm in result]
    return {
        "seed": seed,
        "seconds": result["seconds"],
        "warm_seconds": result["warm_seconds"],
        "before": success(result["before"]),
        **{
            arm: {
                "after": success(result[arm]["after"]),
                "rewards": result[arm]["rewards"],
                "failed": result[arm]["failed"],
                "seconds": result[arm]["seconds"],
            }
            for arm in arms
        },
    }


def summarise(
    results: Mapping[int, Mapping[str, Any]],
    plan: Mapping[str, Any] = PLAN,
    *,
    side_by_side: int = 1,
) -> dict[str, Any]:
    """Return the figures, and whether the lines are held; so many seeds were trained at a time."""
    found = list(results.values())
    kinds = list(found[0]["before"])
    trained = interval(gains(found, "trained"))
    controls = [one for one in found if "control" in one]
    control = interval(gains(controls, "control")) if controls else None
    seeds = [of_seed(seed, one) for seed, one in results.items()]
    warmed = fmean(one["before"]["all"] for one in seeds)
    rows, parameters = (max(one[key] for one in found) for key in ("rows", "parameters"))
    seconds = max(one["seconds"] for one in found)
    held = (
        trained.low > MIN_GAINED
        and control is not None
        and control.low <= 0
        and seconds <= MAX_SECONDS
        and rows <= MAX_ROWS
        and parameters <= MAX_PARAMETERS
        and MIN_WARMED <= warmed <= MAX_WARMED
    )
    return {
        "bench": "grpo",
        "plan": {**plan, "held_out_tasks": len(gains(found, "trained"))},
        "parameters": parameters,
        "rows": rows,
        "gained": trained._asdict(),
        "gained_by_kind": {
            kind: interval(only_kind(gains(found, "trained"), kind))._asdict() for kind in kinds
        },
        "min_gained": MIN_GAINED,
        "control_gained": None if control is None else control._asdict(),
        "control_seeds": len(controls),
        "warmed": round(warmed, 4),
        "seeds": seeds,
        "slowest_seconds": seconds,
        "side_by_side": side_by_side,
        "max_seconds": MAX_SECONDS,
        "held": held,
    }


def measure(
    folder: Path,
    plan: Mapping[str, Any] = PLAN,
    *,
    seeds: Sequence[int] = SEEDS,
    teacher_seeds: tuple[int, int] = TEACHER_SEEDS,
) -> dict[str, Any]:
    """Make rows, serve seats, train with each seed, and return the figures."""
    begun = time.monotonic()
    teacher, token = make_rows(folder, teacher_seeds), secrets.token_urlsafe(24)
    with seats_of(folder, token) as url:
        given = {**plan, "url": url, "teacher": str(teacher)}
        results = {seed: train(folder, given, seed=seed, token=token) for seed in seeds}
    return {**summarise(results, plan), "whole_seconds": round(time.monotonic() - begun)}


def read_results(folder: Path) -> dict[int, Mapping[str, Any]]:
    """Return the results that an earlier measurement left in a folder."""
    files = {seed: folder / f"result-{seed}.json" for seed in SEEDS}
    return {
        seed: json.loads(file.read_text(encoding="utf-8"))
        for seed, file in files.items()
        if file.exists()
    }


def main() -> int:
    """Measure and report; return 1 if a line is not held."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--results", type=Path, help="a folder with the results of trainings: sum them up alone"
    )
    parser.add_argument(
        "--side-by-side", type=int, default=1, help="how many of them were trained at a time"
    )
    parser.add_argument(
        "--keep", metavar="NAME", help="keep the figures in bench/results/NAME.json"
    )
    args = parser.parse_args()
    if not TRAINER.exists():
        raise SystemExit(
            "TRL is not there; ./setup.sh trainer trl installs it, as make test-trainers does"
        )
    if args.results is not None:
        figures = summarise(read_results(args.results), side_by_side=args.side_by_side)
    else:
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(Path(folder))
    report(figures, keep=args.keep)
    if args.keep == "grpo" or len(sys.argv) == 1:
        PICTURE.write_text(draw(figures), encoding="utf-8")
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
