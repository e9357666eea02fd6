"""`stepmill tasks rephrase`: a model writes other goals of a task file of worlds, or other thoughts of a run.

What it writes is kept only where it means the same: a goal where the resolver comes to the task's expectation and the
gates of leaks hold, a thought where the verifier `seen` accepts it. What is not kept stays as it was.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from flows import signals
from flows.job.config_loader import Sources, load
from flows.job.rephrased_goals import Rephrasing, rephrase_goals
from flows.resources.engines import open_engine
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_note, print_result
from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_keys import endpoint_keys
from generators.tasks.files import JSON_COLUMNS, TaskRow
from generators.tasks.site_offers import site_offers
from generators.tasks.task_file_reader import read_task_file
from generators.tasks.task_plan import MAX_TASKS
from schemas.base import JsonObject
from schemas.errors import BadConfig
from schemas.tasks.task import Task

_PATIENCE_SECONDS = 600.0
_URLS = ("http://", "https://")


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    target = Path(args.to)
    if target.exists():
        raise BadConfig(f"--to {target}: there is such a file; name another, or remove it")
    log_to_stderr()
    offers = site_offers(load(Sources(), os.environ).sites)
    tasks = read_task_file(Path(args.what), offers, max_tasks=MAX_TASKS).tasks
    done = signals.run(_goals(args, tasks))
    target.write_text("".join(f"{_row(one.task)}\n" for one in done), encoding="utf-8")
    kept = sum(one.refused is None for one in done)
    if args.json:
        print_result(_as_json(done, str(target), kept))
    else:
        print_lines([*_lines(done), f"{target}: {kept} of {len(done)} goals are rephrased"])
    return ExitCode.DONE if kept else ExitCode.SHORT


async def _goals(args: argparse.Namespace, tasks: list[Task]) -> list[Rephrasing]:
    async with _engine(args) as engine:
        return await rephrase_goals(engine, tasks, report=_note)


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


def _row(task: Task) -> str:
    """Return a task as a row of a task file."""
    whole = task.model_dump(mode="json", exclude_none=True)
    told = {name: value for name, value in whole.items() if name in TaskRow.model_fields}
    empty = {name for name in JSON_COLUMNS if told.get(name) in ({}, [])}
    return json.dumps(
        {name: value for name, value in told.items() if name not in empty and value != ""},
        ensure_ascii=False,
    )


def _reasons(done: Iterable[Rephrasing]) -> list[tuple[str, int]]:
    told = Counter(one.refused.partition(":")[0] for one in done if one.refused is not None)
    return told.most_common()


def _lines(done: Iterable[Rephrasing]) -> list[str]:
    return [f"{count:>6}  {reason}" for reason, count in _reasons(done)]


def _as_json(done: list[Rephrasing], to: str, kept: int) -> JsonObject:
    return {
        "to": to,
        "tasks": len(done),
        "rephrased": kept,
        "refused": dict(_reasons(done)),
    }
