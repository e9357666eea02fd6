"""Decides the split of a task from its content alone, before anybody attempts it.

`splits.toml` beside this module lists the groups of the sites that ship, with the split of each: templates of
MiniWoB++ that share a page, a first picture or a goal's wording are one group, and so is a family of worlds. Templates
that no entry names are grouped by the pages where their tasks start and by the wordings of their goals: with
`MIN_GROUPS` groups or more a hash of the group decides, so that about a twentieth is in `validation` and a twentieth
in `test`; with fewer all are in `train`. A task file may name the split of its templates itself.

Entries may be added to a version; one that changes gets the next version. Rows record the version that they were
planned by, so that a split on which two versions disagree is refused by name.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from registries.splits.groups import Key, connect, wording
from schemas.base import Record, content_hash, first_mistake
from schemas.errors import BadTasks, Damaged
from schemas.tasks.task import SPLITS, Task

REGISTRY_PATH = Path(__file__).with_name("splits.toml")
"""The file of the registry."""

MIN_GROUPS = 10
"""With fewer groups everything is in `train`: a split of one or two groups measures nothing."""

SHARE = 20
"""One group in 20 is in `validation`, and one in 20 in `test`."""

_TRAIN, _VALIDATION, _TEST = SPLITS
_STATED, _HASHED = "its task file names it", "a hash of its group decides"


class SplitOf(NamedTuple):
    """The split of a template, with its reason."""

    split: str
    """`train`, `validation` or `test`."""
    reason: str
    """Why it is in this split, in words that follow the name of the template."""
    group: str
    """The group that shares the split, by its first template, or by a glob as `banking/*`."""
    version: int | None
    """The version of the registry that decides; None: the task's file names the split."""


class Content(NamedTuple):
    """The content of a task, of which its split is made."""

    site: str
    """The site."""
    template: str
    """The template."""
    start_url: str
    """Where it starts."""
    goal: str
    """The goal; empty where the page states it."""


class _File(Record):
    version: int = Field(ge=1)
    """The version of the entries."""
    sites: dict[str, dict[str, tuple[tuple[str, ...], ...]]]
    """The groups by site and split; a group is a list of templates, or of a glob that ends in `/*`."""


