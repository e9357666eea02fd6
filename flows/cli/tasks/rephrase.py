"""`stepmill tasks rephrase`: a model writes other goals of a task file of worlds, or other thoughts of a run.

What it writes is kept only where it means the same: a goal where the resolver comes to the task's expectation and the
gates of leaks hold, a thought where the verifier `seen` accepts it. What is not kept stays as it was. What a killed call
has got lies beside its target, and another call goes on from there.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from flows import signals
from flows.job.config_loader import Sources, load
from flows.job.paid_replies import PaidReplies
from flows.job.rephrased_goals import Rephrasing, rephrase_goals
from flows.job.rewritten_thoughts import Rewriting, rewrite_thoughts
from flows.job.stored_run import open_stored_run
from flows.resources.engines import open_engine
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_note, print_result
from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_keys import endpoint_keys
from generators.tasks.files import row_of
from generators.tasks.rephrase.gate import with_goal
from generators.tasks.site_offers import site_offers
from generators.tasks.task_file_reader import read_task_file
from generators.tasks.task_plan import MAX_TASKS
from schemas.base import JsonObject
from schemas.errors import BadConfig
from schemas.tasks.task import Task
from storage.publish.plan.episode_reader import EpisodeReader
from storage.publish.plan.rows import open_tables, table_errors
from storage.publish.plan.selection import select

_PATIENCE_SECONDS = 600.0
_URLS = ("http://", "https://")


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    target = Path(args.to)
    if target.exists():
        raise BadConfig(f"--to {target}: there is such a file; name another, or remove it")
    log_to_stderr()
    is_file = Path(args.what).is_file()
    about = str(Path(args.what).resolve()) if is_file else args.what
    with PaidReplies(target, about) as paid:
        if paid.done:
            print_note(
                f"{paid.path}: goes on behind {len(paid.done)} that an earlier call has done"
            )
        done = signals.run(_goals(args, paid) if is_file else _thoughts(args, paid))
        paid.finish(done.lines)
    if args.json:
        print_result({"to": str(target), **done.counts(), "refused": dict(done.refused)})
    else:
        reasons = [f"{count:>6}  {reason}" for reason, count in done.refused.most_common()]
        told = f"{target}: {done.kept} of {done.asked} {done.noun} are rephrased"
        print_lines([*reasons, told])
    return ExitCode.DONE if done.kept else ExitCode.SHORT


class _Done(NamedTuple):
    """What has come of it."""

    noun: str
    lines: list[str]
    kept: int
    refused: Counter[str]

    @property
    def asked(self) -> int:
        """How many were asked for."""
        return self.kept + self.refused.total()

    def counts(self) -> JsonObject:
        """Return how many there are and how many of them are rephrased."""
        return {self.noun: self.asked, "rephrased": self.kept}


async def _goals(args: argparse.Namespace, paid: PaidReplies) -> _Done:
    offers = site_offers(load(Sources(), os.environ).sites)
    tasks = read_task_file(Path(args.what), offers, max_tasks=MAX_TASKS).tasks
    known = {task.task_id: _paid(task, paid.done.get(task.task_id)) for task in tasks}
    left = [task for task in tasks if known[task.task_id] is None]

    def report(own: Task, one: Rephrasing) -> None:
        _note(one)
        if one.is_answered:
            by = one.task.rephrased_by
            paid.add(own.task_id, {"goal": one.goal, "by": by, "refused": one.refused})

    async with _engine(args) as engine:
        new = await rephrase_goals(engine, left, report=report)
    for task, one in zip(left, new, strict=True):
        known[task.task_id] = one
    done = [each for task in tasks if (each := known[task.task_id]) is not None]
    refused = Counter(one.refused.partition(":")[0] for one in done if one.refused is not None)
    lines = [json.dumps(row_of(one.task), ensure_ascii=False) for one in done]
    return _Done("goals", lines, len(done) - refused.total(), refused)


def _paid(task: Task, entry: JsonObject | None) -> Rephrasing | None:
    """Return what an earlier call has made of a task; None: nothing."""
    if entry is None:
        return None
    goal, refused = str(entry["goal"]), entry["refused"]
    if refused is not None:
        return Rephrasing(task, goal, str(refused))
    return Rephrasing(with_goal(task, goal, by=str(entry["by"])), goal, None)


async def _thoughts(args: argparse.Namespace, paid: PaidReplies) -> _Done:
    stored = await open_stored_run(args.what, Sources(), os.environ)
    try:
        tables = await open_tables(await stored.lake.snapshot())
    finally:
        await stored.lake.close()
    with table_errors(f"version {tables.version} of the run"):
        chosen = select(tables, stored.config.accept, include_rejected=False).published
        left = [one for one in chosen if one.episode_id not in paid.done]
        sources = EpisodeReader(tables).read(left)
        async with _engine(args) as engine:
            new = await rewrite_thoughts(engine, sources, report=partial(_add_episode, paid))
    lines = [str(line) for entry in paid.done.values() for line in _list(entry["kept"])]
    lines += [one.model_dump_json() for one in new.kept]
    refused = +new.refused
    for entry in paid.done.values():
        refused.update(_counts(entry["refused"]))
    return _Done("thoughts", lines, len(lines), refused)


def _add_episode(paid: PaidReplies, episode_id: str, done: Rewriting) -> None:
    if done.is_answered:
        kept: list[JsonValue] = [one.model_dump_json() for one in done.kept]
        paid.add(episode_id, {"kept": kept, "refused": dict(done.refused)})


def _list(told: JsonValue) -> list[JsonValue]:
    return told if isinstance(told, list) else []


def _counts(told: JsonValue) -> dict[str, int]:
    counts = told.items() if isinstance(told, dict) else ()
    return {reason: count for reason, count in counts if isinstance(count, int)}


@asynccontextmanager
async def _engine(args: argparse.Namespace) -> AsyncIterator[OpenAIEngine]:
    """Open the engine at a URL, or the one of a configuration."""
    if not args.engine.startswith(_URLS):
        async with open_engine(load(Sources(config=args.engine), os.environ)) as engine:
            yield engine
        return
    keys = endpoint_keys((args.engine,), os.environ, main=(args.engine,))
    client = OpenAIEngine(
        (args.engine,), model=args.model, keys=keys, timeout_seconds=_PATIENCE_SECONDS
    )
    async with client as engine:
        yield engine


def _note(one: Rephrasing) -> None:
    if one.refused is not None:
        print_note(f"{one.task.template_id} {one.task.seed}: not kept: {one.refused}")
