"""What worlds cost, how unlike each other they are, and whether their tasks tell success from everything else.

Each of the measurements is a word of the command line; without one all are made. `pictures` alone needs a browser.

* `variety`: over world seeds of all families in turn, the distinct page graphs with their schemas, and the
  clusters of pages by the shape of their DOM, of first pages, lists, rows and forms apart: a page is in a cluster if its
  runs of three tag paths and those of the cluster's first page have a Jaccard index of one half. Over tasks, the share of
  distinct goals once what is quoted and numbers are masked, and of distinct runs of four words: as goals are, so
  masked, and with names of people, places and days that are not quoted masked too.
* `pictures`: the clusters of the first pages by their pictures, at 1024 × 768: a page is in a cluster if its difference
  hash of 256 bits is at most 40 bits from that of the cluster's first page.
* `making`: CPU seconds from a seed to its rows and its database, the worst of them.
* `visits`: opening a visit to its first page served, median and 99th percentile, and the memory of many visits
  that are open at once in one process.
* `near_misses`: by kind of task, how many, the fewest near misses and the fewest distractors of one, and how many cannot
  be done; ends that look like success and are none, made for tasks that change the state, all of which have
  to be rejected, and the same ends with tables and fields in another order and equal answers in other spellings, which have to be
  accepted.
"""

import argparse
import asyncio
import contextlib
import gc
import json
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from bench.measuring.page_shapes import clusters, shingles
from bench.measuring.process import alone, pss_mb
from bench.measuring.result import report
from flows.checks.world_pages import open_world
from flows.resources.browsers import open_browsers
from generators.browser.picture import read_picture
from generators.sites.judging.answers import other_spellings
from generators.sites.judging.near_misses import near_misses
from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.draw import draw_tasks
from generators.tasks.worlds.ground.task import WorldTask, actions_of, to_task
from generators.worlds.checking.crawl import Trial
from generators.worlds.drawing.draw import FAMILIES, draw, draw_whole, draw_world
from generators.worlds.state.database import Row, Rows, make_database
from schemas.tasks.expectation import Expectation, RowRule
from schemas.worlds.world import World

WORLDS, TASKS, VISITS = 40, 400, 100
"""Sizes by default; `--full` has those of the stated limits."""

FULL_WORLDS, FULL_TASKS, FULL_VISITS = 1_000, 10_000, 1_000
MAX_ENDING = 800
"""Tasks of which ends are made, at most: each has about twenty."""
MIN_DISTINCT, MIN_CLUSTERS, MIN_PICTURES = 0.99, 400, 300
MIN_GOALS, MIN_DISTINCT_4 = 0.95, 0.5
MAX_MAKING_SECONDS = 1.0
MAX_OPEN_MS, MAX_OPEN_P99_MS, MAX_VISIT_MB = 15.0, 60.0, 1.0
MIN_STEPS, MIN_LONG_STEPS, MIN_LONGEST_STEPS = 9, 18, 40
"""Actions of references: the median, the fourth quintile and the longest."""

_BITS = 40
"""Of 256 in which difference hashes of one cluster differ at most."""
_DAYS = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September"
    r"|October|November|December)\b"
)
_FIRST_SEED = 500_000
"""Of the worlds that are measured: seeds that nothing else uses."""


