"""Draws one task at a time from a configuration's tasks, as those who attempt them ask for it.

A pool reads the sources once and makes a task only when it is drawn, so that a template with all seeds is never listed.
Tasks of `test` are drawn only where a selector names that split. The same configuration and selector give the same task
in every process. A draw that fits no task says what there is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from generators.tasks.sampling import Stratum, draw_places
from generators.tasks.site_offers import make_template_task
from generators.tasks.task_plan import in_split, read_sources
from schemas.base import content_hash
from schemas.configuration.config import RunConfig
from schemas.errors import BadTasks
from schemas.nearest import did_you_mean
from schemas.tasks.selector import Selector
from schemas.tasks.task import SPLITS, Task

_SHOWN = 12
"""Maximum number of names in an error."""

_TEST = SPLITS[-1]


class _Fitting(NamedTuple):
    """The tasks of a template that fit."""

    stratum: Stratum
    seeds: range
    """The seeds among them, in order."""
    places: Sequence[int]
    """The places of others in the stratum."""

    @property
    def size(self) -> int:
        return self.seeds.stop - self.seeds.start + len(self.places)

    def place(self, index: int) -> int:
        """Return the place in the stratum of the task at an index."""
        before = self.seeds.stop - self.seeds.start
        if index >= before:
            return self.places[index - before]
        return self.seeds.start - self.stratum.seeds.start + index


class TaskPool:
    """The tasks of a configuration, to draw from."""

    def __init__(self, config: RunConfig) -> None:
        """Read the sources.

        Raises:
            BadConfig: an application has the name of a site that ships.
            BadTasks: a source is unreadable, or no task of it can be attempted here.
        """
        self._sources = read_sources(config.tasks, config.sites)
        strata = self._sources.strata
        self._strata = [one for one in strata if one.offer.obstacle is None]
        if not self._strata:
            why = next(one.offer.obstacle for one in strata)
            raise BadTasks(f"tasks: none can be attempted: {why}")
        self._sample: defaultdict[tuple[str, str], list[int]] | None = None
        if config.tasks.sample is not None:
            self._sample = defaultdict(list)
            ready = [one for one in strata if one.offer.refusal is None]
            for one, place in draw_places(ready, count=config.tasks.sample, seed=config.run.seed):
                self._sample[one.offer.name, one.template].append(place)

    @property
    def sites(self) -> set[str]:
        """The names of the sites that its tasks are of."""
        return {one.offer.name for one in self._strata}

    def count(self, selector: Selector) -> int:
        """Return how many tasks fit; `index` does not matter, and none is made."""
        return sum(one.size for one in self._find(selector))

    def draw(self, selector: Selector) -> Task:
        """Return the task that a selector asks for.

        Raises:
            BadTasks: none fits, the index is too large, or no website with such a task was found.
        """
        fitting = list(self._find(selector))
        size = sum(one.size for one in fitting)
        if size == 0:
            raise BadTasks(self._why_none(selector))
        index = _index(selector, size)
        if index >= size:
            raise BadTasks(f"index = {index}: {size:,} tasks fit, with the indexes 0 to {size - 1}")
        for one in fitting:
            if index < one.size:
                task = self._make(one.stratum, one.place(index), selector)
                return in_split(task, self._sources.splits)
            index -= one.size
        raise AssertionError("an index below the number of tasks has a task")

    def _make(self, stratum: Stratum, place: int, selector: Selector) -> Task:
        """Return the task at a place of a stratum, as difficult as it is asked for."""
        if selector.difficulty is None:
            return stratum[place]
        return make_template_task(
            stratum.offer,
            stratum.template,
            seed=stratum.seeds.start + place,
            source=stratum.offer.name,
            difficulty=selector.difficulty,
        )

    def _find(self, selector: Selector) -> Iterator[_Fitting]:
        """Yield the tasks that fit, template by template."""
        for stratum in self._strata:
            split = self._sources.split_of(stratum)
            if split == selector.split or (selector.split is None and split != _TEST):
                one = self._find_in(stratum, selector)
                if one.size:
                    yield one

    def _find_in(self, stratum: Stratum, selector: Selector) -> _Fitting:
        seeds, count = stratum.seeds, stratum.seeds.stop - stratum.seeds.start
        wanted = _wanted_seed(stratum, selector)
        if selector.difficulty is not None and stratum.offer.draw is None:
            return _Fitting(stratum, range(0), ())
        if self._sample is not None:
            drawn = sorted(self._sample[stratum.offer.name, stratum.template])
            fit = [p for p in drawn if _fits_at(stratum, p, selector, wanted)]
            return _Fitting(stratum, range(0), fit)
        stated: dict[int, Task] = {}
        if selector.difficulty is None:  # a file's task is as its row says
            stated = {count + place: task for place, task in enumerate(stratum.others)}
        if not _fits_template(stratum, selector, wanted):
            stated |= {seed - seeds.start: task for seed, task in stratum.stated.items()}
            seeds = range(0)
        elif wanted is not None:
            seeds = range(wanted, wanted + 1) if wanted in seeds else range(0)
        places = [place for place, task in stated.items() if _fits(task, selector, wanted)]
        return _Fitting(stratum, seeds, sorted(places))

    def _why_none(self, selector: Selector) -> str:
        """Return why no task fits, with what there is."""
        asked = selector.model_dump(exclude_none=True, mode="json")
        said = ", ".join(f"{key} = {value!r}" for key, value in asked.items()) or "a task"
        if selector.split is None and self.count(selector.model_copy(update={"split": _TEST})):
            return f"{said}: only tasks of '{_TEST}' fit, which are drawn where `split` names it"
        names = sorted({one.template for one in self._strata})
        if selector.name is not None and not any(
            _wanted_name(one, selector.name) for one in self._strata
        ):
            hint = did_you_mean(selector.name, names)
            return f"name = {selector.name!r}: there is no such template, and no such task{hint}; {_some(names)}"
        tags = sorted({tag for one in self._strata for tag in _tags(one)})
        counts = Counter(self._sources.split_of(one) for one in self._strata)
        splits = ", ".join(f"{counts[split]} in {split}" for split in SPLITS)
        return (
            f"{said}: no task fits; there are {len(names)} templates ({splits}), {_seeds(self._strata)}, "
            f"and the kinds {_some(tags)}"
        )


def draw(config: RunConfig, selector: Selector) -> Task:
    """Return the task of a configuration that a selector asks for; a `TaskPool` reads the sources once for many.

    Raises:
        BadConfig: an application has the name of a site that ships.
        BadTasks: no task fits, or a source is unreadable.
    """
    return TaskPool(config).draw(selector)


def _index(selector: Selector, size: int) -> int:
    """Return the index of the task; where a seed alone is given, it draws among those of its templates."""
    if selector.index is not None:
        return selector.index
    if selector.seed is None or size == 1:
        return 0
    return int(content_hash(["on demand", str(selector.seed)]), 16) % size


def _wanted_name(stratum: Stratum, name: str) -> bool:
    """Return whether a name may mean tasks of a stratum."""
    template, _, seed = name.rpartition("/")
    return (
        name == stratum.template
        or (template == stratum.template and seed.isdecimal())
        or any(task.task_id == name for task in (*stratum.others, *stratum.stated.values()))
    )


def _wanted_seed(stratum: Stratum, selector: Selector) -> int | None:
    """Return the seed that a selector asks for, also in its name; None: any."""
    name = selector.name or ""
    template, _, seed = name.rpartition("/")
    if name != stratum.template and template == stratum.template and seed.isdecimal():
        return int(seed)
    return selector.seed


def _fits_template(stratum: Stratum, selector: Selector, wanted: int | None) -> bool:
    """Return whether a template's own tasks fit, whatever their seeds."""
    named = selector.name in (None, stratum.template, f"{stratum.template}/{wanted}")
    seeds_agree = selector.seed in (None, wanted)
    tagged = selector.kind is None or selector.kind in _template_tags(stratum)
    return named and seeds_agree and tagged and selector.label is None


