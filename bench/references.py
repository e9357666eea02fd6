"""Whether references of worlds' tasks succeed and are reproduced, what clicks at random earn, and what a step costs.

Each of the measurements is a word of the command line; without one all are made. The worlds are of seeds that nothing
else uses.

* `references`: `configs/worlds.toml` with these worlds, all kinds, and so many tasks. Of the attempts the share that
  the site rewards, of those the share that a replay reproduces (state, DOM, address and all else that it compares)
  and of their pictures the share that is equal byte by byte; how many actions they take; and dollars for a trajectory
  that is accepted and replayed, for a machine of two cores at `USD_PER_HOUR`. `--rows` keeps the run and its dataset.
* `clicks`: 30 actions at random on what a page offers (clicks, and typing what was read on a page), then a word
  of the page as the answer.
* `canaries`: every form sent empty, every button pressed once, and answers that cost nothing, on tasks that can be
  done, without a browser.
* `swap`: references, and the teacher at each template of MiniWoB++, beside twins that get at each step a document in
  which everything out of sight is another (`bench/swap/`), and how many of the steps the twins decided otherwise.
* `actions`: people's commonest actions beside clicks: the share of each in the rows of the run that `references` makes,
  in how many families it is, and of some tasks with it whether the reference fails without that step.
* `steps`: CPU of a step of references: of this process, which is the site and all of ours, of the automation
  library's driver, and of the browser.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from deltalake import DeltaTable

from bench.measuring.actions import Needs, judge_needs, needs, shares, taken_in
from bench.measuring.offers import OFFERED
from bench.measuring.process import alone, cpu_by_kind, cpu_since
from bench.measuring.result import ROOT, report
from bench.swap.attempts import attempt_with_twins, of_miniwob, of_worlds
from flows.checks.tasks import attempt_watched
from flows.checks.worlds import check_config, task_failures
from flows.resources.browsers import Browsers, open_browsers
from generators.browser.protocol import Session
from generators.policy.reference import ReferencePolicy
from generators.sites.gates import CANARIES, IMPOSSIBLE, Gate
from generators.tasks.worlds.draw import draw_tasks
from generators.tasks.worlds.ground.task import to_task
from generators.tasks.worlds.ground.world_rows import Setting
from generators.worlds.checking.crawl import Trial
from generators.worlds.drawing.draw import FAMILIES, draw_whole
from schemas.episodes.action import Action, Click, Key, TypeText
from schemas.tasks.task import Task

WORLDS, TASKS = 32, 48
"""Sizes by default; `--full` has those of the stated limits."""

FULL_WORLDS, FULL_TASKS = 352, 2_000
_FULL = {"clicks": 1_000, "canaries": 600, "steps": 64, "swap": 120}
"""Tasks of the other measurements at the full size."""

_TRIED = 6
"""Tasks with an action whose references are tried without it."""

_FIRST_SEED = 700_000
"""Of the worlds: seeds that nothing else uses."""

CLICKS = 30
_SESSIONS = 4
USD_PER_HOUR = 0.10
"""Of a machine of two cores."""

MIN_REWARDED, MIN_REPLAYED, MIN_EQUAL_PICTURES = 0.995, 0.995, 0.99
MIN_STEPS, MIN_LONG_STEPS, MIN_LONGEST_STEPS = 9, 18, 40
MAX_CLICKS_REWARDED, MAX_CPU_MS = 0.005, 25.0


def named(count: int) -> list[tuple[str, int]]:
    """Return so many worlds, of all families in turn."""
    return [
        (FAMILIES[number % len(FAMILIES)], _FIRST_SEED + number // len(FAMILIES))
        for number in range(count)
    ]


def spread(worlds: int, tasks: int) -> list[Task]:
    """Return so many tasks, of these worlds in turn."""
    worlds = min(worlds, tasks)
    found = list[Task]()
    for family, seed in named(worlds):
        world, rows = draw_whole(family, seed)
        drawn = draw_tasks(world, rows, seed, -(-tasks // worlds))
        found += [to_task(world, task) for task in drawn]
    return found[:tasks]


def make_run(folder: Path, worlds: int, tasks: int) -> float:
    """Attempt the references of tasks by the shipped configuration, and return the seconds that it took."""
    last = _FIRST_SEED + -(-worlds // len(FAMILIES)) - 1
    settings = [
        f"run.url={folder}/run-worlds",
        f'publish.to=["{folder}/worlds"]',
        f"tasks.seeds=[{_FIRST_SEED}, {last}]",
        f"tasks.sample={tasks}",
        "tasks.exclude=[]",
    ]
    options = [part for setting in settings for part in ("--set", setting)]
    config = str(ROOT / "configs" / "worlds.toml")
    command = [sys.executable, "-m", "flows.cli", "generate", "--config", config, *options]
    begun = time.perf_counter()
    subprocess.run(command, check=False, stdout=sys.stderr, cwd=ROOT)
    return time.perf_counter() - begun


def rows_of(folder: Path, table: str, *columns: str) -> list[dict[str, Any]]:
    """Return rows of a table of the run."""
    delta = DeltaTable(str(folder / "run-worlds" / "tables" / table))
    found: list[dict[str, Any]] = delta.to_pyarrow_table(columns=list(columns)).to_pylist()
    return found


def references(worlds: int, tasks: int, rows: Path | None) -> dict[str, object]:
    """Return how references of tasks fare."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = (rows or Path(temporary)).absolute()
        seconds = make_run(folder, worlds, tasks)
        return {**_figures(folder), "seconds": round(seconds), **_cost(folder, seconds)}


