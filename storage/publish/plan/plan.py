"""The plan: the files of a version's published dataset, and the rows that each is made from.

A file holds the rows of one config and one split for a stretch of episodes. The ends of stretches are
computed over **all** episodes of the split, in the order of `selection`, from an estimate of their size.
So when an episode is judged again, only the files that hold it change, and a later version only
lengthens the last stretch and adds more. Because the size is estimated, planning reads no picture, and
files come out near the configured size. A system prompt is a row in every split whose episodes used it,
so that a split can be read alone. The steps that give training rows are known only when the rows are
made, so a stretch may have no rows; all attempts at a task are in one stretch of `preference`.

A planned file has a recipe, the hash of all that decides its bytes. A destination that already has a
file of that recipe needs no other, so a second publication builds nothing.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import NamedTuple, TypeVar

import pyarrow as pa

from schemas.base import content_hash
from schemas.configuration.sections import RowKind
from schemas.tables.training_renderer import Renderer
from schemas.tasks.task import SPLITS
from storage.publish.plan.candidate import Candidate
from storage.publish.plan.config_columns import (
    DATASET_CONFIGS,
    TASK_BYTES,
    TRAINING_CONFIGS,
    config_schema,
    judgement,
    row_bytes,
)
from storage.publish.plan.rows import Tables
from storage.publish.plan.selection import Selection

_OF_EVERY_ATTEMPT = ("attempts", "verdicts")
"""Configs with rows of every episode, published or not."""

LAYOUT = 2
"""Part of every recipe: incremented when the same rows are written differently."""

TRAINING_LAYOUT = 1
"""Part of the recipes of training rows: incremented when the same episodes give other rows."""

_T = TypeVar("_T")


class TrainingTerms(NamedTuple):
    """The published training rows and their dialect."""

    kinds: tuple[RowKind, ...]
    """Their kinds, each a config."""
    renderer: Renderer
    """Renders episodes in the dialect."""
    best_of: int | None = None
    """Of the accepted attempts at a task, so many give rows of `sft`: the shortest. None: all do."""

    @property
    def configs(self) -> tuple[str, ...]:
        """The names of their configs."""
        return tuple(kind.value for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file that the destination should have; several if its rows are larger than estimated."""

    config: str
    """One of `DATASET_CONFIGS`."""
    split: str
    """One of the splits."""
    index: int
    """The number of its stretch; a stretch of which nothing is published has no file."""
    ids: tuple[str, ...]
    """The ids of its episodes, tasks or prompts, in order."""
    episodes: tuple[Candidate, ...]
    """Its episodes, for results those of its tasks; empty for tasks and prompts."""
    recipe: str
    """Hash of all that decides its bytes."""

    @property
    def folder(self) -> str:
        """The folder of its parts."""
        return f"data/{self.config}"

    def path(self, part: int, sha256: str, night: str = "") -> str:
        """Return the path of a part, whose name contains its hash, and in a collection that of its night."""
        prefix = f"{self.split}-{night}" if night else self.split
        return f"{self.folder}/{prefix}-{self.index:05d}-{part:03d}-{sha256[:16]}.parquet"


@dataclass(frozen=True, slots=True)
class PublishPlan:
    """The files that a destination should have for one version of a run."""

    run_id: str
    """The run."""
    version: int
    """The version."""
    selection: Selection
    """The episodes it is made from."""
    files: tuple[PlannedFile, ...]
    """Every data file, by config, split and stretch."""
    shard_bytes: int
    """The size above which a file is split."""
    training: TrainingTerms | None = None
    """The training rows of the plan; None without any."""


class _FileGroup(NamedTuple):
    """The files of one config and split, with their maximum size and the renderer of their rows."""

    config: str
    split: str
    shard_bytes: int
    renderer: Renderer | None


@dataclass(frozen=True)
class _RowOwners:
    """The episodes that have rows in tables where an episode may have no row."""

    steps: Collection[str]
    """Failed episodes that have steps all the same."""
    observations: Collection[str]
    calls: Collection[str]
    prompts: dict[str, set[str]]
    """The prompts that an episode's calls used."""

    def has_rows(self, config: str, episode: Candidate) -> bool:
        """Return whether `episode` has rows in `config`."""
        if config == "steps" or config in TRAINING_CONFIGS:
            return episode.whole or episode.episode_id in self.steps
        if config == "observations":
            return episode.episode_id in self.observations
        if config == "verdicts":
            return episode.verdicts_hash is not None
        return config != "calls" or episode.episode_id in self.calls


def plan_files(
    tables: Tables,
    selection: Selection,
    *,
    run_id: str,
    shard_bytes: int,
    training: TrainingTerms | None = None,
) -> PublishPlan:
    """Return the files that `selection` is published as, each of about `shard_bytes`."""
    owners = _row_owners(tables, selection)
    members = {
        split: [
            c
            for c in selection.candidates
            if c.acceptance.split == split and not selection.leaves_out(c)
        ]
        for split in SPLITS
    }
    files: list[PlannedFile] = []
    for config, split in product(DATASET_CONFIGS, SPLITS):
        renderer = None if training is None else training.renderer
        group = _FileGroup(config, split, shard_bytes, renderer)
        if config in TRAINING_CONFIGS and (training is None or config not in training.configs):
            continue
        if config in ("tasks", "results"):
            files += _task_files(group, members[split])
        elif config == "prompts":
            ids: set[str] = set()
            for episode in filter(selection.publishes, members[split]):
                ids |= owners.prompts.get(episode.episode_id, set())
                ids |= {episode.prompt_sha256} if episode.prompt_sha256 else set()
            files += [_planned_file(group, 0, ids=sorted(ids))] if ids else []
        else:
            best = None if training is None else training.best_of
            learnt = _best_attempts([*filter(selection.publishes, members[split])], best)
            files += _episode_files(group, members[split], selection, owners, learnt)
    return PublishPlan(
        run_id=run_id,
        version=tables.version,
        selection=selection,
        files=tuple(files),
        shard_bytes=shard_bytes,
        training=training,
    )


