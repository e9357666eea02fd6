"""Turns a configuration's `[tasks]` into tasks, in a fixed order.

A source is a task file, or the name of a site with templates, which stands for every chosen template with every seed
of a range. All tasks are taken, or a sample that is even over sites and templates. The same section gives the same
tasks with the same ids, in the same order, on every machine; a mistake is an error before any work. Tasks of a site
that cannot be attempted yet are planned but set apart, with the reason. So are tasks of applications that are not
installed: they wait for a machine with the application, and sampling includes them so that samples are the same
there.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generators.tasks.sampling import Stratum, draw_tasks
from generators.tasks.selection import select
from generators.tasks.site_offers import SiteOffer, site_offers
from generators.tasks.task_file_reader import TaskFile, read_task_file
from registries.splits.registry import SplitOf, entry_of, split_of, splits_of_files
from schemas.configuration.application import Application
from schemas.configuration.config import seed_range
from schemas.configuration.sections import TasksSection
from schemas.errors import BadTasks
from schemas.nearest import did_you_mean
from schemas.tasks.task import SPLITS, Task

MAX_TASKS = 1_000_000
"""Maximum number of tasks in one plan; each takes 1.5 kB of memory."""


MAX_DRAWN = 20_000
"""Maximum number of tasks in one plan that are drawn with their website; each takes a twentieth of a second."""


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """The tasks of a section."""

    tasks: tuple[Task, ...]
    """The tasks to attempt, sorted by site, template and seed."""
    waiting: tuple[Task, ...]
    """The tasks of applications that are not installed here, in the same order."""
    refused: tuple[Task, ...]
    """The tasks that no machine can attempt yet, in the same order."""
    unmapped: tuple[str, ...]
    """Rows of benchmarks' files without a task, each in a line with its place and the reason."""
    available: int
    """The number of tasks to sample from, including those that wait."""

    @property
    def set_apart(self) -> tuple[Task, ...]:
        """The tasks that cannot be attempted here; `refusal_of` says why."""
        return (*self.waiting, *self.refused)


def load_tasks(
    section: TasksSection, *, seed: int = 0, applications: Mapping[str, Application] | None = None
) -> list[Task]:
    """Return the tasks of a section that can be attempted here, sorted by site, template and seed.

    `seed` is the run's, and decides a sample; `applications` are its own sites.

    Raises:
        BadConfig: an application has the name of a site that ships.
        BadTasks: a source is unreadable, has an unknown name, or selects nothing.
    """
    return list(plan_tasks(section, seed=seed, applications=applications).tasks)


