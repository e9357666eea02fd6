"""Does the data teach, and what is verification worth? A reader's own scorer of elements answers.

The script in `docs/training.md` is taken from the page as it stands there. It learns from the published
Parquet alone: once from episodes that were accepted, and once from as many, of the same templates,
drawn whatever became of them. The two differ in nothing else, and each is trained three times. Beside them
stand accepted episodes cut to as few steps as the others have, and what takes anything at random.
Then the browser plays tasks that no row is of: other seeds of the same templates, and whole skills that
were left out. A scorer may take one action more than the teacher takes, and the site says whether it
succeeded.

The line to hold: the 95 % interval of the difference, from a bootstrap over templates and trainings,
lies above 0. From the rows to the figures it takes at most a quarter of an hour.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from types import ModuleType
from typing import Any, NamedTuple

import pyarrow.dataset as ds

from bench.loading.scorers import Choose, Chore, Moment, Stage
from bench.measuring.arms import (
    HELD_OUT_SEEDS,
    LEFT_OUT,
    Rates,
    Recorded,
    draw_arms,
    interval,
    only,
    refuse_leaks,
    subtract,
)
from bench.measuring.result import ROOT, report
from generators.browser.chromium import Chromium
from generators.policy.teacher.policy import template_of
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from schemas.base import JsonObject
from schemas.configuration.config import RunConfig

PAGE = ROOT / "docs" / "training.md"
HEADING = "## A scorer of your own"
CONFIG = ROOT / "configs" / "flywheel.toml"

TRAININGS = 3
"""Of each arm, from different random weights and, where episodes are drawn, different ones."""

MAX_SECONDS = 900.0
MIN_DIFFERENCE = 0.0


def take_script(page: str) -> ModuleType:
    """Return the script of a page's section as a module.

    Raises:
        SystemExit: the section is not there, or not with one block of Python.
    """
    section = page.partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]
    blocks = section.split("```python no-run\n")[1:]
    if len(blocks) != 1:
        raise SystemExit(
            f"{PAGE}: expected one block of Python under '{HEADING}', got {len(blocks)}"
        )
    script = ModuleType("scorer")
    exec(compile(blocks[0].partition("```")[0], str(PAGE), "exec"), script.__dict__)  # noqa: S102 - it is what is measured
    return script


def rows(dataset: Path, table: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the train split's rows of a table."""
    files = sorted(map(str, (dataset / "data" / table).glob("train-*.parquet")))
    found: list[dict[str, Any]] = ds.dataset(files).to_table(columns=list(columns)).to_pylist()
    return found


def read_recorded(
    dataset: Path, script: ModuleType, episodes: Mapping[str, Any]
) -> dict[str, Recorded]:
    """Return what each episode is, by id.

    Raises:
        SystemExit: a row is of a task or a skill that is played.
    """
    learnt, wrong = Counter[str](), Counter[str]()
    for row in rows(dataset, "steps", ["episode_id", "step", "injected_mistake"]):
        key = row["episode_id"]
        if script.example(episodes[key]["goal"], episodes[key]["steps"], row["step"]) is not None:
            learnt[key] += 1
            wrong[key] += row["injected_mistake"] is not None
    out = {
        row["episode_id"]: Recorded(
            template_of(row["start_url"]) or row["start_url"],
            row["seed"],
            row["accepted"],
            learnt[row["episode_id"]],
            wrong[row["episode_id"]],
        )
        for row in rows(dataset, "trajectories", ["episode_id", "start_url", "seed", "accepted"])
    }
    refuse_leaks(out.values())
    return out


def rates_of(trainings: Sequence[Mapping[Chore, bool]]) -> Rates:
    """Return the share of tasks solved, by template, of each training."""
    templates = sorted({chore.template for chore in trainings[0]})
    return {
        template: [
            fmean(won for chore, won in solved.items() if chore.template == template)
            for solved in trainings
        ]
        for template in templates
    }


def randomly(script: ModuleType) -> Choose:
    """Return what takes any of the candidates, the same ones each time that it is asked."""

    def choose(
        goal: str, elements: list[JsonObject], sights: list[JsonObject], past: list[Moment]
    ) -> JsonObject:
        found = script.candidates(goal, elements, sights, past)
        action: JsonObject = Random(f"{goal} {len(past)}").choice(found)[0]
        return action

    return choose


class Played(NamedTuple):
    """What came of the arms."""

    rates: Mapping[str, Rates]
    """By arm."""
    train_seconds: Mapping[str, float]
    """By arm, one training in the mean."""
    chores: int
    """Tasks that each training was scored on."""
    episodes: int
    """Of all arms' episodes, those that the browser had to play."""


async def play(
    script: ModuleType,
    episodes: Mapping[str, Any],
    recorded: Mapping[str, Recorded],
    chores: Sequence[Chore],
) -> Played:
    """Train and score every arm."""
    solved: dict[str, list[Mapping[Chore, bool]]] = defaultdict(list)
    seconds: dict[str, list[float]] = defaultdict(list)
    async with Gateway() as gateway:
        site = MiniWob(gateway)
        async with Chromium(network=gateway) as chromium:
            stage = Stage(site, chromium, RunConfig())
            taken = await stage.teacher_steps(chores)
            most, teachers = {chore: steps + 1 for chore, steps in taken.items()}, stage.played
            solved["random"].append(await stage.successes(randomly(script), most))
            for seed in range(TRAININGS):
                for arm, keys in draw_arms(recorded, seed).items():
                    begun = time.perf_counter()
                    learnt = [episodes[key] for key in keys]
                    weights = await asyncio.to_thread(script.train, learnt, seed)
                    seconds[arm].append(time.perf_counter() - begun)
                    choose = partial(script.choose, weights)
                    solved[arm].append(await stage.successes(choose, most))
                    print(f"{arm}, training {seed}: {stage.played} episodes", file=sys.stderr)
    return Played(
        {arm: rates_of(trainings) for arm, trainings in solved.items()},
        {arm: round(fmean(each), 1) for arm, each in seconds.items()},
        len(most),
        stage.played - teachers,
    )