def _fits(task: Task, selector: Selector, wanted: int | None) -> bool:
    """Return whether a task of a file fits."""
    names = (None, task.task_id, task.template_id, f"{task.template_id}/{task.seed}")
    return (
        selector.name in names
        and selector.seed in (None, task.seed)
        and wanted in (None, task.seed)
        and (selector.kind is None or selector.kind in task.tags)
        and selector.label in (None, task.difficulty)
    )


def _fits_at(stratum: Stratum, place: int, selector: Selector, wanted: int | None) -> bool:
    """Return whether the task at a place of a sample fits."""
    seed = stratum.seeds.start + place
    if seed >= stratum.seeds.stop:
        task = stratum.others[place - (stratum.seeds.stop - stratum.seeds.start)]
        return selector.difficulty is None and _fits(task, selector, wanted)
    return _fits_template(stratum, selector, wanted) and wanted in (None, seed)


def _template_tags(stratum: Stratum) -> Sequence[str]:
    found = stratum.offer.templates.get(stratum.template)
    return () if found is None else found.tags


def _tags(stratum: Stratum) -> set[str]:
    """Return the tags of a template and of its tasks in files."""
    return {*_template_tags(stratum), *(tag for task in stratum.others for tag in task.tags)}


def _seeds(strata: Sequence[Stratum]) -> str:
    """Return the seeds of templates, in words."""
    found = {(one.seeds.start, one.seeds.stop - 1) for one in strata if one.seeds.stop > 0}
    said = ", ".join(f"{first} to {last}" for first, last in sorted(found))
    return f"the seeds {said}" if said else "the seeds of the file"


def _some(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
