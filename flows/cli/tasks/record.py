"""`stepmill tasks record`: a recording of a browser becomes the reference of a task, once it has been carried out."""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from flows import signals
from flows.checks.recordings import verify_recording
from flows.job.config_loader import Sources, layers
from flows.job.validate import ValidConfig, validate
from flows.resources.browsers import open_browsers
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from generators.tasks.files import row_of
from generators.tasks.recordings.reader import read_recording
from generators.tasks.recordings.recording import Recorded, Recording
from schemas.base import JsonObject, canonical_json
from schemas.configuration.config import Layer, resolve
from schemas.errors import BadTasks, Unwritable
from schemas.tasks.reference import Do, ReferenceStep
from schemas.tasks.task import Task
from storage.objects.durable_files import write_file


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings))
    task_file: Layer = {"tasks": {"source": args.task}}
    prepared = validate(resolve([*layers(sources, os.environ), ("--task", task_file)]))
    to = Path(args.to)
    if len(prepared.tasks) != 1:
        raise BadTasks(
            f"--task {args.task}: holds {len(prepared.tasks)} tasks; expected one, whose reference is recorded"
        )
    [task] = prepared.tasks
    recording = _with_answer(read_recording(Path(args.recording), task), args.answer)
    made = signals.run(_verify(prepared, task, recording))
    try:
        write_file(to, f"{canonical_json(_row(made))}\n".encode())
    except OSError as error:
        raise Unwritable(f"--to {to}: cannot be written: {error.strerror}") from error
    steps = len(made.reference or ())
    if args.json:
        print_result({"to": str(to), "task_id": made.task_id, "steps": steps})
    else:
        print_lines([f"task     {to}  ({steps} steps; done, and replayed)"])
    return ExitCode.DONE


def _row(task: Task) -> JsonObject:
    """Return a task as a row of a task file; its split is there only if its file named it."""
    row = row_of(task)
    planned = {"split", "split_version"} if "split_version" in row else set()
    return {name: value for name, value in row.items() if name not in planned}


def _with_answer(recording: Recording, answer: str | None) -> Recording:
    """Return a recording that ends with an answer; None: with what was recorded last."""
    if answer is None:
        return recording
    last = Recorded("--answer", "", ReferenceStep(do=Do.ANSWER, text=answer))
    return replace(recording, steps=(*recording.steps, last))


async def _verify(prepared: ValidConfig, task: Task, recording: Recording) -> Task:
    async with open_browsers(prepared.config.sites, needed={task.site}) as browsers:
        return await verify_recording(prepared.config, browsers, task, recording)