def _episode_files(
    group: _FileGroup,
    members: Sequence[Candidate],
    selection: Selection,
    owners: _RowOwners,
    learnt: Collection[str],
) -> Iterator[PlannedFile]:
    """Plan the files of a config with rows by episode; `learnt` are the episodes that `sft` is made of."""
    config = group.config
    compares = config == RowKind.PREFERENCE
    kept = [
        list(found)
        for _, found in groupby(members, key=lambda c: c.task_id if compares else c.episode_id)
    ]
    stretches = _stretches(
        kept,
        lambda together: sum(row_bytes(config, c) for c in together),
        limit=group.shard_bytes,
    )
    for index, stretch in enumerate(stretches):
        listed = [c for together in stretch for c in together]
        if config not in _OF_EVERY_ATTEMPT:
            listed = [c for c in listed if selection.publishes(c)]
        if config == RowKind.SFT:  # a reply of an attempt that failed is not one to learn
            listed = [c for c in listed if c.episode_id in learnt]
        episodes = [c for c in listed if owners.has_rows(config, c)]
        if episodes and not (compares and all(c.acceptance.accepted for c in episodes)):
            yield _planned_file(group, index, episodes=episodes)


def _best_attempts(members: Sequence[Candidate], count: int | None) -> set[str]:
    """Return the accepted attempts, of each task the shortest so many; None: all."""
    accepted: dict[str, list[Candidate]] = {}
    for one in members:
        if one.acceptance.accepted:
            accepted.setdefault(one.task_id, []).append(one)
    ranked = (sorted(them, key=lambda c: (c.n_steps, c.attempt)) for them in accepted.values())
    return {one.episode_id for them in ranked for one in them[:count]}


def _task_files(group: _FileGroup, members: Sequence[Candidate]) -> Iterator[PlannedFile]:
    """Plan the tasks of all episodes, accepted or not, in the order they were first attempted."""
    attempts: dict[str, list[Candidate]] = {}
    for episode in members:
        attempts.setdefault(episode.task_id, []).append(episode)
    weight = TASK_BYTES[group.config]
    stretches = _stretches(tuple(attempts), lambda _: weight, limit=group.shard_bytes)
    for index, ids in enumerate(stretches):
        judged = [c for id_ in ids for c in attempts[id_]] if group.config == "results" else ()
        yield _planned_file(group, index, ids=ids, episodes=judged)


def _planned_file(
    group: _FileGroup,
    index: int,
    *,
    episodes: Sequence[Candidate] = (),
    ids: Sequence[str] = (),
) -> PlannedFile:
    sources: list[object] = [*ids]
    for episode in episodes:  # an episode is never edited, but it may be judged again
        judged = judgement(group.config, episode)
        sources.append([episode.episode_id, episode.content_sha256, *judged])
    if group.config in TRAINING_CONFIGS:
        sources.append(TRAINING_LAYOUT)
        if group.renderer is not None and group.config != RowKind.GROUNDING:
            sources.append(group.renderer.about)
    columns = [[f.name, str(f.type), f.nullable] for f in config_schema(group.config)]
    return PlannedFile(
        config=group.config,
        split=group.split,
        index=index,
        ids=tuple(ids) or tuple(c.episode_id for c in episodes),
        episodes=tuple(episodes),
        recipe=content_hash(
            [LAYOUT, group.config, group.split, group.shard_bytes, index, columns, sources]
        ),
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


def _row_owners(tables: Tables, selection: Selection) -> _RowOwners:
    published = {c.episode_id for c in selection.published}
    failed = {c.episode_id for c in selection.published if not c.whole}
    steps = _distinct(tables, "steps", ["episode_id"]) if failed else ()
    observations = _distinct(tables, "observations", ["episode_id"]) if published else ()
    prompts: dict[str, set[str]] = {}
    for episode, prompt in _distinct(tables, "calls", ["episode_id", "prompt_sha256"]):
        if episode in published:
            prompts.setdefault(episode, set()).update([prompt] if prompt else [])
    return _RowOwners(
        steps=failed.intersection(episode for (episode,) in steps),
        observations=published.intersection(episode for (episode,) in observations),
        calls=prompts.keys(),
        prompts=prompts,
    )


def _distinct(tables: Tables, table: str, columns: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the combinations of values in some columns; some of them more than once."""
    dataset = tables.datasets.get(table)
    if dataset is None:
        return
    for batch in dataset.to_batches(columns=columns):
        found = pa.Table.from_batches([batch]).group_by(columns).aggregate([])
        yield from zip(*(found[name].to_pylist() for name in columns), strict=True)