def plan_tasks(
    section: TasksSection, *, seed: int = 0, applications: Mapping[str, Application] | None = None
) -> TaskPlan:
    """Return the plan of a section; `seed` is the run's, and decides a sample.

    Raises:
        BadConfig: an application has the name of a site that ships.
        BadTasks: a source is unreadable, has an unknown name, or selects nothing.
    """
    sources = read_sources(section, applications)
    sites, splits, strata = sources.sites, sources.splits, sources.strata
    ready = [stratum for stratum in strata if stratum.offer.refusal is None]
    available = sum(stratum.size for stratum in ready)
    _check_count(available, section, templates=len(ready))
    _check_drawn(sum(one.size for one in ready if one.offer.draw is not None), section)
    chosen = (
        (task for stratum in ready for task in stratum)
        if section.sample is None
        else draw_tasks(ready, count=section.sample, seed=seed)
    )
    drawn = sorted((in_split(task, splits) for task in chosen), key=_place)
    never = (task for one in strata if one.offer.refusal is not None for task in one)
    refused = sorted((in_split(task, splits) for task in never), key=_place)
    return TaskPlan(
        tasks=tuple(task for task in drawn if sites[task.site].missing is None),
        waiting=tuple(task for task in drawn if sites[task.site].missing is not None),
        refused=tuple(refused),
        unmapped=tuple(line for file in sources.files for line in file.unmapped),
        available=available,
    )


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of a section, read but not drawn from."""

    sites: Mapping[str, SiteOffer]
    """The sites that tasks may name."""
    files: tuple[TaskFile, ...]
    """The task files."""
    splits: Mapping[str, SplitOf]
    """The splits of the templates that files state."""
    strata: tuple[Stratum, ...]
    """The tasks of the chosen templates, sorted by site and template."""

    def split_of(self, stratum: Stratum) -> str:
        """Return the split of all tasks of a template."""
        found = self.splits.get(stratum.template) or entry_of(stratum.offer.name, stratum.template)
        return SPLITS[0] if found is None else found.split


def read_sources(
    section: TasksSection, applications: Mapping[str, Application] | None = None
) -> Sources:
    """Return the sources of a section.

    Raises:
        BadConfig: an application has the name of a site that ships.
        BadTasks: a source is unreadable, has an unknown name, or selects nothing.
    """
    sites = site_offers(applications, faults=section.faults)
    files = _read_files(section, sites)
    offers = [sites[name] for name in _names_of(section) if _is_site(name, sites)]
    return Sources(
        sites=sites,
        files=tuple(files),
        splits=splits_of_files(task for file in files for task in file.tasks),
        strata=tuple(_strata(offers, files, section=section, sites=sites)),
    )


def stated_tasks(
    section: TasksSection, *, applications: Mapping[str, Application] | None = None
) -> list[Task]:
    """Return all tasks that the files of a section state, whichever it selects; a site's templates are not among them.

    Raises:
        BadConfig: an application has the name of a site that ships.
        BadTasks: a file is unreadable or has mistakes.
    """
    return [task for file in _read_files(section, site_offers(applications)) for task in file.tasks]


def refusal_of(task: Task, sites: Mapping[str, SiteOffer]) -> str | None:
    """Return why a task cannot be attempted here; None: it can."""
    return sites[task.site].obstacle


def in_split(task: Task, splits: Mapping[str, SplitOf]) -> Task:
    """Return a task with the split of its template; `splits` are those of templates in files."""
    found = splits.get(task.template_id) or split_of(task)
    if (task.split, task.split_version) == (found.split, found.version):
        return task
    return task.model_copy(update={"split": found.split, "split_version": found.version})


def _place(task: Task) -> tuple[str, str, int, str]:
    return task.site, task.template_id, task.seed, task.task_id


def _is_site(name: str, sites: Mapping[str, SiteOffer]) -> bool:
    return name in sites and bool(sites[name].templates)


def _check_count(count: int, section: TasksSection, *, templates: int) -> None:
    if section.sample is None and count > MAX_TASKS:
        first, last = seed_range(section)
        raise BadTasks(
            f"tasks.seeds = [{first}, {last}] × {templates} templates: {count:,} tasks are more "
            f"than one run plans ({MAX_TASKS:,}); split them over several runs, or draw some with "
            "tasks.sample"
        )


def _check_drawn(count: int, section: TasksSection) -> None:
    wanted = count if section.sample is None else min(count, section.sample)
    if wanted > MAX_DRAWN:
        first, last = seed_range(section)
        raise BadTasks(
            f"tasks.seeds = [{first}, {last}]: {wanted:,} tasks of websites that are drawn with them are more than one "
            f"run plans ({MAX_DRAWN:,}); split them over several runs, or draw fewer with tasks.sample"
        )


def _names_of(section: TasksSection) -> list[str]:
    return list(dict.fromkeys(section.sources or (section.source,)))


def _read_files(section: TasksSection, sites: Mapping[str, SiteOffer]) -> list[TaskFile]:
    names = (name for name in _names_of(section) if not _is_site(name, sites))
    return [_read_file(Path(name), sites) for name in names]


def _read_file(path: Path, sites: Mapping[str, SiteOffer]) -> TaskFile:
    try:
        is_there = path.is_file() or path.is_dir()
    except OSError as error:
        raise BadTasks(f"tasks.source: '{path}' cannot be opened: {error.strerror}") from None
    if not is_there:
        builtin = [name for name in sites if _is_site(name, sites)]
        raise BadTasks(
            f"tasks.source: '{path}' is no such file, and there is no built-in source of that name "
            f"(there are: {', '.join(builtin)}){did_you_mean(str(path), builtin)}"
        )
    return read_task_file(path, sites, max_tasks=MAX_TASKS)


def _strata(
    offers: Sequence[SiteOffer],
    files: Sequence[TaskFile],
    *,
    section: TasksSection,
    sites: Mapping[str, SiteOffer],
) -> list[Stratum]:
    """Return the tasks of the chosen templates of all sources."""
    stated: defaultdict[tuple[str, str], dict[str, Task]] = defaultdict(dict)
    for file in files:
        for task in file.tasks:
            stated[task.site, task.template_id].setdefault(task.task_id, task)
    whole = {(offer.name, template) for offer in offers for template in offer.templates}
    kept = set(
        select(
            {template for _, template in (*whole, *stated)},
            include=section.include,
            exclude=section.exclude,
            where=", ".join([*(offer.name for offer in offers), *(str(one.path) for one in files)]),
            known={name for offer in sites.values() for name in offer.templates},
        )
    )
    first, last = seed_range(section)
    seeds = range(first, last + 1)
    return [
        _stratum(
            sites[site], template, tuple(stated[key].values()), seeds if key in whole else range(0)
        )
        for key in sorted(whole | stated.keys())
        for site, template in [key]
        if template in kept
    ]


def _stratum(offer: SiteOffer, template: str, tasks: Sequence[Task], seeds: range) -> Stratum:
    among = {one.seed: one for one in tasks if one.seed in seeds and not one.parameters}
    others = (one for one in tasks if among.get(one.seed) is not one)
    return Stratum(offer, template, seeds, among, tuple(sorted(others, key=_place)))
