"""Assigns each template to a split, so that no split holds a copy of another's rows.

Templates that share a page, a first picture or a goal's wording make one group, also if a third template
connects them. A group is in one split. Each publication assigns the groups that have no split yet: of
`MIN_GROUPS` groups or more, a twentieth go to `test` and a twentieth to `validation`, both rounded up,
in the order of a hash, and all others to `train`. The run keeps the assignment (see
`storage.lake.split_record`), so a template never moves into another split. When growth joins groups of
different splits, the templates of all splits but the first of them are left out.

A task file may name a split itself, and the file of a family of worlds names one; both count as
assigned. The templates of a family are one group. Families share neither worlds nor pages, but may share
the wordings of a kind of task. So each task of a world is compared with the others: if its goal, its
world or its first picture is in an earlier split too, the later split leaves it out.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import urlsplit

import pyarrow.compute as pc
import pyarrow.dataset as ds

from schemas.base import content_hash, sha256_hex
from schemas.episodes.observation import UNPARTED
from schemas.tasks.task import SPLITS
from schemas.worlds.world import SITE as WORLDS
from storage.publish.plan.rows import Tables

MIN_GROUPS = 10
"""With fewer groups everything is in `train`: a split of one or two groups measures nothing."""

SHARE = 20
"""One group in 20 is in `validation`, and one in 20 in `test`."""

_LARGEST = 10
"""A group with more than a tenth of the templates stays in `train` while smaller groups exist."""

# Beside a letter of these scripts a quotation or a number may begin or end.
_BEFORE, _AFTER = rf"(?<![^\W{UNPARTED}])", rf"(?![^\W{UNPARTED}])"
_PAIRS = ["“”", "„“", "„”", "«»", "\u2039\u203a", "「」", "『』", "《》"]
_QUOTED = re.compile(
    rf"{_BEFORE}(?:'.*?'|\u2018.*?\u2019){_AFTER}|\".*?\"|"
    + "|".join(f"{pair[0]}.*?{pair[1]}" for pair in _PAIRS)
)
_NUMBER = re.compile(rf"{_BEFORE}\d+(?:[.,:/\u066b\u066c]\d+)*{_AFTER}")

_NO_PICTURE = sha256_hex(b"")
"""The hash of a picture that is missing, which templates do not share."""

Key = tuple[str, ...]
"""Something that templates may share: its kind, then its value."""


@dataclass(frozen=True)
class Splits:
    """The split of every template of a version."""

    by_template: Mapping[str, str]
    """The split assigned to each template, for ever."""
    groups: tuple[frozenset[str], ...]
    """The templates, by group."""
    families: Mapping[str, str] = field(default_factory=dict)
    """The split of each family of worlds."""
    repeated: frozenset[str] = frozenset()
    """Tasks of worlds that are not published: their content is in an earlier split."""

    def of_group(self, group: Iterable[str]) -> str:
        """Return the split that a group is published in."""
        own = {self.by_template[template] for template in group}
        return next(split for split in SPLITS if split in own)

    @cached_property
    def left_out(self) -> frozenset[str]:
        """Templates that are not published: their group is in another split than they are."""
        return frozenset(
            template
            for group in self.groups
            for split in [self.of_group(group)]
            for template in group
            if self.by_template[template] != split
        )

    def leaves_out(self, template: str, task: str) -> bool:
        """Return whether a task of a template is in no split because its content is in another one."""
        return template in self.left_out or task in self.repeated

    def with_any(self, templates: AbstractSet[str]) -> "Splits":
        """Return the same without the groups that have none of these templates."""
        return replace(self, groups=tuple(one for one in self.groups if one & templates))

    @property
    def group_counts(self) -> Mapping[str, int]:
        """The number of groups in each split."""
        own = [self.of_group(group) for group in self.groups]
        return {split: own.count(split) for split in SPLITS}

    @property
    def is_conclusive(self) -> bool:
        """Whether `validation` and `test` hold a twentieth of the groups each."""
        counts = self.group_counts
        return all(0 < len(self.groups) <= SHARE * counts[split] for split in SPLITS[1:])


def assign_splits(keys: Mapping[str, AbstractSet[Key]], known: Mapping[str, str]) -> Splits:
    """Return the split of every template, given its keys and the assignments so far."""
    groups = _groups(keys)
    splits = {template: known[template] for template in keys if template in known}
    free: list[frozenset[str]] = []
    counts = dict.fromkeys(SPLITS, 0)
    for group in groups:
        own = {splits[template] for template in group if template in splits}
        split = next((split for split in SPLITS if split in own), None)
        if split is None:
            free.append(group)
        else:
            counts[split] += 1
            splits |= {template: split for template in group if template not in splits}
    wanted = -(-len(groups) // SHARE) if len(groups) >= MIN_GROUPS else 0
    too_large = len(keys) / _LARGEST
    free.sort(key=lambda group: (len(group) > too_large, content_hash({"group": min(group)})))
    for group in free:
        small = [name for name in reversed(SPLITS[1:]) if counts[name] < wanted]
        split = min(small, key=lambda name: counts[name]) if small else SPLITS[0]
        counts[split] += 1
        splits |= dict.fromkeys(group, split)
    return Splits(by_template=splits, groups=groups)


def _groups(keys: Mapping[str, AbstractSet[Key]]) -> tuple[frozenset[str], ...]:
    """Return the templates that are connected by keys, group by group, in the order of their names."""
    parents = {template: template for template in keys}

    def root(template: str) -> str:
        while parents[template] != template:
            parents[template] = template = parents[parents[template]]
        return template

    owners: dict[Key, str] = {}
    for template in sorted(keys):
        for key in keys[template]:
            first = owners.setdefault(key, template)
            low, high = sorted((root(first), root(template)))
            parents[high] = low
    members: defaultdict[str, set[str]] = defaultdict(set)
    for template in keys:
        members[root(template)].add(template)
    return tuple(frozenset(members[template]) for template in sorted(members))


def wording(goal: str) -> str:
    """Return a goal without the parts that vary by seed: quoted text and numbers."""
    plain = _NUMBER.sub("0", _QUOTED.sub('""', goal))
    return " ".join(plain.casefold().split())


def published_splits(tables: Tables, templates: Mapping[str, str]) -> Splits:
    """Return the split of every template of a version; `templates` has each episode's."""
    shown = _Shown()
    shown.read(tables, templates)
    splits = assign_splits(shown.keys, {**shown.asked, **tables.known_splits})
    families = {
        _family(template): splits.by_template[template]
        for task in shown.tasks
        for template in [shown.owners[task]]
        if template not in splits.left_out
    }
    return replace(splits, families=families, repeated=_repeats(shown, splits))


