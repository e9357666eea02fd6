"""The plan: which files a version's published dataset is made of, and what each is made from.

A file holds the rows of one config and one split for a stretch of episodes. Where a stretch ends
is decided over **all** episodes of the split, in the order of `selection`, by an estimate of their
size: judging an episode anew therefore changes the files that hold it and no other, and a later
version only lengthens the last stretch and adds more. An estimate is enough, so that planning
reads no picture; files come out near the size asked for, not at it. A system prompt is a row in
every split whose episodes used it, so that a split can be read alone.

A planned file has a recipe, the hash of all that decides its bytes. A destination that already
has a file of the same recipe needs no other, so publishing again builds nothing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import pyarrow as pa

from schemas.base import content_hash
from schemas.tables import arrow_schema, trajectory_schema
from schemas.task import SPLITS
from storage.lake.row_batch import picture_columns
from storage.publish.plan.rows import Tables
from storage.publish.plan.selection import Candidate, Selection

CONFIGS = ("trajectories", "steps", "tasks", "observations", "calls", "prompts")
"""The published tables, in the order of the card."""

LAYOUT = 2
"""Grows when the same rows would be written otherwise: it is part of every recipe."""

_T = TypeVar("_T")

_ROW_BYTES = {
    "trajectories": 2_048,
    "steps": 1_024,
    "tasks": 512,
    "observations": 2_048,
    "calls": 4_096,
}
"""What a row comes to in a file, about, pictures apart."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file that should exist; more than one where its rows come out larger than estimated."""

    config: str
    """One of `CONFIGS`."""
    split: str
    """One of the splits."""
    index: int
    """Its stretch of the split's episodes; missing where nothing of one is published."""
    ids: tuple[str, ...]
    """Of the episodes, tasks or prompts it holds, in order."""
    episodes: tuple[Candidate, ...]
    """The episodes it holds rows of; empty for tasks and prompts."""
    recipe: str
    """Hash of all that decides its bytes."""

    @property
    def folder(self) -> str:
        """Where its parts lie."""
        return f"data/{self.config}"

    def path(self, part: int, sha256: str) -> str:
        """Return where a part of it lies, its content's hash being known."""
        return f"{self.folder}/{self.split}-{self.index:05d}-{part:03d}-{sha256[:16]}.parquet"


@dataclass(frozen=True, slots=True)
class Plan:
    """What should lie at a destination for one version of a run."""

    run_id: str
    """The run."""
    version: int
    """The version."""
    selection: Selection
    """The episodes behind it."""
    files: tuple[PlannedFile, ...]
    """Every data file, by config, split and stretch."""
    shard_bytes: int
    """The size a file is cut at."""


class _Cut(NamedTuple):
    """Where a file belongs, and the size it is cut at."""

    config: str
    split: str
    shard_bytes: int


@dataclass(frozen=True)
class _Holdings:
    """Which episodes have rows in the tables that not every episode has rows in."""

    steps: Collection[str]
    """Episodes that broke under way and have steps all the same."""
    observations: Collection[str]
    calls: Collection[str]
    prompts: dict[str, set[str]]
    """The prompts that an episode's calls used."""

    def publish(self, selection: Selection, config: str, episode: Candidate) -> bool:
        """Tell whether `selection` publishes rows of `episode` in `config`."""
        return selection.publishes(episode) and self._has(config, episode)

    def _has(self, config: str, episode: Candidate) -> bool:
        if config == "steps":
            return episode.whole or episode.episode_id in self.steps
        if config == "observations":
            return episode.episode_id in self.observations
        return config != "calls" or episode.episode_id in self.calls


def schema_of(config: str) -> pa.Schema:
    """Return the columns of a published config."""
    own = trajectory_schema() if config == "trajectories" else arrow_schema(config)
    pictures = picture_columns(own)
    # `datasets` knows an image by the footer only where the column may be null, as its own are
    return pa.schema([f.with_nullable(nullable=True) if f.name in pictures else f for f in own])


def row_bytes(config: str, episode: Candidate) -> int:
    """Return what the rows of `episode` in `config` come to, about."""
    if config == "trajectories":
        return _ROW_BYTES[config]
    picture = episode.picture_bytes if config == "steps" else 0
    return (episode.n_steps + 1) * (_ROW_BYTES[config] + picture)


