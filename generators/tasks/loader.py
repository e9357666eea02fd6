"""From a configuration's `[tasks]` to the tasks themselves, in one order.

A source is a task file, or the name of a site with templates: then the tasks are every chosen
template with every seed of a range. The same section gives the same tasks with the same ids, in the
same order, on every machine. A mistake in it is an error before any work.
"""

from pathlib import Path

from generators.tasks.files import read_task_file
from generators.tasks.selection import select
from generators.tasks.site_templates import SiteOffer, did_you_mean, make_template_task, site_offers
from schemas.errors import BadTasks
from schemas.sections import TasksSection
from schemas.task import Task

MAX_TASKS = 1_000_000
"""Tasks in one plan; they stay in memory, 1.5 kB each."""

_RESERVED_SOURCES = ("apps",)


def load_tasks(section: TasksSection) -> list[Task]:
    """Return the tasks of a source, sorted by site, template and seed.

    Raises:
        BadTasks: the source is unreadable, has an unknown name, or selects nothing.
    """
    sites = site_offers()
    if section.source in _RESERVED_SOURCES:
        raise BadTasks(f"tasks.source: this version has no {section.source} site")
    if section.source in sites:
        return _read_templates(sites[section.source], section)
    return _read_file(Path(section.source), section, sites)


def _read_templates(offer: SiteOffer, section: TasksSection) -> list[Task]:
    chosen = select(
        offer.templates, include=section.include, exclude=section.exclude, where=offer.name
    )
    first, last = section.seeds
    count = len(chosen) * (last - first + 1)
    if count > MAX_TASKS:
        raise BadTasks(
            f"tasks.seeds = [{first}, {last}] × {len(chosen)} templates: {count:,} tasks are more "
            f"than one run plans ({MAX_TASKS:,}); split them over several runs"
        )
    return [
        make_template_task(offer, name, seed=seed, source=offer.name)
        for name in chosen
        for seed in range(first, last + 1)
    ]


def _read_file(path: Path, section: TasksSection, sites: dict[str, SiteOffer]) -> list[Task]:
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except OSError as error:
        raise BadTasks(f"tasks.source: '{path}' cannot be opened: {error.strerror}") from None
    if not is_file:
        what = "is a folder" if is_folder else "is no such file"
        builtin = [*sites, *_RESERVED_SOURCES]
        raise BadTasks(
            f"tasks.source: '{path}' {what}, and there is no built-in source of that name "
            f"(there are: {', '.join(sites)}){did_you_mean(str(path), builtin)}"
        )
    tasks = read_task_file(path, sites, max_tasks=MAX_TASKS)
    kept = set(
        select(
            {task.template_id for task in tasks},
            include=section.include,
            exclude=section.exclude,
            where=str(path),
            known={name for offer in sites.values() for name in offer.templates},
        )
    )
    return sorted(
        (task for task in tasks if task.template_id in kept),
        key=lambda task: (task.site, task.template_id, task.seed, task.task_id),
    )