def _family(template: str) -> str:
    """Return the family of worlds of a template: `shop` of `shop/find`."""
    return template.partition("/")[0]


def _repeats(shown: "_Shown", splits: Splits) -> frozenset[str]:
    """Return the tasks of worlds whose content is in an earlier split."""
    places = {name: SPLITS.index(split) for name, split in splits.by_template.items()}
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
    """The keys of templates and of tasks of worlds, and the splits that files name."""

    def __init__(self) -> None:
        self.keys: defaultdict[str, set[Key]] = defaultdict(set)
        """The keys that connect templates, by template."""
        self.tasks: defaultdict[str, set[Key]] = defaultdict(set)
        """The keys of each task of a world, by task."""
        self.asked: dict[str, str] = {}
        """The splits that task files and files of families name, by template."""
        self.owners: dict[str, str] = {}
        """The template of each task."""
        self.sites: dict[str, str] = {}
        """The site of each task."""

    def read(self, tables: Tables, templates: Mapping[str, str]) -> None:
        """Read all of it; `templates` has each episode's."""
        columns = ["task_id", "template_id", "site", "start_url", "instruction", "split"]
        for row in _rows(tables, "tasks", columns):
            task, template, url = row["task_id"], row["template_id"], urlsplit(row["start_url"])
            self.owners[task], self.sites[task] = template, row["site"]
            if row["site"] == WORLDS:
                self.keys[template].add(("family", _family(template)))
                self.tasks[task].add(("world", url.netloc))
            else:
                self.keys[template].add(("page", row["site"], url.netloc, url.path.rstrip("/")))
            self._add_goal(task, row["instruction"])
            if row["split"]:
                self.asked[template] = row["split"]
        tasks: dict[str, str] = {}
        for row in _rows(tables, "episodes", ["episode_id", "task_id", "instruction"]):
            tasks[row["episode_id"]] = row["task_id"]
            self._add_goal(row["task_id"], row["instruction"])
        first = pc.field("step") == 0
        for row in _rows(tables, "steps", ["episode_id", "title", "screenshot_sha256"], first):
            if row["episode_id"] in templates:
                self._add_page(tasks[row["episode_id"]], row)

    def _add_goal(self, task: str, goal: str) -> None:
        if not goal.strip():
            return
        if self.sites[task] == WORLDS:
            self.tasks[task].add(("goal", " ".join(goal.casefold().split())))
        else:
            self.keys[self.owners[task]].add(("goal", wording(goal)))

    def _add_page(self, task: str, row: Mapping[str, str]) -> None:
        site = self.sites[task]
        keys = self.tasks[task] if site == WORLDS else self.keys[self.owners[task]]
        if row["screenshot_sha256"] != _NO_PICTURE:
            keys.add(("picture", row["screenshot_sha256"]))
        if row["title"].strip() and site != WORLDS:
            keys.add(("title", site, row["title"]))


def _rows(
    tables: Tables, table: str, columns: list[str], where: ds.Expression | None = None
) -> Iterator[dict[str, str]]:
    dataset = tables.datasets.get(table)
    if dataset is not None:
        for batch in dataset.to_batches(columns=columns, filter=where):
            yield from batch.to_pylist()