def _figures(folder: Path) -> dict[str, object]:
    episodes = rows_of(
        folder, "episodes", "episode_id", "task_id", "reward", "done", "n_steps", "wall_seconds"
    )
    verdicts = rows_of(folder, "verdicts", "episode_id", "verifier", "status", "score", "evidence")
    replays = {row["episode_id"]: row for row in verdicts if row["verifier"] == "replay"}
    worlds = {
        (row["site"], row["start_url"]) for row in rows_of(folder, "tasks", "site", "start_url")
    }
    won = [row for row in episodes if row["done"] and row["reward"] >= 1]
    same = [replays[row["episode_id"]] for row in won if row["episode_id"] in replays]
    reproduced = [row for row in same if row["status"] == "passed"]
    pictures = [json.loads(row["evidence"])["states"] for row in reproduced]
    equal = sum(row["score"] * states for row, states in zip(reproduced, pictures, strict=True))
    steps = sorted(row["n_steps"] for row in won)
    long = statistics.quantiles(steps, n=5)[-1]
    shares = {
        "rewarded": round(len(won) / len(episodes), 4),
        "reproduced": round(len(reproduced) / len(won), 4),
        "equal_pictures": round(equal / sum(pictures), 4),
    }
    held = (
        shares["rewarded"] >= MIN_REWARDED
        and shares["reproduced"] >= MIN_REPLAYED
        and shares["equal_pictures"] >= MIN_EQUAL_PICTURES
        and statistics.median(steps) >= MIN_STEPS
        and long >= MIN_LONG_STEPS
        and steps[-1] >= MIN_LONGEST_STEPS
    )
    return {
        "attempts": len(episodes),
        "worlds": len(worlds),
        **shares,
        "min_rewarded": MIN_REWARDED,
        "min_reproduced": MIN_REPLAYED,
        "min_equal_pictures": MIN_EQUAL_PICTURES,
        "pictures": sum(pictures),
        "actions_median": statistics.median(steps),
        "actions_fourth_quintile": long,
        "actions_longest": steps[-1],
        "held": held,
    }


