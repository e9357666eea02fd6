"""How varied the thoughts of references are, and how often they name what only the picture shows.

A run of `configs/worlds.toml` is made in worlds of seeds that nothing else uses, without replays. Of its steps the thoughts
are counted. A *skeleton* is a thought without its quotations and digits; the share of the most frequent ones says how many
thoughts are told by how few sentences. A thought *names something visible* if a quotation in it stands in a sight of the
step's own picture and not in the goal.

    .venv/bin/python -m bench.thoughts [--runs RUN...]

`--runs` counts the thoughts of runs that there are, and keeps no result.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from bench.measuring.result import ROOT, report
from generators.verify.shown import split_words
from generators.verify.thoughts import quotes

TASKS = 170
"""Tasks of a run: more than 2,000 thoughts."""

_FIRST_SEED = 710_000
"""Of the worlds: seeds that nothing else uses."""

MAX_TOP_20, MIN_NAMES_VISIBLE, MIN_THOUGHTS = 0.2, 0.5, 2_000

_MARKED = re.compile(r"(?<!\w)'[^'\n]+'(?!\w)|\"[^\"\n]*\"|“[^”\n]*”|\u2018[^\u2019\n]*\u2019")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Told:
    """A thought, the goal of its task and what its picture shows."""

    thought: str
    goal: str
    sights: tuple[str, ...]


def skeleton(thought: str) -> str:
    """Return a thought without its quotations and digits."""
    return _DIGITS.sub("#", _MARKED.sub("…", thought))


def names_visible(told: Told) -> bool:
    """Return whether a thought quotes words of its picture that the goal does not say."""
    goal, shown = _joined([told.goal]), _joined(told.sights)
    quoted = (" ".join(split_words(one)) for one in quotes(told.thought))
    return any(one and f" {one} " in shown and f" {one} " not in goal for one in quoted)


def _joined(texts: Iterable[str]) -> str:
    return f" {' '.join(word for one in texts for word in split_words(one))} "


def count(thoughts: Sequence[Told]) -> dict[str, object]:
    """Return the figures of thoughts."""
    skeletons = Counter(skeleton(one.thought) for one in thoughts)

    def share(most: int) -> float:
        return round(sum(times for _, times in skeletons.most_common(most)) / len(thoughts), 4)

    visible = round(sum(map(names_visible, thoughts)) / len(thoughts), 4)
    return {
        "thoughts": len(thoughts),
        "min_thoughts": MIN_THOUGHTS,
        "skeletons": len(skeletons),
        "top_20": share(20),
        "max_top_20": MAX_TOP_20,
        "top_50": share(50),
        "names_visible": visible,
        "min_names_visible": MIN_NAMES_VISIBLE,
        "most_frequent": [f"{times} × {one}" for one, times in skeletons.most_common(5)],
        "held": share(20) <= MAX_TOP_20
        and visible >= MIN_NAMES_VISIBLE
        and len(thoughts) >= MIN_THOUGHTS,
    }


def make_run(folder: Path, tasks: int) -> None:
    """Attempt the references of tasks by the shipped configuration."""
    settings = [
        f"run.url={folder}",
        "publish.to=[]",
        f"tasks.seeds=[{_FIRST_SEED}, {_FIRST_SEED + 99}]",
        f"tasks.sample={tasks}",
        'verify.verifiers=["structure", "outcome", "seen"]',
        "verify.rejected_too=[]",
        'accept.passed=["structure", "outcome", "seen"]',
        "browser.sessions=3",
    ]
    options = [part for setting in settings for part in ("--set", setting)]
    config = str(ROOT / "configs" / "worlds.toml")
    command = [sys.executable, "-m", "flows.cli", "generate", "--no-prefect", "--config", config]
    subprocess.run([*command, *options], check=False, stdout=sys.stderr, cwd=ROOT)


def read_run(folder: Path) -> list[Told]:
    """Return the thoughts of a run."""
    goals = {
        row["episode_id"]: row["instruction"]
        for row in _rows(folder, "episodes", "episode_id", "instruction")
    }
    sights: Mapping[tuple[str, int], str] = {
        (row["episode_id"], row["step"]): row["sights"] or "[]"
        for row in _rows(folder, "observations", "episode_id", "step", "sights")
    }
    return [
        Told(
            row["thought"],
            goals[row["episode_id"]],
            tuple(one["text"] for one in json.loads(sights[row["episode_id"], row["step"]])),
        )
        for row in _rows(folder, "steps", "episode_id", "step", "thought")
        if row["thought"] is not None
    ]


def _rows(folder: Path, table: str, *columns: str) -> list[dict[str, Any]]:
    delta = DeltaTable(str(folder / "tables" / table))
    found: list[dict[str, Any]] = delta.to_pyarrow_table(columns=list(columns)).to_pylist()
    return found


def main() -> None:
    """Make a run and count its thoughts, or count those of other runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", nargs="*", type=Path, default=[])
    runs: list[Path] = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as temporary:
        if not runs:
            runs = [Path(temporary) / "run"]
            make_run(runs[0], TASKS)
        thoughts = [told for run in runs for told in read_run(run)]
    report({"bench": "thoughts", **count(thoughts)})


if __name__ == "__main__":
    main()
