"""Reads a run's tables: units, episodes and verdicts, as they are now or at a version."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import pyarrow.compute as pc
from pyarrow.dataset import Dataset

from schemas.episodes.episode import Episode
from schemas.errors import Damaged, NotFound
from schemas.tables.tables import Row
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Verdict
from storage.lake import readers
from storage.lake.delta_table import AsyncDeltaTable, dataset_at
from storage.lake.file_access import FOLDER, Access
from storage.lake.split_record import add_splits, read_splits
from storage.lake.versions import Versions, find_version
from storage.lake.withdrawals import read_withdrawals
from storage.objects.protocol import ObjectStore


@dataclass(frozen=True)
class Snapshot:
    """A run's tables as they were when a version was sealed."""

    version: int
    """The version's number."""
    tables: Versions
    """The Delta version of every table it has."""
    urls: Mapping[str, str] = field(repr=False)
    """The URL of every table."""
    store: ObjectStore = field(repr=False)
    """Where the run is stored."""
    access: Access = field(default=FOLDER, repr=False)
    """The options of Delta's client that open them."""

    async def dataset(self, table: str) -> Dataset | None:
        """Return the table at this version; None if it did not exist yet.

        Raises:
            Damaged: it cannot be read.
        """
        if table not in self.tables:
            return None
        return await asyncio.to_thread(
            dataset_at, self.urls[table], self.tables[table], self.access
        )

    async def known_splits(self) -> dict[str, str]:
        """Return the split of each template that any version of the run was published with.

        Raises:
            Damaged: the record cannot be read.
        """
        return await read_splits(self.store)

    async def withdrawn(self) -> frozenset[str]:
        """Return the ids of the run's episodes that were withdrawn.

        Raises:
            Damaged: the record cannot be read.
        """
        return await _withdrawn(self.store)

    async def add_splits(self, splits: Mapping[str, str]) -> None:
        """Record the splits of templates that have none yet (see `storage.lake.split_record`).

        Raises:
            Conflict: another publication gave one of them another split meanwhile.
            Damaged: the record cannot be read.
            Unwritable: the run cannot be written.
        """
        await add_splits(self.store, splits)


async def _withdrawn(store: ObjectStore) -> frozenset[str]:
    return (await read_withdrawals(store)).ids