@cache
def _file() -> _File:
    """Return the registry's file.

    Raises:
        Damaged: the file cannot be parsed.
    """
    try:
        return _File.model_validate(
            tomllib.loads(REGISTRY_PATH.read_text(encoding="utf-8")), strict=False
        )
    except ValidationError as error:
        raise Damaged(f"{REGISTRY_PATH}: {first_mistake(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Damaged(f"{REGISTRY_PATH}: {error}") from error


def registry_version() -> int:
    """Return the version of the registry that ships."""
    return _file().version


@cache
def _entries(site: str) -> Mapping[str, tuple[str, str]]:
    """Return the split and the group of each entry of a site, a template or a glob."""
    return {
        name: (split, group[0])
        for split, groups in _file().sites.get(site, {}).items()
        for group in groups
        for name in group
    }


def entry_of(site: str, template: str) -> SplitOf | None:
    """Return what the registry says of a template; None: it has no entry for it."""
    entries = _entries(site)
    name = template if template in entries else f"{template.partition('/')[0]}/*"
    if name not in entries:
        return None
    split, group = entries[name]
    version = registry_version()
    return SplitOf(split, f"entry '{name}' of {site} in version {version}", group, version)


def check_recorded(
    site: str, template: str, split: str, version: int | None, *, where: str = ""
) -> None:
    """Check a split that an earlier plan recorded against the registry.

    Raises:
        BadTasks: another version of the registry had decided it, and this one says otherwise.
    """
    found = None if version is None else entry_of(site, template)
    if found is not None and found.split != split:
        raise BadTasks(
            f"{where}{template} of {site} is in '{split}' by version {version} of the registry of splits, and in "
            f"'{found.split}' by version {found.version}, which this Stepmill has: use the Stepmill that planned it, "
            "or plan its tasks anew in another run"
        )


def split_of(task: Task) -> SplitOf:
    """Return the split of a task, from the task alone.

    A planned task says its split; a task that nobody planned and that no entry names is a group of its own, and so
    in `train`.

    Raises:
        BadTasks: another version of the registry put it into another split.
    """
    check_recorded(task.site, task.template_id, task.split, task.split_version)
    found = entry_of(task.site, task.template_id)
    if not task.split:
        return found or assign([_content(task)])[task.template_id]
    if task.split_version is None:
        return SplitOf(task.split, _STATED, task.template_id, None)
    return found or SplitOf(task.split, _HASHED, task.template_id, task.split_version)


def _content(task: Task) -> Content:
    return Content(task.site, task.template_id, task.start_url, task.instruction)


def splits_of_files(tasks: Iterable[Task]) -> dict[str, SplitOf]:
    """Return the split of each template of the tasks that files state, given all of them.

    Raises:
        BadTasks: another version of the registry put one into another split.
    """
    stated, contents, versions = dict[str, str](), list[Content](), dict[str, int | None]()
    for task in tasks:
        contents.append(_content(task))
        if is_stated(task.site, task.template_id, task.split, task.split_version):
            stated[task.template_id] = task.split
            versions[task.template_id] = task.split_version
    return {
        name: one._replace(version=versions[name]) if name in versions else one
        for name, one in assign(contents, stated).items()
    }


def is_stated(site: str, template: str, split: str, version: int | None) -> bool:
    """Return whether a recorded split holds by itself, because no entry of the registry decides it.

    Raises:
        BadTasks: another version of the registry decided it, and this one says otherwise.
    """
    check_recorded(site, template, split, version)
    return bool(split) and (version is None or entry_of(site, template) is None)


def assign(
    contents: Iterable[Content], stated: Mapping[str, str] | None = None
) -> dict[str, SplitOf]:
    """Return the split of every template of tasks with these contents.

    `stated` are splits that templates have already, by a task file or an earlier publication. Templates without an
    entry follow those of their group.
    """
    keys: defaultdict[str, set[Key]] = defaultdict(set)
    entries = dict[str, SplitOf]()
    for one in contents:
        found = entry_of(one.site, one.template)
        keys[one.template].update(_keys(one, found))
        if found is not None:
            entries[one.template] = found
    groups = connect(keys)
    count = sum(group.isdisjoint(entries) for group in groups)
    return {
        name: found
        for group in groups
        for name, found in _splits_of(group, entries, stated or {}, count=count)
    }


def _keys(one: Content, found: SplitOf | None) -> Iterator[Key]:
    """Yield what connects a template with others: its entry's group, or its page and the wording of its goal."""
    if found is not None:
        yield ("entry", one.site, found.group)
        return
    url = urlsplit(one.start_url)
    yield ("page", one.site, url.netloc, url.path.rstrip("/"))
    if one.goal.strip():
        yield ("goal", wording(one.goal))


def _splits_of(
    group: frozenset[str],
    entries: Mapping[str, SplitOf],
    stated: Mapping[str, str],
    *,
    count: int,
) -> Iterator[tuple[str, SplitOf]]:
    """Yield the split of each template of a group; `count` is the number of groups without an entry."""
    first = min(group)
    own = {stated[name] for name in group if name in stated}
    why = _HASHED if count >= MIN_GROUPS else f"there are fewer than {MIN_GROUPS} groups"
    usual = SplitOf(_split_by_hash(first, count), why, first, registry_version())
    if own:
        split = next(split for split in SPLITS if split in own)
        usual = SplitOf(split, "another template of its group has it", first, None)
    for name in sorted(group):
        found = entries.get(name, usual)
        yield (
            name,
            SplitOf(stated[name], _STATED, found.group, None) if name in stated else found,
        )


def _split_by_hash(first: str, count: int) -> str:
    """Return the split of a group of `count`, by the hash of its first template."""
    if count < MIN_GROUPS:
        return _TRAIN
    place = int(content_hash({"group": first}), 16) % SHARE
    return {0: _TEST, 1: _VALIDATION}.get(place, _TRAIN)