def plan_chores(templates: Iterable[str], seeds: int, left_out_seeds: int) -> list[Chore]:
    """Return the tasks that are played: so many of each template of the rows, and of each left-out skill."""
    first = HELD_OUT_SEEDS
    return [
        *(Chore(name, first + n) for name in sorted(set(templates)) for n in range(seeds)),
        *(Chore(name, first + n) for name in LEFT_OUT for n in range(left_out_seeds)),
    ]


def summarise(
    played: Played, recorded: Mapping[str, Recorded], *, seconds: float
) -> dict[str, object]:
    """Return the figures, and whether both lines are held."""
    drawn = [draw_arms(recorded, seed) for seed in range(TRAININGS)]
    both = subtract(played.rates["verified"], played.rates["unverified"])
    all_of_it = interval(both)
    return {
        "bench": "flywheel",
        "arms": {
            arm: {
                **arm_figures([recorded[key] for keys in drawn for key in keys.get(arm, ())]),
                "train_seconds": played.train_seconds.get(arm),
                "held_out_seeds": interval(only(rates, left_out=False))._asdict(),
                "left_out_skills": interval(only(rates, left_out=True))._asdict(),
            }
            for arm, rates in played.rates.items()
        },
        "difference": all_of_it._asdict(),
        "difference_held_out_seeds": interval(only(both, left_out=False))._asdict(),
        "difference_left_out_skills": interval(only(both, left_out=True))._asdict(),
        "difference_by_template": {name: round(fmean(found), 3) for name, found in both.items()},
        "trainings": TRAININGS,
        "tasks": played.chores,
        "episodes_played": played.episodes,
        "min_difference": MIN_DIFFERENCE,
        "seconds": round(seconds),
        "max_seconds": MAX_SECONDS,
        "held": all_of_it.low > MIN_DIFFERENCE and seconds <= MAX_SECONDS,
    }


def arm_figures(episodes: Sequence[Recorded]) -> dict[str, object]:
    """Return what all trainings of an arm learn from: of one in the mean, and the share of mistakes."""
    steps = sum(one.learnt for one in episodes)
    return {
        "episodes": round(len(episodes) / TRAININGS),
        "accepted": round(sum(one.accepted for one in episodes) / TRAININGS),
        "steps": round(steps / TRAININGS),
        "mistakes": round(sum(one.wrong for one in episodes) / steps, 4) if steps else None,
    }


def print_table(figures: Mapping[str, Any]) -> None:
    """Print the figures for people, on stderr."""
    line = "{:<12}{:>9}{:>7}{:>10}   {:<26}{:<26}{:>8}"
    names = ("arm", "episodes", "steps", "mistakes", "held-out seeds", "left-out skills", "train s")
    print(line.format(*names), file=sys.stderr)
    for name, arm in figures["arms"].items():
        cells = (
            "" if arm["mistakes"] is None else f"{arm['mistakes']:.1%}",
            show(arm["held_out_seeds"]),
            show(arm["left_out_skills"]),
            "" if arm["train_seconds"] is None else f"{arm['train_seconds']:.1f}",
        )
        print(line.format(name, arm["episodes"], arm["steps"], *cells), file=sys.stderr)
    for part in ("", "_held_out_seeds", "_left_out_skills"):
        words = f"verified - unverified{part.replace('_', ' ')}"
        print(f"{words}: {show(figures[f'difference{part}'])}", file=sys.stderr)


def show(found: Mapping[str, float]) -> str:
    """Return a mean with its interval, for people."""
    return "{mean:+.3f} [{low:+.3f}, {high:+.3f}]".format(**found)


def measure(dataset: Path, *, seeds: int, left_out_seeds: int) -> dict[str, object]:
    """Train and play; return the figures. The time begins with the rows."""
    begun = time.perf_counter()
    script = take_script(PAGE.read_text(encoding="utf-8"))
    episodes = script.read(str(dataset), accepted_only=False)
    recorded = read_recorded(dataset, script, episodes)
    chores = plan_chores((one.template for one in recorded.values()), seeds, left_out_seeds)
    played = asyncio.run(play(script, episodes, recorded, chores))
    return summarise(played, recorded, seconds=time.perf_counter() - begun)


def make_rows(folder: Path) -> Path:
    """Make the rows in a folder; return the dataset."""
    dataset = folder / "dataset"
    settings = [f"run.url={folder}/run", f'publish.to=["{dataset}"]']
    options = [part for setting in settings for part in ("--set", setting)]
    command = [str(ROOT / ".venv/bin/stepmill"), "generate", "--config", str(CONFIG), *options]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return dataset


def main() -> int:
    """Run the benchmark; the exit status says whether both lines are held."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("dataset", nargs="?", type=Path, help="rows of configs/flywheel.toml; None: they are made")
    add("--seeds", type=int, default=8, help="tasks of each template of the rows")
    add("--left-out-seeds", type=int, default=12, help="tasks of each skill that is left out")
    add("--keep", metavar="NAME", help="keep the figures as bench/results/NAME.json")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dataset = asked.dataset or make_rows(Path(folder))
        figures = measure(dataset, seeds=asked.seeds, left_out_seeds=asked.left_out_seeds)
    print_table(figures)
    report(figures, keep=asked.keep)
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
