"""The splits that a version is published in, and the tasks that are held back.

The registry of splits (`registries/splits`) decides the split of a template by its content, before anybody attempts
it, and the run's tasks record it. A publication takes it from there; for runs of earlier versions, which recorded
none, it asks the registry. The run keeps what was published (see `storage.lake.split_record`), so a template that was
published stays in its split, whatever a later version of the registry says. If a template was not published yet and
the version that it was planned by says otherwise than this one, the publication is refused.

What a page shows is known only afterwards. So each task is compared with the others: if its first picture or its goal
is in an earlier split too, it is held back, and the card counts it. Goals of worlds are compared verbatim, as families
have the wordings of kinds of tasks in common; all others are compared without quoted text and numbers.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import pyarrow.compute as pc
import pyarrow.dataset as ds

from registries.splits.groups import Key, wording
from registries.splits.registry import SHARE, Content, assign, entry_of, is_stated
from schemas.base import sha256_hex
from schemas.tasks.task import SPLITS
from schemas.worlds.world import SITE as WORLDS
from storage.publish.plan.rows import Tables

_NO_PICTURE = sha256_hex(b"")
"""The hash of a picture that is missing, which tasks do not share."""


@dataclass(frozen=True)
class Splits:
    """The split of every template of a version."""

    by_template: Mapping[str, str]
    """The split of each template, for ever."""
    groups: Mapping[str, str]
    """The group of each template."""
    elsewhere: frozenset[str] = frozenset()
    """Templates in another split than the registry says: a task file names it, or they were published before."""
    families: Mapping[str, str] = field(default_factory=dict)
    """The split of each family of worlds."""
    held_back: frozenset[str] = frozenset()
    """Tasks that are not published: their first picture or their goal is in an earlier split."""
    shown: Mapping[str, AbstractSet[Key]] = field(default_factory=dict)
    """What no other split may show, by task."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """The template of each task."""

    def with_any(self, templates: AbstractSet[str]) -> "Splits":
        """Return the same without the groups that have none of these templates."""
        kept = {self.groups[template] for template in templates}
        groups = {name: group for name, group in self.groups.items() if group in kept}
        return replace(self, groups=groups)

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(set(self.groups.values()))

    @property
    def group_counts(self) -> Mapping[str, int]:
        """The number of groups with templates in each split."""
        found = {(self.by_template[name], group) for name, group in self.groups.items()}
        return {split: sum(one == split for one, _ in found) for split in SPLITS}

    @property
    def is_conclusive(self) -> bool:
        """Whether `validation` and `test` hold a twentieth of the groups each."""
        counts = self.group_counts
        return all(0 < self.count <= SHARE * counts[split] for split in SPLITS[1:])


def published_splits(
    tables: Tables, templates: Mapping[str, str], known: Mapping[str, str]
) -> Splits:
    """Return the split of every template of a version; `templates` has each episode's, `known` are published ones.

    Raises:
        BadTasks: another version of the registry put a template that was not published yet into another split.
    """
    shown = _Shown(known)
    shown.read(tables, templates)
    found = assign(shown.contents, {**shown.stated, **known})
    by_template = {name: one.split for name, one in found.items()}
    worlds = {shown.owners[task] for task, site in shown.sites.items() if site == WORLDS}
    return Splits(
        by_template=by_template,
        groups={name: one.group for name, one in found.items()},
        elsewhere=frozenset(
            name for name, split in shown.entries.items() if by_template[name] != split
        ),
        families={_family(template): by_template[template] for template in worlds},
        held_back=_repeats(shown, by_template),
        shown=shown.tasks,
        owners=shown.owners,
    )


def _family(template: str) -> str:
    """Return the family of worlds of a template: `shop` of `shop/find`."""
    return template.partition("/")[0]


def _repeats(shown: "_Shown", by_template: Mapping[str, str]) -> frozenset[str]:
    """Return the tasks whose content is in an earlier split."""
    places = {name: SPLITS.index(split) for name, split in by_template.items()}
    first: dict[Key, int] = {}
    for task, keys in shown.tasks.items():
        place = places[shown.owners[task]]
        first |= {key: min(place, first.get(key, place)) for key in keys}
    return frozenset(
        task
        for task, keys in shown.tasks.items()
        if any(first[key] < places[shown.owners[task]] for key in keys)
    )


class _Shown:
    """The content of tasks, what they show, and the splits that are recorded with them."""

    def __init__(self, known: Mapping[str, str]) -> None:
        """`known` are the splits of templates that were published."""
        self._known = known
        self.contents: set[Content] = set()
        """The content of the tasks, of which splits are made."""
        self.tasks: defaultdict[str, set[Key]] = defaultdict(set)
        """What no other split may show, by task."""
        self.stated: dict[str, str] = {}
        """The splits that task files name, or that a plan made of groups, by template."""
        self.entries: dict[str, str] = {}
        """The split of each template with an entry in the registry, as that says."""
        self.owners: dict[str, str] = {}
        """The template of each task."""
        self.sites: dict[str, str] = {}
        """The site of each task."""

    def read(self, tables: Tables, templates: Mapping[str, str]) -> None:
        """Read all of it; `templates` has each episode's."""
        for row in _rows(tables, "tasks", _TASK_COLUMNS):
            self._add_task(row)
        tasks: dict[str, str] = {}
        for row in _rows(tables, "episodes", ["episode_id", "task_id", "instruction"]):
            tasks[row["episode_id"]] = row["task_id"]
            self._add_goal(row["task_id"], row["instruction"])
        first = pc.field("step") == 0
        for row in _rows(tables, "steps", ["episode_id", "screenshot_sha256"], first):
            if row["episode_id"] in templates and row["screenshot_sha256"] != _NO_PICTURE:
                self.tasks[tasks[row["episode_id"]]].add(("picture", row["screenshot_sha256"]))

    def _add_task(self, row: Mapping[str, Any]) -> None:
        task, template, site = row["task_id"], row["template_id"], row["site"]
        self.owners[task], self.sites[task] = template, site
        if site == WORLDS:
            self.tasks[task].add(("world", urlsplit(row["start_url"]).netloc))
        self._add_goal(task, row["instruction"])
        entry = entry_of(site, template)
        if entry is None:
            self.contents.add(Content(site, template, row["start_url"], row["instruction"]))
        else:
            self.contents.add(Content(site, template, "", ""))
            self.entries[template] = entry.split
        split, version = row["split"], row["split_version"]
        if template not in self._known and is_stated(site, template, split, version):
            self.stated[template] = split

    def _add_goal(self, task: str, goal: str) -> None:
        if not goal.strip():
            return
        if self.sites[task] == WORLDS:
            self.tasks[task].add(("goal", " ".join(goal.casefold().split())))
        else:
            self.tasks[task].add(("wording", wording(goal)))


_TASK_COLUMNS = (
    *("task_id", "template_id", "site", "start_url", "instruction"),
    *("split", "split_version"),
)


def task_rows(tables: Tables, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield columns of the tasks; those that an earlier version lacks are null."""
    return _rows(tables, "tasks", columns)


def _rows(
    tables: Tables, table: str, columns: Sequence[str], where: ds.Expression | None = None
) -> Iterator[dict[str, Any]]:
    """Yield rows of a table; columns that an earlier version lacks are null."""
    dataset = tables.datasets.get(table)
    if dataset is None:
        return
    known = [name for name in columns if name in dataset.schema.names]
    lacking = dict.fromkeys(set(columns) - {*known})
    for batch in dataset.to_batches(columns=known, filter=where):
        yield from (row | lacking for row in batch.to_pylist())