def _cost(folder: Path, seconds: float) -> dict[str, object]:
    status = {
        (row["episode_id"], row["verifier"]): row["status"]
        for row in rows_of(folder, "verdicts", "episode_id", "verifier", "status")
    }
    failed = {episode for (episode, _), said in status.items() if said != "passed"}
    episodes = {row["episode_id"] for row in rows_of(folder, "episodes", "episode_id")}
    accepted = len(episodes - failed)
    return {
        "accepted": accepted,
        "usd_per_hour": USD_PER_HOUR,
        "usd_per_trajectory": round(USD_PER_HOUR * seconds / 3_600 / max(1, accepted), 6),
    }


def actions(worlds: int, tasks: int, rows: Path | None) -> dict[str, object]:
    """Return how often people's commonest actions occur in rows, and whether references need them."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = (rows or Path(temporary)).absolute()
        if not (folder / "run-worlds").exists():
            make_run(folder, worlds, tasks)
        shared = shares(
            taken_in(
                rows_of(folder, "tasks", "task_id", "template_id"),
                rows_of(folder, "episodes", "episode_id", "task_id"),
                rows_of(folder, "steps", "episode_id", "action", "target_role"),
            )
        )
    return judge_needs(shared, asyncio.run(_needs(spread(worlds, tasks))))


async def _needs(tasks: Sequence[Task]) -> Needs:
    async with open_browsers() as browsers:
        return await needs(browsers, tasks, each=_TRIED, sessions=_SESSIONS)


def clicks(worlds: int, tasks: int, rows: Path | None) -> dict[str, object]:
    """Return what actions at random earn."""
    del rows
    return asyncio.run(_clicks(spread(worlds, tasks)))


async def _clicks(tasks: Sequence[Task]) -> dict[str, object]:
    free, rewarded = asyncio.Semaphore(_SESSIONS), list[str]()
    async with open_browsers() as browsers:

        async def attempt(task: Task) -> None:
            async with free:
                if await _click_about(browsers, task):
                    rewarded.append(f"{task.template_id}: {task.instruction}")

        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(attempt(task))
    return {
        "tasks": len(tasks),
        "actions": CLICKS,
        "rewarded": round(len(rewarded) / len(tasks), 4),
        "rewarded_goals": rewarded[:5],
        "max_rewarded": MAX_CLICKS_REWARDED,
        "held": len(rewarded) <= MAX_CLICKS_REWARDED * len(tasks),
    }


async def _click_about(browsers: Browsers, task: Task) -> float:
    """Return the reward of acting at random."""
    site, random = browsers.sites[task.site], Random(f"clicks {task.task_id}")
    async with site.open(task) as visit:
        spec = visit.session_spec(viewport_width=1_024, viewport_height=768)
        async with browsers.sessions.session(spec) as session:
            await session.open(visit.start_url)
            problem = await site.begin(visit, session)
            words = ["0"]
            for _ in range(CLICKS):
                words, actions = await _draw(session, random)
                for action in actions:
                    await session.act(action)
            said = await site.outcome(problem, session, answer=random.choice(words))
            return said.reward or 0.0


async def _draw(session: Session, random: Random) -> tuple[list[str], list[Action]]:
    """Return the lines of a page, and one thing to do there."""
    page: Any = await session.evaluate(OFFERED)
    words = page["words"] or ["0"]
    if not page["boxes"]:
        return words, [Key(key="Escape")]
    x, y, is_text = random.choice(page["boxes"])
    actions: list[Action] = [Click(x=x, y=y)]
    return words, [
        *actions,
        TypeText(text=random.choice(words), overwrite=True),
    ] if is_text else actions


def canaries(worlds: int, tasks: int, rows: Path | None) -> dict[str, object]:
    """Return what ends that cost nothing earn."""
    del rows
    return asyncio.run(_canaries(worlds, tasks))


async def _canaries(worlds: int, tasks: int) -> dict[str, object]:
    counts, found, worlds = Counter[str](), list[str](), min(worlds, -(-tasks // 10))
    for family, seed in named(worlds):
        world, rows = draw_whole(family, seed)
        trial, setting = Trial(world, rows), Setting(world, rows)
        crawl = await trial.crawl()
        for task in draw_tasks(world, rows, seed, -(-tasks // worlds)):
            if task.expect.answer in IMPOSSIBLE:
                continue
            counts["tasks"] += 1
            counts["ends"] += len(crawl.ends) + 3 + len(CANARIES)
            async for failing in task_failures(setting, trial, crawl, task):
                if failing.gate == Gate.CANARY_FLOOR:
                    found.append(f"{world.family}/{world.seed}: {failing.because}")
    return {
        "tasks": counts["tasks"],
        "tried": counts["ends"],
        "rewarded": len(found),
        "which": found[:5],
        "held": not found,
    }


def swap(worlds: int, tasks: int, rows: Path | None) -> dict[str, object]:
    """Return how many steps what is out of sight decides."""
    del rows
    attempts = [*of_worlds(spread(worlds, tasks)), *of_miniwob(1)]
    compared, episodes = asyncio.run(attempt_with_twins(attempts))
    return {
        "episodes": len(episodes),
        "ended": sum(episode.done for episode in episodes),
        "steps": compared.steps,
        "changed": len(compared.changed),
        "changed_steps": compared.changed[:5],
        "max_changed": 0,
        "held": not compared.changed,
    }


def steps(worlds: int, tasks: int, rows: Path | None) -> dict[str, object]:
    """Return the CPU of a step."""
    del rows
    return asyncio.run(_steps(spread(worlds, tasks)))


async def _steps(tasks: Sequence[Task]) -> dict[str, object]:
    free, counts, config = asyncio.Semaphore(_SESSIONS), Counter[str](), check_config()
    async with open_browsers() as browsers:

        async def attempt(task: Task) -> None:
            reference = task.reference or ()
            async with free:
                episode, _ = await attempt_watched(
                    config, browsers, task, lambda: ReferencePolicy(reference)
                )
            counts["steps"] += episode.n_steps

        await attempt(tasks[0])  # what only the first attempt takes
        counts.clear()
        before = cpu_by_kind()
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(attempt(task))
        used = cpu_since(before)
    each = {kind: round(1e3 * spent / counts["steps"], 2) for kind, spent in used.items()}
    ours = each["python"] + each.get("node", 0.0)
    return {
        "episodes": len(tasks),
        "steps": counts["steps"],
        "site_and_ours_ms": each["python"],
        "driver_ms": each.get("node", 0.0),
        "browser_ms": round(sum(each.values()) - ours, 2),
        "ours_ms": round(ours, 2),
        "max_ours_ms": MAX_CPU_MS,
        "held": ours <= MAX_CPU_MS,
    }


MEASURES = {
    "references": references,
    "clicks": clicks,
    "canaries": canaries,
    "swap": swap,
    "actions": actions,
    "steps": steps,
}


def main() -> int:
    """Run the benchmark; the exit status says whether every limit is held."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help=", ".join(MEASURES))
    parser.add_argument("--full", action="store_true", help="the sizes of the stated limits")
    parser.add_argument("--worlds", type=int)
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--rows", type=Path, help="a folder that keeps what `references` makes")
    parser.add_argument(
        "--keep", metavar="NAME", help="keep the figures as bench/results/NAME.json"
    )
    args = parser.parse_args()
    if unknown := set(args.measures) - MEASURES.keys():
        parser.error(
            f"no such measurement: {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}"
        )
    worlds = args.worlds or (FULL_WORLDS if args.full else WORLDS)
    sizes = _FULL if args.full else {}
    usual = FULL_TASKS if args.full else TASKS
    found = {
        name: alone(MEASURES[name], worlds, args.tasks or sizes.get(name, usual), args.rows)
        for name in args.measures or MEASURES
    }
    held = all(bool(each["held"]) for each in found.values())
    report({"bench": "references", **found, "held": held}, keep=args.keep)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