def named(count: int) -> list[tuple[str, int]]:
    """Return so many worlds, of all families in turn."""
    return [
        (FAMILIES[number % len(FAMILIES)], _FIRST_SEED + number // len(FAMILIES))
        for number in range(count)
    ]


def graph(world: World) -> str:
    """Return a world's schema and page graph, without the words that pages call anything."""
    entities = [
        [one.name, one.can_add, one.can_edit, one.can_delete]
        + [[field.name, field.kind, field.target, len(field.choices)] for field in one.fields]
        for one in world.entities
    ]
    views = [[one.name, one.entity, one.columns, one.filters, one.sorts] for one in world.views]
    flows = [[flow.entity, [step.name for step in flow.transitions]] for flow in world.workflows]
    return json.dumps([entities, views, flows], default=list)


def masked(task: WorldTask) -> str:
    """Return a goal without names and numbers."""
    return re.sub(r"\d+", "N", re.sub(r'"[^"]*"', "Q", task.instruction))


def bare(task: WorldTask, rows: Rows) -> str:
    """Return a goal without what is quoted, numbers, days, and names of several words that stand in the world's rows."""
    goal = _DAYS.sub("D", masked(task))
    values = {
        value
        for table in rows.values()
        for row in table
        for value in row.values()
        if isinstance(value, str) and " " in value and value in goal
    }
    for value in sorted(values, key=len, reverse=True):
        goal = goal.replace(value, "P")
    return goal


def runs(text: str) -> Iterator[tuple[str, ...]]:
    """Yield every four words that follow each other."""
    words = text.split()
    yield from (tuple(words[at : at + 4]) for at in range(len(words) - 3))


def places(world: World, rows: Rows) -> dict[str, str]:
    """Return where a world's first page is, and a list, a row's page and a form, as far as it has them."""
    view = world.views[0]
    found = {"first": "/", "list": f"/{view.name}"}
    if rows[view.entity]:
        row = f"/{view.entity}/{rows[view.entity][0]['id']}"
        found["row"] = row
        if world.entity(view.entity).can_edit:
            found["form"] = f"{row}/edit"
    return found


async def variety(worlds: int, tasks: int, visits: int) -> dict[str, object]:
    """Return how unlike worlds and their tasks are."""
    del visits
    graphs, goals = set[str](), Counter[str]()
    pages = defaultdict[str, list[frozenset[tuple[str, ...]]]](list)
    words, without, nameless = (Counter[tuple[str, ...]]() for _ in range(3))
    steps = list[int]()
    for family, seed in named(worlds):
        world, rows = draw_whole(family, seed)
        graphs.add(graph(world))
        with Trial(world, rows).visit() as (opened, _):
            for kind, path in places(world, rows).items():
                pages[kind].append(shingles((await opened.ask(path)).text))
        for task in draw_tasks(world, rows, seed, -(-tasks // worlds)):
            goals[masked(task)] += 1
            words.update(runs(task.instruction))
            without.update(runs(masked(task)))
            nameless.update(runs(bare(task, rows)))
            steps.append(actions_of(task.reference))
    found = {kind: clusters(those) for kind, those in pages.items()}
    long = statistics.quantiles(steps, n=5)[-1]
    figures: dict[str, object] = {
        "worlds": worlds,
        "tasks": goals.total(),
        "graphs": round(len(graphs) / worlds, 4),
        "min_graphs": MIN_DISTINCT,
        "dom_clusters": found["first"],
        **{f"{kind}_clusters": found[kind] for kind in ("list", "row", "form")},
        "forms": len(pages["form"]),
        "min_dom_clusters": MIN_CLUSTERS,
        "goals": round(len(goals) / goals.total(), 4),
        "min_goals": MIN_GOALS,
        "distinct_4": round(len(words) / words.total(), 4),
        "min_distinct_4": MIN_DISTINCT_4,
        "masked_distinct_4": round(len(without) / without.total(), 4),
        "nameless_distinct_4": round(len(nameless) / nameless.total(), 4),
        "actions_median": statistics.median(steps),
        "actions_fourth_quintile": long,
        "actions_longest": max(steps),
    }
    held = len(graphs) >= MIN_DISTINCT * worlds and len(words) >= MIN_DISTINCT_4 * words.total()
    if worlds >= FULL_WORLDS:
        held = held and found["first"] >= MIN_CLUSTERS and len(goals) >= MIN_GOALS * goals.total()
    is_long = statistics.median(steps) >= MIN_STEPS and long >= MIN_LONG_STEPS
    return {**figures, "held": held and is_long and max(steps) >= MIN_LONGEST_STEPS}


async def pictures(worlds: int, tasks: int, visits: int) -> dict[str, object]:
    """Return how unlike first pages look."""
    del tasks, visits
    firsts, apart = list[int](), list[int]()
    async with open_browsers() as browsers:
        for each in named(worlds):
            async with open_world(browsers, draw_world(*each)) as session:
                picture = (await session.observe()).screenshot.bytes
            found = int(read_picture(picture).difference_hash, 16)
            apart.append(min(((found ^ first).bit_count() for first in firsts), default=256))
            if apart[-1] > _BITS:
                firsts.append(found)
    return {
        "worlds": worlds,
        "picture_clusters": len(firsts),
        "min_picture_clusters": MIN_PICTURES,
        "bits_to_nearest_median": statistics.median(apart),
        "held": worlds < FULL_WORLDS or len(firsts) >= MIN_PICTURES,
    }


async def making(worlds: int, tasks: int, visits: int) -> dict[str, object]:
    """Return what making worlds from their seeds takes."""
    del tasks, visits
    seconds = list[float]()
    draw_whole("shop", _FIRST_SEED - 1)  # what only the first world of a process takes
    for family, seed in named(worlds):
        begun = time.process_time()
        world, rows, _ = draw.__wrapped__(family, seed)
        make_database(world, rows)
        seconds.append(time.process_time() - begun)
    return {
        "worlds": worlds,
        "cpu_s_median": round(statistics.median(seconds), 3),
        "cpu_s_worst": round(max(seconds), 3),
        "max_cpu_s": MAX_MAKING_SECONDS,
        "held": max(seconds) <= MAX_MAKING_SECONDS,
    }


async def visits(worlds: int, tasks: int, count: int) -> dict[str, object]:
    """Return what visits take: time until the first page is served, and memory."""
    del tasks
    trials = [Trial(*draw_whole(*each)) for each in named(min(worlds, 40))]
    for trial in trials:
        with trial.visit() as (opened, _):
            await opened.ask("/")
    gc.collect()
    before, times = pss_mb(own=True), list[float]()
    with contextlib.ExitStack() as stack:
        for number in range(count):
            begun = time.perf_counter()
            opened, _ = stack.enter_context(trials[number % len(trials)].visit())
            await opened.ask("/")
            times.append(1_000 * (time.perf_counter() - begun))
        memory = pss_mb(own=True)
    p99 = statistics.quantiles(times, n=100)[-1]
    each = (memory - before) / count
    return {
        "visits": count,
        "open_ms": round(statistics.median(times), 2),
        "max_open_ms": MAX_OPEN_MS,
        "open_p99_ms": round(p99, 2),
        "max_open_p99_ms": MAX_OPEN_P99_MS,
        "visit_mb": round(each, 3),
        "max_visit_mb": MAX_VISIT_MB,
        "process_mb": round(memory),
        "held": statistics.median(times) <= MAX_OPEN_MS
        and p99 <= MAX_OPEN_P99_MS
        and each <= MAX_VISIT_MB,
    }


def wanted(rows: Rows, expect: Expectation) -> Rows:
    """Return the rows that a task of a world asks for."""
    after: Rows = {name: [dict(row) for row in each] for name, each in rows.items()}
    for rule in expect.added:
        last = max((int(row["id"] or 0) for row in after[rule.table]), default=0)
        after[rule.table].append({"id": last + 1, **_values(rule.where)})
    for rule in expect.changed:
        for row in after[rule.table]:
            if _fits(row, rule):
                row.update(_values(rule.set))
    for rule in expect.removed:
        after[rule.table] = [row for row in after[rule.table] if not _fits(row, rule)]
    return after


def _values(stated: Any) -> Row:
    """Return what a rule of a world states: literals alone."""
    return dict(stated)


def _fits(row: Mapping[str, object], rule: RowRule) -> bool:
    return all(row[name] == value for name, value in rule.where.items())


async def pays(world: World, rows: Rows, task: WorldTask, state: Any, answer: str | None) -> bool:
    """Return whether a task is rewarded for an end."""
    start: Any = rows
    said = await judge_states(
        to_task(world, task),
        before=ServerState(start, keys=dict.fromkeys(rows, "id")),
        after=ServerState(state),
        answer=answer,
    )
    return said.reward > 0


async def ends(worlds: int, tasks: int, visits: int) -> dict[str, object]:
    """Return how many near misses are accepted, and how many equivalent ends are not."""
    del visits
    counts, tasks = Counter[str](), min(tasks, MAX_ENDING)
    kinds = dict[str, list[int | None]]()
    worlds = min(worlds, tasks)
    for family, seed in named(worlds):
        world, rows = draw_whole(family, seed)
        keys = dict.fromkeys(rows, "id")
        for task in draw_tasks(world, rows, seed, -(-tasks // worlds)):
            last = task.reference[-1].text
            after: Any = wanted(rows, task.expect)
            start: Any = rows
            counts["tasks"] += 1
            if not await pays(world, rows, task, after, last):
                counts["not_rewarded"] += 1
                continue
            misses = near_misses(task.expect, before=start, after=after, answer=last, keys=keys)
            of_kind = kinds.setdefault(task.kind, [0, len(misses), task.distractors])
            of_kind[0] = (of_kind[0] or 0) + 1
            of_kind[1] = min(of_kind[1] or 0, len(misses))
            if task.distractors is not None:
                of_kind[2] = min(task.distractors, of_kind[2] or task.distractors)
            counts["fewest"] = min(counts["fewest"] or len(misses), len(misses))
            for miss in misses:
                counts["near_misses"] += 1
                counts["accepted"] += await pays(world, rows, task, miss.state, miss.answer)
            other = {
                name: [dict(reversed(row.items())) for row in each]
                for name, each in sorted(after.items())
            }
            for answer in (last, *other_spellings(task.expect)):
                counts["equivalents"] += 1
                counts["rejected"] += not await pays(world, rows, task, other, answer)
    return {
        **{
            name: counts[name]
            for name in ("tasks", "not_rewarded", "near_misses", "accepted", "fewest")
        },
        **{name: counts[name] for name in ("equivalents", "rejected")},
        "tasks_misses_distractors": dict(sorted(kinds.items())),
        "twins": round((kinds.get("impossible", [0])[0] or 0) / max(1, counts["tasks"]), 3),
        "held": not (counts["not_rewarded"] or counts["accepted"] or counts["rejected"]),
    }


MEASURES = {
    "variety": variety,
    "pictures": pictures,
    "making": making,
    "visits": visits,
    "near_misses": ends,
}


def measure(name: str, worlds: int, tasks: int, count: int) -> dict[str, object]:
    """Return the figures of one measurement."""
    return asyncio.run(MEASURES[name](worlds, tasks, count))


def main() -> int:
    """Run the benchmark; the exit status says whether every limit is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help=", ".join(MEASURES))
    parser.add_argument("--full", action="store_true", help="the sizes of the stated limits")
    parser.add_argument("--worlds", type=int)
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--visits", type=int)
    args = parser.parse_args()
    if unknown := set(args.measures) - MEASURES.keys():
        parser.error(
            f"no such measurement: {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}"
        )
    usual = (FULL_WORLDS, FULL_TASKS, FULL_VISITS) if args.full else (WORLDS, TASKS, VISITS)
    sizes = [
        given or size
        for given, size in zip((args.worlds, args.tasks, args.visits), usual, strict=True)
    ]
    found = {name: alone(measure, name, *sizes) for name in args.measures or MEASURES}
    held = all(bool(each["held"]) for each in found.values())
    whole = args.full and not (args.worlds or args.tasks or args.visits)
    keep = "_".join(("worlds", *(args.measures or ["full"]))) if whole else None
    report({"bench": "worlds", **found, "held": held}, keep=keep)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
