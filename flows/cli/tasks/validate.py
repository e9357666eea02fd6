"""`stepmill tasks validate`: every defect of a task file with its place, and a summary of the file."""

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from flows.job.config_loader import Sources, load
from flows.terminal import ExitCode, print_lines, print_result, table
from generators.tasks.benchmarks import FileFormat
from generators.tasks.site_offers import SiteOffer, site_offers
from generators.tasks.task_file_reader import TaskFile, examine_task_file
from generators.tasks.task_plan import MAX_TASKS
from schemas.base import JsonObject


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    sites = site_offers(load(Sources(config=args.config), os.environ).sites)
    file = examine_task_file(Path(args.file), sites, max_tasks=MAX_TASKS)
    if not file.tasks and not file.mistakes:
        file.mistakes.append(f"{file.path}: holds no task")
    if args.json:
        print_result(_as_json(file, sites))
    else:
        print_lines(_lines(file, sites))
    if file.mistakes:
        return ExitCode.REFUSED
    return ExitCode.SHORT if file.unmapped else ExitCode.DONE


def _counts(file: TaskFile) -> list[tuple[str, str, int]]:
    counts = Counter((task.site, task.template_id) for task in file.tasks)
    return sorted((site, template, count) for (site, template), count in counts.items())


def _as_json(file: TaskFile, sites: Mapping[str, SiteOffer]) -> JsonObject:
    return {
        "file": str(file.path),
        "format": file.format.value,
        "tasks": len(file.tasks),
        "templates": [
            {"site": site, "template": name, "tasks": count, "refusal": sites[site].obstacle}
            for site, name, count in _counts(file)
        ],
        "mistakes": list(file.mistakes),
        "unmapped": list(file.unmapped),
        "fields_left_out": dict(sorted(file.fields_left_out.items())),
    }


def _lines(file: TaskFile, sites: Mapping[str, SiteOffer]) -> Iterator[str]:
    """Yield every defect, then the counts, then a summary."""
    yield from file.mistakes
    yield from file.unmapped
    if file.mistakes or file.unmapped:
        yield ""
    counts = _counts(file)
    if counts:
        rows = [(f"{site}  {template}", str(count)) for site, template, count in counts]
        yield from (*table(("site  template", "tasks"), rows), "")
    for site, count in sorted(Counter(task.site for task in file.tasks).items()):
        if (refusal := sites[site].obstacle) is not None:
            yield f"refused  {count} tasks of {site} cannot be attempted: {refusal}"
    for name, count in sorted(file.fields_left_out.items()):
        yield f"unused   the field {name} of {count} rows is ignored"
    if file.unmapped:
        yield f"unmapped {len(file.unmapped)} rows give no task; a run skips them"
    kind = "" if file.format is FileFormat.STEPMILL else f"; in the format of {file.format}"
    sites_named = len({site for site, _, _ in counts})
    yield (
        f"{file.path}: tasks {len(file.tasks)}, templates {len(counts)}, sites {sites_named}, "
        f"mistakes {len(file.mistakes)}{kind}"
    )
