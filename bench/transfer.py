"""Measure how far what a scorer learns on worlds holds elsewhere, as `bench/flywheel.py` measures it.

One arm learns from accepted episodes of the worlds of families that are in `train`, one from accepted episodes
of MiniWoB++ alone, and one takes any candidate. Each is trained three times. All are scored on what none has
rows of: the families that are held out, the applications fossil and MediaWiki, and other seeds of MiniWoB++.
*Next action* is the share of recorded steps at which the scorer's first choice is what the episode did, of
steps that it can express at all; *success* is the share of tasks that the site calls solved when the scorer
plays them, with one action more than the episode took. Both are means over templates, with a 95 % interval
from a bootstrap over templates and trainings. No line is held: the figures are printed, whatever they are.

The learning curve trains on 10, 30, 100 and 300 worlds (`--curve`), with as many steps of each number of
worlds as the fewest give, and scores the next action on the held-out families.

The sizes are small unless they are asked for; full ones take hours:

    .venv/bin/python -m bench.transfer --rows ROWS --worlds 300 --tasks 2400 --play 200 --curve 10 30 100 300

ROWS is the folder that the recorded rows are kept in.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.dataset as ds

from bench.flywheel import PAGE, TRAININGS, randomly, show, take_script
from bench.loading.scorers import SESSIONS, Choose, ScorerPolicy
from bench.measuring.arms import HELD_OUT_SEEDS, Rates, interval, subtract
from bench.measuring.result import ROOT, report
from flows.job.config_loader import Sources, load
from generators.browser.chromium import Chromium
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.gateway import Gateway
from generators.sites.registry import RunSites
from generators.worlds.drawing.draw import FAMILIES, split_of
from schemas.tables.tables import from_row
from schemas.tasks.task import SPLITS, Task

HELD_OUT = "held-out families"
"""The target that the learning curve is measured on."""

APPLICATIONS = ROOT / "configs" / "apps.toml"
"""The run of the applications; they have to be installed."""


@dataclass(frozen=True)
class Lesson:
    """A recorded episode, to be learnt from or to be measured against."""

    task: Task
    """What was attempted."""
    recorded: Mapping[str, Any]
    """The goal and the steps, as the scorer's script reads them."""
    viewport: tuple[int, int, float]
    """Width and height, CSS px, and picture px per CSS px."""
    examples: tuple[tuple[np.ndarray, int], ...]
    """Of each step that the scorer can express: its candidates, and which of them was taken."""

    @property
    def world(self) -> tuple[object, ...]:
        """The world that it is set in, in an order in which families take turns."""
        return self.task.parameters.get("world"), self.task.parameters.get("family")


def read_lessons(dataset: Path, script: ModuleType, *splits: str) -> list[Lesson]:
    """Return the accepted episodes of some splits of a dataset."""
    out: list[Lesson] = []
    for split in splits:
        tasks = {row["task_id"]: from_row(Task, row) for row in _rows(dataset, "tasks", split)}
        rows = {row["episode_id"]: row for row in _rows(dataset, "trajectories", split)}
        for key, recorded in script.read(str(dataset), split=split).items():
            found = (
                script.example(recorded["goal"], recorded["steps"], at)
                for at in range(len(recorded["steps"]))
            )
            row = rows[key]
            size = (row["viewport_width"], row["viewport_height"], row["device_scale_factor"])
            examples = tuple(one for one in found if one is not None)
            out.append(Lesson(tasks[row["task_id"]], recorded, size, examples))
    return out


def _rows(dataset: Path, table: str, split: str) -> list[dict[str, Any]]:
    files = sorted(map(str, (dataset / "data" / table).glob(f"{split}-*.parquet")))
    found: list[dict[str, Any]] = ds.dataset(files).to_table().to_pylist() if files else []
    return found


def next_actions(
    script: ModuleType, weights: Mapping[str, Any] | None, lessons: Sequence[Lesson]
) -> dict[str, float]:
    """Return by template the share of steps at which the first choice is what was done; None takes any."""
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for lesson in lessons:
        for features, taken in lesson.examples:
            if weights is None:
                shares[lesson.task.template_id].append(1 / len(features))
            else:
                first = int(np.argmax(script.scores(weights, features)[1]))
                shares[lesson.task.template_id].append(float(first == taken))
    return {template: fmean(each) for template, each in shares.items()}


def as_rates(trainings: Sequence[Mapping[str, float]]) -> Rates:
    """Return the figures of each training by template."""
    return {name: [one[name] for one in trainings] for name in sorted(trainings[0])}


def draw_curve(
    lessons: Sequence[Lesson], counts: Sequence[int], seed: int
) -> dict[int, list[Lesson]]:
    """Return for each number of worlds as many steps' episodes as the fewest worlds give.

    Raises:
        SystemExit: there are not so many worlds.
    """
    worlds = sorted({lesson.world for lesson in lessons}, key=str)
    Random(f"worlds {seed}").shuffle(worlds)
    if max(counts) > len(worlds):
        raise SystemExit(
            f"--curve: {max(counts)} worlds; the rows have {len(worlds)} that are in train"
        )
    drawn: dict[int, list[Lesson]] = {}
    least: int | None = None
    for count in sorted(counts):
        among = set(worlds[:count])
        rest = [lesson for lesson in lessons if lesson.world in among]
        Random(f"lessons {seed} {count}").shuffle(rest)
        total = sum(len(lesson.examples) for lesson in rest)
        least = total if least is None else least
        while total > least:
            total -= len(rest.pop().examples)
        drawn[count] = rest
    return drawn


