"""`stepmill tasks export`: tasks of a run as directories of Harbor, whose oracles are episodes of the run.

A task is written if the run would publish an accepted episode that did it; the oracle acts as the shortest one. Everything is made
before anything is written. A folder that has the same files already is left as it is; one with anything else is refused.
"""

import argparse
import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from flows.job.config_loader import Sources
from flows.job.stored_run import StoredRun, open_stored_run
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from generators.tasks.harbor.directory import CONFIG, files_of, name_of
from generators.tasks.site_offers import SiteOffer, site_offers
from schemas.errors import BadConfig, BadTasks, Unwritable
from schemas.verdicts.full_episode import FullEpisode
from storage.objects.durable_files import write_file
from storage.objects.urls import folder, is_bucket
from storage.publish.plan.candidate import Candidate
from storage.publish.plan.episode_reader import EpisodeReader
from storage.publish.plan.rows import Tables, open_tables, table_errors
from storage.publish.plan.selection import Selection, select

PROGRAMS = {".sh", ".py"}
"""The suffixes of files that are programs."""


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    log_to_stderr()
    if is_bucket(args.to) or args.to.startswith("hf://"):
        raise BadConfig(f"--to {args.to}: tasks are written to a folder; copy them from there")
    to = folder(args.to)
    stored, tables = asyncio.run(_open_tables(args))
    sites = site_offers(stored.config.sites)
    with table_errors(f"version {tables.version} of the run"):
        selection = select(tables, stored.config.accept, include_rejected=False)
        wanted = [one for one in selection.candidates if _is_wanted(args, one, selection)]
        oracles = _oracles(selection, wanted)
        files = _files(EpisodeReader(tables).read(oracles), sites)
    undone = len({one.task_id for one in wanted}) - len(oracles)
    if not oracles:
        raise BadTasks(
            f"{args.run}: has no accepted episode that did a task which is asked for; `stepmill show` says why"
        )
    left = _files_left(to, files)
    _write(to, {path: files[path] for path in left})
    told = {"to": str(to), "tasks": len(oracles), "left_out": undone, "written": bool(left)}
    if args.json:
        print_result({"run": args.run, **told})
    else:
        state = "written" if left else "there already, unchanged"
        print_lines(
            [
                f"tasks    {to}  ({len(oracles)} directories of Harbor; {state})",
                *(
                    [
                        f"left out {undone} tasks: no accepted episode did them, or publication holds them back"
                    ]
                    if undone
                    else []
                ),
            ]
        )
    return ExitCode.DONE


async def _open_tables(args: argparse.Namespace) -> tuple[StoredRun, Tables]:
    sources = Sources(config=args.config, settings=tuple(args.settings))
    stored = await open_stored_run(args.run, sources, os.environ)
    try:
        return stored, await open_tables(await stored.lake.snapshot())
    finally:
        await stored.lake.close()


def _is_wanted(args: argparse.Namespace, candidate: Candidate, selection: Selection) -> bool:
    """Return whether the task of an episode is asked for."""
    name = candidate.template_id
    split = selection.splits.by_template.get(name)
    return args.split in (None, split) and any(fnmatchcase(name, glob) for glob in args.globs)


def _oracles(selection: Selection, wanted: Sequence[Candidate]) -> list[Candidate]:
    """Return the shortest accepted episode that did each task, in the order of tasks."""
    best: dict[str, Candidate] = {}
    won = [
        one
        for one in wanted
        if one.success and one.acceptance.accepted and selection.publishes(one)
    ]
    for one in sorted(won, key=lambda one: (one.n_steps, one.attempt, one.episode_id)):
        best.setdefault(one.task_id, one)
    return sorted(best.values(), key=lambda one: (one.template_id, one.task_id))


def _files(episodes: Iterable[FullEpisode], sites: Mapping[str, SiteOffer]) -> dict[str, bytes]:
    """Return the files of all tasks by their paths in the folder.

    Raises:
        BadTasks: two tasks would have the same directory.
    """
    files: dict[str, bytes] = {}
    for one in episodes:
        name = name_of(one.task)
        if f"{name}/{CONFIG}" in files:
            raise BadTasks(f"{name}: is the directory of two tasks; export them apart, by GLOB")
        own = files_of(one.task, one.episode, sites)
        files |= {f"{name}/{path}": data for path, data in own.items()}
    return files


def _files_left(to: Path, files: Mapping[str, bytes]) -> list[str]:
    """Return the files that a folder lacks.

    Raises:
        Unwritable: it has a file that is none of these, or another file in the place of one, or cannot be read.
    """
    try:
        there = sorted(path for path in to.rglob("*") if path.is_symlink() or not path.is_dir())
        for path in there:
            name = path.relative_to(to).as_posix()
            if name not in files or path.is_symlink() or path.read_bytes() != files[name]:
                raise Unwritable(
                    f"--to {to}: holds {name}, which is none of these tasks' files; give a folder that is new or empty"
                )
    except OSError as error:
        raise Unwritable(f"--to {to}: cannot be read: {error.strerror}") from error
    found = {path.relative_to(to).as_posix() for path in there}
    return [name for name in files if name not in found]


def _write(to: Path, files: Mapping[str, bytes]) -> None:
    """Write files; a call that was killed is gone on from by the next.

    Raises:
        Unwritable: one cannot be written.
    """
    try:
        for name, data in files.items():
            path = to / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, data, synchronise=False)
            if path.suffix in PROGRAMS:
                path.chmod(0o755)
    except OSError as error:
        raise Unwritable(f"--to {to}: cannot be written: {error.strerror}") from error