def make_plan(tables: Tables, selection: Selection, *, run_id: str, shard_bytes: int) -> Plan:
    """Return what `selection` is published as, in files of about `shard_bytes`."""
    holdings = _holdings(tables, selection)
    members = {
        split: [c for c in selection.candidates if c.acceptance.split == split] for split in SPLITS
    }
    files: list[PlannedFile] = []
    for cut in (_Cut(config, split, shard_bytes) for config in CONFIGS for split in SPLITS):
        if cut.config == "tasks":
            files += _task_files(cut, members[cut.split])
        elif cut.config == "prompts":
            published = filter(selection.publishes, members[cut.split])
            files += _prompt_files(cut, published, holdings=holdings)
        else:
            files += [
                _file(cut, index, episodes=held)
                for index, stretch in enumerate(_episode_stretches(cut, members[cut.split]))
                if (held := [c for c in stretch if holdings.publish(selection, cut.config, c)])
            ]
    return Plan(
        run_id=run_id,
        version=tables.version,
        selection=selection,
        files=tuple(files),
        shard_bytes=shard_bytes,
    )


def _episode_stretches(cut: _Cut, members: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    return _stretches(members, lambda c: row_bytes(cut.config, c), limit=cut.shard_bytes)


def _task_files(cut: _Cut, members: Sequence[Candidate]) -> Iterator[PlannedFile]:
    """Plan the tasks of all episodes, accepted or not, in the order they were first attempted."""
    ids = tuple(dict.fromkeys(c.task_id for c in members))
    stretches = _stretches(ids, lambda _: _ROW_BYTES["tasks"], limit=cut.shard_bytes)
    for index, stretch in enumerate(stretches):
        yield _file(cut, index, ids=stretch)


def _prompt_files(
    cut: _Cut, published: Iterable[Candidate], *, holdings: _Holdings
) -> Iterator[PlannedFile]:
    ids: set[str] = set()
    for episode in published:
        ids |= holdings.prompts.get(episode.episode_id, set())
        ids |= {episode.prompt_sha256} if episode.prompt_sha256 else set()
    if ids:
        yield _file(cut, 0, ids=sorted(ids))


def _file(
    cut: _Cut, index: int, *, episodes: Sequence[Candidate] = (), ids: Sequence[str] = ()
) -> PlannedFile:
    stamps: list[object] = [*(_stamp(cut.config, c) for c in episodes), *ids]
    columns = [[f.name, str(f.type), f.nullable] for f in schema_of(cut.config)]
    return PlannedFile(
        config=cut.config,
        split=cut.split,
        index=index,
        ids=tuple(ids) or tuple(c.episode_id for c in episodes),
        episodes=tuple(episodes),
        recipe=content_hash([LAYOUT, *cut, index, columns, stamps]),
    )


def _stretches(
    items: Sequence[_T], weigh: Callable[[_T], int], *, limit: int
) -> Iterator[Sequence[_T]]:
    """Cut `items` before each one that would take a stretch past `limit`."""
    start, size = 0, 0
    for place, item in enumerate(items):
        more = weigh(item)
        if place > start and size + more > limit:
            yield items[start:place]
            start, size = place, 0
        size += more
    if start < len(items):
        yield items[start:]


def _stamp(config: str, episode: Candidate) -> list[object]:
    """Return what decides an episode's rows in `config`: it is never edited, its judgement is."""
    stamp: list[object] = [episode.episode_id, episode.content_sha256]
    if config == "trajectories":
        stamp.append(episode.acceptance.model_dump_json())
    return stamp


def _holdings(tables: Tables, selection: Selection) -> _Holdings:
    published = {c.episode_id for c in selection.published}
    broken = {c.episode_id for c in selection.published if not c.whole}
    prompts: dict[str, set[str]] = {}
    for episode, prompt in _distinct(tables, "calls", ["episode_id", "prompt_sha256"]):
        if episode in published:
            prompts.setdefault(episode, set()).update([prompt] if prompt else [])
    return _Holdings(
        steps=_owners(tables, "steps", among=broken),
        observations=_owners(tables, "observations", among=published),
        calls=prompts.keys(),
        prompts=prompts,
    )


def _owners(tables: Tables, table: str, *, among: set[str]) -> set[str]:
    """Return which episodes of `among` have rows in `table`."""
    if not among:
        return set()
    return {e for (e,) in _distinct(tables, table, ["episode_id"]) if e in among}


def _distinct(tables: Tables, table: str, columns: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the combinations of values that some columns have, some of them more than once."""
    dataset = tables.datasets.get(table)
    if dataset is None:
        return
    for batch in dataset.to_batches(columns=columns):
        found = pa.Table.from_batches([batch]).group_by(columns).aggregate([])
        yield from zip(*(found[name].to_pylist() for name in columns), strict=True)
