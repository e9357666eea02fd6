"""`stepmill tasks list`: templates of the shipped catalogue, or the tasks of a file or a run; no browser."""

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from flows.job.config_loader import Sources, load
from flows.terminal import ExitCode, print_lines, print_result, strip_control_chars
from generators.sites import miniwob
from generators.sites.miniwob_catalogue import Need, catalogue
from generators.tasks.selection import select
from generators.tasks.site_offers import site_offers
from generators.tasks.task_plan import plan_tasks, refusal_of
from registries.splits.registry import entry_of
from schemas.configuration.sections import TasksSection
from schemas.errors import BadTasks
from schemas.nearest import did_you_mean
from schemas.tasks.task import MAX_SEED, SPLITS

_Line = Mapping[str, object]


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    if args.source == miniwob.NAME or (args.source is None and args.config is None):
        return _list_templates(args)
    return _list_tasks(args)


def _list_templates(args: argparse.Namespace) -> int:
    tags = [_parse_tag(tag) for tag in args.tag]
    include = tuple(args.globs) or ("*",)
    offer = site_offers()[miniwob.NAME]
    names = select(offer.templates, include=include, exclude=(), where=offer.name)
    splits = {name: entry.split for name in names if (entry := entry_of(offer.name, name))}
    chosen = [
        name
        for name in names
        if set(tags) <= set(catalogue()[name].needs)
        and args.split in (None, splits.get(name, SPLITS[0]))
    ]
    if not chosen:
        raise BadTasks(f"none of these templates has {_wish(args)}")
    templates: list[_Line] = [
        {
            "template": name,
            "seeds": [0, MAX_SEED],
            "split": splits.get(name, SPLITS[0]),
            "tags": [need.value for need in entry.needs],
            "feasible": entry.feasible,
            "note": entry.note,
            "goal": entry.goal,
        }
        for name in chosen
        for entry in [catalogue()[name]]
    ]
    if args.json:
        print_result({"source": offer.name, "site_version": offer.version, "templates": templates})
        return ExitCode.DONE
    print_lines(_columns(templates, ("template", "split", "tags", "goal")))
    print_lines(["", *_notes(chosen)])
    print_lines(
        [f"{len(chosen)} templates of {offer.name} {offer.version}, each with seeds 0–{MAX_SEED}"]
    )
    return ExitCode.DONE


def _wish(args: argparse.Namespace) -> str:
    """Return what was asked for of each, in words."""
    tags = [f"every tag of {args.tag}"] if args.tag else []
    return " and ".join([*tags, *([f"the split '{args.split}'"] if args.split else [])])


def _notes(names: Sequence[str]) -> Iterator[str]:
    """Yield each note once, with its templates."""
    about: dict[str, list[str]] = {}
    for name in names:
        note = catalogue()[name].note
        if note is not None:
            about.setdefault(note, []).append(name)
    for note, templates in about.items():
        yield f"{', '.join(templates)}: {note}"


def _parse_tag(tag: str) -> Need:
    try:
        return Need(tag)
    except ValueError:
        hint = did_you_mean(tag, Need)
        raise BadTasks(
            f"--tag: no template has '{tag}' (there are: {', '.join(Need)}){hint}"
        ) from None


def _list_tasks(args: argparse.Namespace) -> int:
    config = load(Sources(config=args.config), os.environ)
    section = config.tasks
    if args.source is not None:
        section = TasksSection(source=args.source)
    if args.globs:
        section = section.model_copy(update={"include": tuple(args.globs)})
    plan = plan_tasks(section, seed=config.run.seed, applications=config.sites)
    source, sites = ", ".join(section.sources or (section.source,)), site_offers(config.sites)
    tasks = [
        task
        for task in (*plan.tasks, *plan.set_apart)
        if set(args.tag) <= set(task.tags) and args.split in (None, task.split)
    ]
    if not tasks:
        raise BadTasks(f"none of these tasks has {_wish(args)}")
    listed: list[dict[str, object]] = [
        {
            "task_id": task.task_id,
            "template": task.template_id,
            "seed": task.seed,
            "site": task.site,
            "split": task.split,
            "start_url": task.start_url,
            "tags": list(task.tags),
            "goal": task.instruction or None,
            "refusal": refusal_of(task, sites),
        }
        for task in tasks
    ]
    if args.json:
        print_result({"source": source, "tasks": listed, "unmapped": list(plan.unmapped)})
        return ExitCode.DONE
    marked = [item | {"mark": "refused" if item["refusal"] else None} for item in listed]
    mark = ["mark"] if any(item["refusal"] for item in listed) else []
    print_lines(_columns(marked, ("task_id", *mark, "template", "seed", "split", "tags", "goal")))
    print_lines(["", f"{len(tasks)} tasks in {source}"])
    for why, count in Counter(item["refusal"] for item in listed if item["refusal"]).items():
        print_lines([f"{count} of them cannot be attempted: {why}"])
    if plan.unmapped:
        hint = f"`stepmill tasks validate {args.source or 'FILE'}` names each"
        print_lines([f"{len(plan.unmapped)} rows give no task; {hint}"])
    return ExitCode.DONE


def _columns(items: Sequence[_Line], keys: Sequence[str]) -> Iterator[str]:
    """Yield a header and a line for each item, aligned and cut to the terminal's width."""
    rows = [tuple(keys), *(tuple(_cell(item[key]) for key in keys) for item in items)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(keys))]
    width_limit = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = line.rstrip()
        yield (
            line
            if width_limit is None or len(line) <= width_limit
            else line[: width_limit - 1] + "…"
        )


def _cell(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else strip_control_chars(str(value)).replace("\n", " ")