async def play(
    choose: Mapping[str, Choose], lessons: Sequence[Lesson]
) -> dict[str, dict[str, float]]:
    """Return by arm and template the share of tasks that it solves, with one action more than recorded."""
    config = load(Sources(config=str(APPLICATIONS)), {})
    free, won = (
        asyncio.Semaphore(SESSIONS),
        defaultdict[str, defaultdict[str, list[bool]]](lambda: defaultdict(list)),
    )
    async with Gateway() as gateway, Chromium(network=gateway) as chromium:
        sites = RunSites(gateway, config.sites)

        async def attempt(arm: str, lesson: Lesson) -> None:
            site, most = sites[lesson.task.site], len(lesson.recorded["steps"])
            width, height, scale = lesson.viewport
            async with free:
                episode = await rollout(
                    Attempt(
                        run_id="bench",
                        unit_id="bench",
                        task=lesson.task,
                        attempt=0,
                        viewport_width=width,
                        viewport_height=height,
                        device_scale_factor=scale,
                        code_version="bench",
                    ),
                    site=site,
                    sessions=chromium,
                    make_policy=lambda _: ScorerPolicy(choose[arm]),
                    limits=Limits(steps=most, seconds=600, stuck_steps=most + 1),
                )
            if episode.failure_kind:
                raise SystemExit(f"{lesson.task.template_id}: {episode.failure_message}")
            threshold = site.threshold(lesson.task.template_id)
            least = 1.0 if threshold is None else threshold.reward
            done = episode.done and episode.reward is not None and episode.reward >= least
            won[arm][lesson.task.template_id].append(done)

        async with asyncio.TaskGroup() as group:
            for arm in choose:
                for lesson in lessons:
                    group.create_task(attempt(arm, lesson))
    return {arm: {name: fmean(each) for name, each in found.items()} for arm, found in won.items()}


def measure(rows: Path, *, plays: int, curve: Sequence[int]) -> dict[str, object]:
    """Train, score and play; return the figures."""
    begun, script = time.perf_counter(), take_script(PAGE.read_text(encoding="utf-8"))
    learnt = {
        "worlds": read_lessons(rows / "worlds", script, SPLITS[0]),
        "miniwob": read_lessons(rows / "miniwob", script, *SPLITS),
    }
    targets = {
        HELD_OUT: read_lessons(rows / "worlds", script, *SPLITS[1:]),
        "miniwob": read_lessons(rows / "miniwob-held-out", script, *SPLITS),
    }
    for lesson in read_lessons(rows / "apps", script, *SPLITS) if (rows / "apps").is_dir() else ():
        targets.setdefault(lesson.task.site, []).append(lesson)
    refuse_shared(learnt, targets)
    weights = {
        arm: [script.train([one.recorded for one in lessons], seed) for seed in range(TRAININGS)]
        for arm, lessons in learnt.items()
    }
    figures = {
        name: score_target(script, weights, lessons, plays=plays)
        for name, lessons in targets.items()
    }
    drawn = [draw_curve(learnt["worlds"], curve, seed) for seed in range(TRAININGS)]
    points = {
        count: as_rates(
            [
                next_actions(
                    script,
                    script.train([one.recorded for one in each[count]], seed),
                    targets[HELD_OUT],
                )
                for seed, each in enumerate(drawn)
            ]
        )
        for count in sorted(curve)
    }
    return {
        "bench": "transfer",
        "learnt": {
            arm: {"episodes": len(lessons), "steps": sum(len(one.examples) for one in lessons)}
            for arm, lessons in learnt.items()
        },
        "worlds": len({one.world for one in learnt["worlds"]}),
        "held_out_families": [name for name in FAMILIES if split_of(name) != SPLITS[0]],
        "targets": figures,
        "curve": {count: interval(rates)._asdict() for count, rates in points.items()},
        "curve_steps": sum(len(one.examples) for one in drawn[0][min(curve)]),
        "trainings": TRAININGS,
        "seconds": round(time.perf_counter() - begun),
        "held": True,  # nothing that is scored was learnt; the figures have no limit
    }


def refuse_shared(
    learnt: Mapping[str, Sequence[Lesson]], targets: Mapping[str, Sequence[Lesson]]
) -> None:
    """Refuse rows that are learnt from and measured against.

    Raises:
        SystemExit: a task or a world is on both sides.
    """
    tasks = {one.task.task_id for lessons in learnt.values() for one in lessons}
    hosts = {one.task.start_url for one in learnt["worlds"]}
    for name, lessons in targets.items():
        for one in lessons:
            if one.task.task_id in tasks or one.task.start_url in hosts:
                raise SystemExit(f"{name}: the task {one.task.task_id} is among what is learnt")