class LakeReader:
    """Reads the tables of one run."""

    def __init__(
        self,
        store: ObjectStore,
        tables: Mapping[str, AsyncDeltaTable],
        *,
        urls: Mapping[str, str],
        access: Access,
    ) -> None:
        self._store = store
        self._tables = tables
        self._urls = urls
        self._access = access
        self._n_steps: dict[str, int] = {}

    async def dataset(self, table: str) -> Dataset | None:
        """Return a table as it is now; None if it does not exist yet.

        Raises:
            Damaged: it cannot be read.
        """
        return await self._tables[table].dataset()

    async def n_steps(self, episodes: AbstractSet[str]) -> Mapping[str, int]:
        """Return the number of actions of each of these episodes that is committed, by id.

        An episode is never changed, so those that were found are remembered.

        Raises:
            Damaged: the rows cannot be read.
        """
        unknown = sorted(episodes - self._n_steps.keys())
        if unknown:
            where = pc.field("episode_id").isin(unknown)
            dataset = await self.dataset("episodes")
            columns = ["episode_id", "n_steps"]
            found = await asyncio.to_thread(readers.rows, dataset, where=where, columns=columns)
            self._n_steps |= {row["episode_id"]: row["n_steps"] for row in found}
        return {id_: self._n_steps[id_] for id_ in episodes if id_ in self._n_steps}

    async def tasks(self, unit_id: str) -> list[Task]:
        """Return a committed unit's tasks, by id.

        Raises:
            Damaged: the rows cannot be read.
        """
        heads = await self._read_heads(unit_id, "task_id")
        return await self._read_tasks(unit_id, {head["task_id"] for head in heads})

    async def episodes(self, unit_id: str) -> list[Episode]:
        """Return a committed unit's episodes whole, pictures and all, by task and attempt.

        Raises:
            Damaged: the rows cannot be read.
        """
        return await self._read_episodes(unit_id)

    async def heads(self, units: AbstractSet[str], columns: Sequence[str]) -> list[Row]:
        """Return some columns of the episodes of some committed units, in no order.

        Raises:
            Damaged: the rows cannot be read.
        """
        dataset = await self._tables["episodes"].dataset(set(units))
        where = pc.field("unit_id").isin(sorted(units))
        return await asyncio.to_thread(readers.rows, dataset, where=where, columns=columns)

    async def content_hashes(self, unit_id: str) -> dict[str, str]:
        """Return the hash of each episode's steps, by the ids of a committed unit's episodes.

        Raises:
            Damaged: the rows cannot be read.
        """
        heads = await self._read_heads(unit_id, "episode_id", "content_sha256")
        return {head["episode_id"]: head["content_sha256"] for head in heads}

    async def episode(self, episode_id: str) -> tuple[Task, Episode]:
        """Return a committed episode whole, with its task.

        Raises:
            NotFound: it is not committed.
            Damaged: its rows cannot be read, or its task's row is missing.
        """
        episodes = await self._tables["episodes"].dataset()
        unit_id = await asyncio.to_thread(readers.unit_of, episodes, episode_id)
        if unit_id is None:
            raise NotFound(
                f"{self._store.url}: has no episode {episode_id}: expected the episode_id of one of its rows"
            )
        return await self.episode_of(unit_id, episode_id)

    async def episode_of(self, unit_id: str, episode_id: str) -> tuple[Task, Episode]:
        """Return a committed episode of a unit whole, with its task.

        Raises:
            Damaged: its rows cannot be read, or its task's row is missing.
        """
        [episode] = await self._read_episodes(unit_id, episode_id)
        tasks = await self._read_tasks(unit_id, {episode.task_id})
        if not tasks:
            raise Damaged(f"episode {episode_id}: its task {episode.task_id} has no row")
        return tasks[0], episode

    async def verdicts(
        self, *, units: Collection[str] | None = None, version: int | None = None
    ) -> list[Verdict]:
        """Return every verdict (of some units, or at a sealed version), all rounds.

        Raises:
            NotFound: the run has no such version.
            Damaged: the rows cannot be read.
        """
        if version is None:
            dataset = await self._tables["verdicts"].dataset(units)
        else:
            dataset = await (await self.snapshot(version)).dataset("verdicts")
        return await asyncio.to_thread(readers.read_verdicts, dataset, units=units)

    async def withdrawn(self) -> frozenset[str]:
        """Return the ids of the run's episodes that were withdrawn; the tables may have no row of them.

        Raises:
            Damaged: the record cannot be read.
        """
        return await _withdrawn(self._store)

    async def snapshot(self, version: int | None = None) -> Snapshot:
        """Return a sealed version, the last one by default.

        Raises:
            NotFound: the run has no such version; the error names those it has.
            Damaged: it cannot be read.
        """
        number, tables = await find_version(self._store, version)
        return self._snapshot(number, tables)

    def _snapshot(self, number: int, tables: Versions) -> Snapshot:
        return Snapshot(
            version=number, tables=tables, urls=self._urls, store=self._store, access=self._access
        )

    async def _read_heads(self, unit_id: str, *columns: str) -> list[Row]:
        """Return some columns of a unit's rows of `episodes`."""
        dataset = await self._tables["episodes"].dataset({unit_id})
        where = pc.field("unit_id") == unit_id
        return await asyncio.to_thread(readers.rows, dataset, where=where, columns=columns)

    async def _read_tasks(self, unit_id: str, task_ids: AbstractSet[str]) -> list[Task]:
        """Return tasks of a unit, from its own files if these hold all of them, else from all files."""
        table = self._tables["tasks"]
        unit_files = await table.dataset({unit_id})
        tasks = await asyncio.to_thread(readers.read_tasks, unit_files, task_ids)
        if len(tasks) < len(task_ids):
            tasks = await asyncio.to_thread(readers.read_tasks, await table.dataset(), task_ids)
        return tasks

    async def _read_episodes(self, unit_id: str, episode_id: str | None = None) -> list[Episode]:
        names = ("episodes", "steps", "observations", "calls")
        datasets = {name: await self._tables[name].dataset({unit_id}) for name in names}
        parts = await asyncio.to_thread(
            readers.read_parts, datasets, unit_id=unit_id, episode_id=episode_id
        )
        table = self._tables["prompts"]
        prompts = await asyncio.to_thread(
            readers.read_prompts, await table.dataset({unit_id}), parts.prompts
        )
        if prompts.keys() < parts.prompts:
            prompts = await asyncio.to_thread(
                readers.read_prompts, await table.dataset(), parts.prompts
            )
        return await asyncio.to_thread(readers.read_episodes, parts, prompts)
