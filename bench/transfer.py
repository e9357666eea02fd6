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

`--beside` compares two teachers: one more arm, `old`, learns from an earlier one's rows of the same seeds and
number of tasks. It and the arm of worlds are cut, for each training anew, to as many steps as the fewer have,
and are scored on the families that are held out as both teachers recorded them.

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
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from types import ModuleType
from typing import Any

from bench.flywheel import PAGE, TRAININGS, randomly, show, take_script
from bench.loading.scorers import SESSIONS, Choose, ScorerPolicy
from bench.measuring.arms import HELD_OUT_SEEDS, OLD, cut_alike, interval, subtract
from bench.measuring.lessons import (
    WORLDS,
    Lesson,
    as_rates,
    count_steps,
    draw_curve,
    next_actions,
    read_lessons,
    refuse_shared,
)
from bench.measuring.result import ROOT, report
from flows.job.config_loader import Sources, load
from generators.browser.chromium import Chromium
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.gateway import Gateway
from generators.sites.registry import RunSites
from generators.worlds.drawing.draw import FAMILIES
from registries.splits.registry import entry_of
from schemas.tasks.task import SPLITS
from schemas.worlds.world import SITE

HELD_OUT, HELD_OUT_OLD = "held-out families", "held-out families, old rows"
"""The target that the learning curve is measured on, and the same of an earlier teacher.

The latter is not played: its tasks were drawn by other code."""

APPLICATIONS = ROOT / "configs" / "apps.toml"
"""The run of the applications; they have to be installed."""


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


def measure(
    rows: Path, *, plays: int, curve: Sequence[int], beside: Path | None = None
) -> dict[str, object]:
    """Train, score and play; return the figures. `beside` has an earlier teacher's rows; None: there are none."""
    begun, script = time.perf_counter(), take_script(PAGE.read_text(encoding="utf-8"))
    learnt = {
        WORLDS: read_lessons(rows / "worlds", script, SPLITS[0]),
        "miniwob": read_lessons(rows / "miniwob", script, *SPLITS),
    }
    if beside is not None:
        learnt[OLD] = read_lessons(beside / "worlds", script, SPLITS[0])
    targets = read_targets(rows, beside, script)
    refuse_shared(learnt, targets)
    drawn = [draw_arms(learnt, seed) for seed in range(TRAININGS)]
    weights = {
        arm: [
            script.train([one.recorded for one in each[arm]], seed)
            for seed, each in enumerate(drawn)
        ]
        for arm in learnt
    }
    return {
        "bench": "transfer",
        "learnt": {arm: describe([each[arm] for each in drawn]) for arm in learnt},
        "worlds": len({one.world for one in learnt[WORLDS]}),
        "held_out_families": [name for name in FAMILIES if not _is_taught(name)],
        "targets": {
            name: score_target(script, weights, lessons, plays=0 if name == HELD_OUT_OLD else plays)
            for name, lessons in targets.items()
        },
        **draw_learning(script, learnt[WORLDS], targets[HELD_OUT], curve),
        "trainings": TRAININGS,
        "seconds": round(time.perf_counter() - begun),
        "held": True,  # nothing that is scored was learnt; the figures have no limit
    }


def read_targets(rows: Path, beside: Path | None, script: ModuleType) -> dict[str, list[Lesson]]:
    """Return what is scored, by name."""
    targets = {HELD_OUT: read_lessons(rows / "worlds", script, *SPLITS[1:])}
    if beside is not None:
        targets[HELD_OUT_OLD] = read_lessons(beside / "worlds", script, *SPLITS[1:])
    targets["miniwob"] = read_lessons(rows / "miniwob-held-out", script, *SPLITS)
    for lesson in read_lessons(rows / "apps", script, *SPLITS) if (rows / "apps").is_dir() else ():
        targets.setdefault(lesson.task.site, []).append(lesson)
    return targets


def draw_arms(learnt: Mapping[str, Sequence[Lesson]], seed: int) -> dict[str, Sequence[Lesson]]:
    """Return what each arm learns from: of worlds as many steps as of the old rows, where there are any."""
    if OLD not in learnt:
        return dict(learnt)
    return {**learnt, **cut_alike({arm: learnt[arm] for arm in (WORLDS, OLD)}, Lesson.count, seed)}


def describe(trainings: Sequence[Sequence[Lesson]]) -> dict[str, int]:
    """Return what an arm learns from, of its trainings in the mean."""
    return {
        "episodes": round(fmean(map(len, trainings))),
        "steps": round(fmean(map(count_steps, trainings))),
        "worlds": round(fmean(len({one.world for one in each}) for each in trainings)),
    }


def draw_learning(
    script: ModuleType, lessons: Sequence[Lesson], target: Sequence[Lesson], curve: Sequence[int]
) -> dict[str, object]:
    """Return the figures of the learning curve."""
    drawn = [draw_curve(lessons, curve, seed) for seed in range(TRAININGS)]
    points: dict[int, object] = {}
    for count in sorted(curve):
        trained = [
            script.train([one.recorded for one in each[count]], seed)
            for seed, each in enumerate(drawn)
        ]
        rates = as_rates([next_actions(script, weights, target) for weights in trained])
        points[count] = interval(rates)._asdict()
    return {"curve": points, "curve_steps": count_steps(drawn[0][min(curve)])}


def score_target(
    script: ModuleType,
    weights: Mapping[str, Sequence[Mapping[str, Any]]],
    lessons: Sequence[Lesson],
    *,
    plays: int,
) -> dict[str, object]:
    """Return each arm's figures on a target, and by how much worlds are ahead of MiniWoB++ and of old rows."""
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
        "steps": count_steps(lessons),
        "played": len(played),
        "next_action": {arm: interval(rates)._asdict() for arm, rates in actions.items()},
        "next_action_difference": interval(subtract(actions[WORLDS], actions["miniwob"]))._asdict(),
        "success": {arm: interval(rates)._asdict() for arm, rates in successes.items()},
        "old_difference": {
            figure: interval(subtract(rates[WORLDS], rates[OLD]))._asdict()
            for figure, rates in (("next_action", actions), ("success", successes))
            if OLD in rates
        },
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
        for figure, found in target["old_difference"].items():
            print(f"{name}: worlds - old, {figure}: {show(found)}", file=sys.stderr)
    for count, found in figures["curve"].items():
        print(f"{count} worlds, {figures['curve_steps']} steps: {show(found)}", file=sys.stderr)


def _is_taught(family: str) -> bool:
    """Return whether a family of worlds is in `train`."""
    entry = entry_of(SITE, f"{family}/*")
    return entry is not None and entry.split == SPLITS[0]


def make_rows(folder: Path, *, worlds: int, tasks: int, seeds: int) -> None:
    """Make the rows that are not in the folder yet, as `worlds`, `miniwob`, `miniwob-held-out` and `apps`."""
    taught = sum(map(_is_taught, FAMILIES))
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
    add(
        "--beside",
        type=Path,
        help="a folder with `worlds`, rows of an earlier teacher: learnt from at equal steps. None: nothing is",
    )
    add("--keep", metavar="NAME", help="keep the figures as bench/results/NAME.json")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = (asked.rows or Path(folder)).absolute()
        make_rows(rows, worlds=asked.worlds, tasks=asked.tasks, seeds=asked.seeds)
        figures = measure(rows, plays=asked.play, curve=asked.curve, beside=asked.beside)
    print_table(figures)
    report(figures, keep=asked.keep)
    return 0


if __name__ == "__main__":
    sys.exit(main())