def score_target(
    script: ModuleType,
    weights: Mapping[str, Sequence[Mapping[str, Any]]],
    lessons: Sequence[Lesson],
    *,
    plays: int,
) -> dict[str, object]:
    """Return each arm's figures on a target, and by how much worlds are ahead of MiniWoB++."""
    actions = {
        arm: as_rates([next_actions(script, each, lessons) for each in trained])
        for arm, trained in weights.items()
    }
    actions["random"] = as_rates([next_actions(script, None, lessons)])
    played = Random("plays").sample(list(lessons), min(plays, len(lessons)))
    choose: dict[str, Choose] = {
        f"{arm} {seed}": partial(script.choose, each)
        for arm, trained in weights.items()
        for seed, each in enumerate(trained)
    }
    solved = asyncio.run(play(choose | {"random 0": randomly(script)}, played)) if played else {}
    successes = {
        arm: as_rates([found for name, found in solved.items() if name.split(" ")[0] == arm])
        for arm in (*weights, "random")
        if solved
    }
    return {
        "episodes": len(lessons),
        "steps": sum(len(one.examples) for one in lessons),
        "played": len(played),
        "next_action": {arm: interval(rates)._asdict() for arm, rates in actions.items()},
        "next_action_difference": interval(
            subtract(actions["worlds"], actions["miniwob"])
        )._asdict(),
        "success": {arm: interval(rates)._asdict() for arm, rates in successes.items()},
    }


def print_table(figures: Mapping[str, Any]) -> None:
    """Print the figures for people, on stderr."""
    line = "{:<20}{:<10}{:<26}{:<26}"
    print(line.format("scored on", "learnt", "next action", "success"), file=sys.stderr)
    for name, target in figures["targets"].items():
        for arm, found in target["next_action"].items():
            success = show(target["success"][arm]) if target["success"] else ""
            print(line.format(name, arm, show(found), success), file=sys.stderr)
        print(
            f"{name}: worlds - miniwob: {show(target['next_action_difference'])}", file=sys.stderr
        )
    for count, found in figures["curve"].items():
        print(f"{count} worlds, {figures['curve_steps']} steps: {show(found)}", file=sys.stderr)


def make_rows(folder: Path, *, worlds: int, tasks: int, seeds: int) -> None:
    """Make the rows that are not in the folder yet, as `worlds`, `miniwob`, `miniwob-held-out` and `apps`."""
    taught = sum(split_of(name) == SPLITS[0] for name in FAMILIES)
    last = -(-worlds // taught) - 1
    miniwob = ["policy.name=teacher", "publish.include_rejected=false"]
    first = HELD_OUT_SEEDS
    wanted = {
        "worlds": ("worlds", [f"tasks.seeds=[0, {last}]", f"tasks.sample={tasks}"]),
        "miniwob": ("flywheel", [*miniwob, f"tasks.seeds=[0, {seeds - 1}]"]),
        "miniwob-held-out": ("flywheel", [*miniwob, f"tasks.seeds=[{first}, {first + 1}]"]),
        "apps": ("apps", [f"tasks.sample={tasks}"]),
    }
    for name, (config, settings) in wanted.items():
        if (folder / name).is_dir():
            continue
        url = [f"run.url={folder}/run-{name}", f'publish.to=["{folder}/{name}"]']
        options = [part for setting in [*settings, *url] for part in ("--set", setting)]
        file = ROOT / "configs" / f"{config}.toml"
        command = [sys.executable, "-m", "flows.cli", "generate", "--config", str(file), *options]
        made = subprocess.run(command, check=False, stdout=sys.stderr, cwd=ROOT)
        if made.returncode and name == "apps":
            print("no application is measured: see above what is missing", file=sys.stderr)
        elif made.returncode:
            raise SystemExit(f"the rows of '{name}' were not made: see above")


def main() -> int:
    """Run the benchmark; the exit status is 0 once the figures are printed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add(
        "--rows",
        type=Path,
        help="a folder that keeps the rows; what it lacks is made. None: all are",
    )
    add("--worlds", type=int, default=12, help="worlds of families that are in train")
    add(
        "--tasks",
        type=int,
        default=60,
        help="tasks of all worlds together, and of both applications",
    )
    add("--seeds", type=int, default=3, help="seeds of each template of MiniWoB++")
    add("--play", type=int, default=8, help="tasks of each target that are played")
    add(
        "--curve",
        type=int,
        nargs="+",
        default=[3, 6, 12],
        help="numbers of worlds that are learnt from",
    )
    add("--keep", metavar="NAME", help="keep the figures as bench/results/NAME.json")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = (asked.rows or Path(folder)).absolute()
        make_rows(rows, worlds=asked.worlds, tasks=asked.tasks, seeds=asked.seeds)
        figures = measure(rows, plays=asked.play, curve=asked.curve)
    print_table(figures)
    report(figures, keep=asked.keep)
    return 0


if __name__ == "__main__":
    sys.exit(main())
