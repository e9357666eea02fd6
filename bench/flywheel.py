"""Does the data teach, and what is verification worth? A reader's own scorer of elements answers.

The script in `docs/training.md` is taken from the page as it stands there. It learns from the published
Parquet alone: once from episodes that were accepted, and once from as many, of the same templates,
drawn whatever became of them. The two differ in nothing else, and each is trained three times. Beside them
stand accepted episodes cut to as few steps as the others have, and what takes anything at random.
Then the browser plays tasks that no row is of: other seeds of the same templates, and whole skills that
were left out. A scorer may take one action more than the teacher takes, and the site says whether it
succeeded.

With `--beside` two more arms compare two teachers: accepted episodes of these rows, and of older ones of the
same templates and seeds, both cut to as many steps as the fewer have.

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
    OLD,
    TODAY,
    Rates,
    Recorded,
    draw_arms,
    draw_teachers,
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


def draw_all(
    recorded: Mapping[str, Recorded], old: Mapping[str, Recorded], seed: int
) -> dict[str, list[str]]:
    """Return the episodes of each arm; two more where there are old rows."""
    return draw_arms(recorded, seed) | (draw_teachers(recorded, old, seed) if old else {})


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
    draws: Sequence[Mapping[str, Sequence[str]]],
    chores: Sequence[Chore],
) -> Played:
    """Train and score every arm, once for each draw of their episodes."""
    solved: dict[str, list[Mapping[Chore, bool]]] = defaultdict(list)
    seconds: dict[str, list[float]] = defaultdict(list)
    async with Gateway() as gateway:
        site = MiniWob(gateway)
        async with Chromium(network=gateway) as chromium:
            stage = Stage(site, chromium, RunConfig())
            taken = await stage.teacher_steps(chores)
            most, teachers = {chore: steps + 1 for chore, steps in taken.items()}, stage.played
            solved["random"].append(await stage.successes(randomly(script), most))
            for seed, drawn in enumerate(draws):
                for arm, keys in drawn.items():
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
    played: Played,
    recorded: Mapping[str, Recorded],
    draws: Sequence[Mapping[str, Sequence[str]]],
    *,
    seconds: float,
) -> dict[str, object]:
    """Return the figures, and whether both lines are held."""
    both = subtract(played.rates["verified"], played.rates["unverified"])
    all_of_it = interval(both)
    return {
        "bench": "flywheel",
        "arms": {
            arm: {
                **arm_figures([recorded[key] for drawn in draws for key in drawn.get(arm, ())]),
                "train_seconds": played.train_seconds.get(arm),
                "held_out_seeds": interval(only(rates, left_out=False))._asdict(),
                "left_out_skills": interval(only(rates, left_out=True))._asdict(),
            }
            for arm, rates in played.rates.items()
        },
        **estimate_parts("difference", both),
        **(
            estimate_parts("old_difference", subtract(played.rates[TODAY], played.rates[OLD]))
            if OLD in played.rates
            else {}
        ),
        "difference_by_template": {name: round(fmean(found), 3) for name, found in both.items()},
        "trainings": TRAININGS,
        "tasks": played.chores,
        "episodes_played": played.episodes,
        "min_difference": MIN_DIFFERENCE,
        "seconds": round(seconds),
        "max_seconds": MAX_SECONDS,
        "held": all_of_it.low > MIN_DIFFERENCE and seconds <= MAX_SECONDS,
    }


def estimate_parts(name: str, rates: Rates) -> dict[str, object]:
    """Return a difference of two arms: over all templates, those of the rows, and those that were left out."""
    return {
        name: interval(rates)._asdict(),
        f"{name}_held_out_seeds": interval(only(rates, left_out=False))._asdict(),
        f"{name}_left_out_skills": interval(only(rates, left_out=True))._asdict(),
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
    for name, words in (("difference", "verified - unverified"), ("old_difference", "today - old")):
        for part in ("", "_held_out_seeds", "_left_out_skills"):
            if found := figures.get(f"{name}{part}"):
                print(f"{words}{part.replace('_', ' ')}: {show(found)}", file=sys.stderr)


def show(found: Mapping[str, float]) -> str:
    """Return a mean with its interval, for people."""
    return "{mean:+.3f} [{low:+.3f}, {high:+.3f}]".format(**found)


def measure(
    dataset: Path, *, seeds: int, left_out_seeds: int, beside: Path | None = None
) -> dict[str, object]:
    """Train and play; return the figures. The time begins with the rows.

    `beside` are an older teacher's rows; None: there are none.
    """
    begun = time.perf_counter()
    script = take_script(PAGE.read_text(encoding="utf-8"))
    episodes, recorded = read_dataset(dataset, script)
    older, old = ({}, {}) if beside is None else read_dataset(beside, script, prefix="old ")
    draws = [draw_all(recorded, old, seed) for seed in range(TRAININGS)]
    chores = plan_chores((one.template for one in recorded.values()), seeds, left_out_seeds)
    played = asyncio.run(play(script, {**episodes, **older}, draws, chores))
    spent = time.perf_counter() - begun
    return summarise(played, {**recorded, **old}, draws, seconds=spent)


def read_dataset(
    dataset: Path, script: ModuleType, *, prefix: str = ""
) -> tuple[dict[str, Any], dict[str, Recorded]]:
    """Return the episodes as the script reads them, and what each is; a prefix keeps ids of two datasets apart."""
    episodes = script.read(str(dataset), accepted_only=False)
    recorded = read_recorded(dataset, script, episodes)
    return (
        {prefix + key: one for key, one in episodes.items()},
        {prefix + key: one for key, one in recorded.items()},
    )


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
    add(
        "--beside",
        type=Path,
        help="an older teacher's rows of the same tasks. None: there are none",
    )
    add("--keep", metavar="NAME", help="keep the figures as bench/results/NAME.json")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dataset = asked.dataset or make_rows(Path(folder))
        figures = measure(
            dataset,
            seeds=asked.seeds,
            left_out_seeds=asked.left_out_seeds,
            beside=asked.beside,
        )
    print_table(figures)
    report(figures, keep=asked.keep)
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
