"""The committed tables of a run, and the protocol by which a unit gets into them exactly once.

A unit becomes shards, put if absent under names that hold their hash; then, table by table and
`episodes` last, its application transaction is committed if it is not in yet (see
`storage.lake.delta_table`). The row in `episodes` is the commit point: whoever is killed before it
has done work that the next one finds done, whoever is slow after it finds nothing left to do. The
transaction's token is a hash of the unit's episodes, so that workers who hold different attempts at
one unit can never commit a table each: the second is told to read the spool again.

A version pins every table at one moment; whatever is published is read from a version. A lake
belongs to one event loop.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import pyarrow.compute as pc
from deltalake import Transaction
from pyarrow.dataset import Dataset

from schemas.episode import Episode
from schemas.errors import Damaged, NotFound
from schemas.ids import verdict_transaction
from schemas.sections import StorageSection
from schemas.tables import TABLES, row
from schemas.task import Task
from schemas.verdict import Verdict
from storage.lake import readers
from storage.lake.delta_access import FOLDER, Access, access_to, table_url
from storage.lake.delta_table import Entry, Handle, Table, dataset_at
from storage.lake.judged_units import Mark, marked, rows_by_unit
from storage.lake.parquet_writer import MEGABYTE
from storage.lake.retention import keep
from storage.lake.shard_commit import Commits
from storage.lake.unit_writer import UnitWriter, token_of
from storage.lake.versions import Versions, find_version, read_version, seal, version_numbers
from storage.objects.protocol import ObjectStore


@dataclass(frozen=True)
class Snapshot:
    """A run's tables as they were when a version was sealed."""

    version: int
    """The version's number."""
    tables: Versions
    """The Delta version of every table it has."""
    urls: Mapping[str, str] = field(repr=False)
    """Where the tables lie."""
    access: Access = field(default=FOLDER, repr=False)
    """The way to them."""

    async def dataset(self, table: str) -> Dataset | None:
        """Return the table at this version; None if nobody had written to it.

        Raises:
            Damaged: it cannot be read.
        """
        if table not in self.tables:
            return None
        return await asyncio.to_thread(
            dataset_at, self.urls[table], self.tables[table], self.access
        )


class Lake:
    """The tables of one run."""

    def __init__(self, url: str, store: ObjectStore, storage: StorageSection) -> None:
        self._store = store
        self._urls = {name: table_url(url, name) for name in TABLES}
        self._access = access_to(store)
        self._tables = {
            name: Table(Handle(name, place, self._access)) for name, place in self._urls.items()
        }
        self._commits = Commits(store, self._tables, shard_bytes=storage.shard_mb * MEGABYTE)

    async def commit_unit(
        self, unit_id: str, *, tasks: Sequence[Task], episodes: Sequence[Episode]
    ) -> bool:
        """Commit a unit's rows once; return False if its episodes were there before.

        `tasks` in the unit's order; `episodes` as the spool has them, in any order.

        Raises:
            Conflict: the unit was begun with other episodes than these: read the spool again.
            Unwritable: the run cannot be written.
        """
        order = {task.task_id: number for number, task in enumerate(tasks)}
        for episode in episodes:
            if episode.task_id not in order:
                raise ValueError(f"episode {episode.episode_id} is of no task of unit {unit_id}")
        async with self.unit(unit_id) as writer:
            if await self.has(unit_id):
                return False
            for episode in sorted(episodes, key=lambda e: (order[e.task_id], e.attempt)):
                await writer.add(episode)
            return await writer.commit(tasks)

    def unit(self, unit_id: str) -> UnitWriter:
        """Return what takes the episodes of a unit one by one and commits them; see `has`."""
        return UnitWriter(unit_id, self._commits, self._tables)

    async def has(self, unit_id: str) -> bool:
        """Say whether a unit is committed.

        Raises:
            Damaged: the log cannot be read.
        """
        return await self._tables["episodes"].ask(unit_id) is not None

    async def commit_verdicts(
        self,
        unit_id: str,
        *,
        verifier: str,
        version: str,
        round_: int,
        verdicts: Sequence[Verdict],
        mark: Mark | None = None,
    ) -> bool:
        """Commit what a verifier says of a unit in a round once; False if it was there before.

        With `mark` the unit is marked as settled in the same commit.

        Raises:
            Unwritable: the run cannot be written.
        """
        address = (unit_id, verifier, version, round_)
        for verdict in verdicts:
            if _address(verdict) != address:
                raise ValueError(f"verdict on {verdict.episode_id} is not of {address}")
        transaction = verdict_transaction(*address)
        if not verdicts or await self._tables["verdicts"].ask(transaction) is not None:
            return False
        ordered = sorted(verdicts, key=lambda v: v.episode_id)
        files = await self._commits.put_shards("verdicts", unit_id, rows=list(map(row, ordered)))
        token = token_of([[v.episode_id, v.status, v.judged_at] for v in ordered])
        also = None if mark is None else Transaction(mark.transaction(unit_id), mark.rows)
        there = await self._commits.commit("verdicts", Entry(transaction, token, files, also))
        return there == token

    async def committed_units(self) -> set[str]:
        """Return the units whose episodes are committed, in one pass over the log.

        Raises:
            Damaged: the log, or a file that holds several units, cannot be read.
        """
        census = await self._tables["episodes"].census()
        return set() if census is None else set(await asyncio.to_thread(rows_by_unit, *census))

    async def committed_episodes(self) -> dict[str, set[str]]:
        """Return the committed episodes by unit, in one pass over two columns.

        Raises:
            Damaged: the log or a file cannot be read.
        """
        dataset = await self._tables["episodes"].dataset()
        found = await asyncio.to_thread(readers.rows, dataset, columns=["unit_id", "episode_id"])
        units: defaultdict[str, set[str]] = defaultdict(set)
        for item in found:
            units[item["unit_id"]].add(item["episode_id"])
        return dict(units)

    async def settled_units(self, panel: str) -> set[str]:
        """Return the units that are known to owe a panel nothing, in one pass over the log.

        Raises:
            Damaged: the log, or a file that holds several units, cannot be read.
        """
        table = self._tables["verdicts"]
        version = await table.version()
        if version is None:
            return set()
        found = await marked(self._store, version, panel)
        census = await table.census() if found else None
        if census is None:
            return set()
        rows = await asyncio.to_thread(rows_by_unit, *census)
        return {unit_id for unit_id, count in found.items() if rows[unit_id] == count}

    async def tasks(self, unit_id: str) -> list[Task]:
        """Return a committed unit's tasks, by id.

        Raises:
            Damaged: the rows cannot be read.
        """
        heads = await asyncio.to_thread(
            readers.rows,
            await self._tables["episodes"].dataset({unit_id}),
            where=pc.field("unit_id") == unit_id,
            columns=["task_id"],
        )
        return await self._read_tasks(unit_id, {head["task_id"] for head in heads})

    async def episodes(self, unit_id: str) -> list[Episode]:
        """Return a committed unit's episodes whole, pictures and all, by task and attempt.

        Raises:
            Damaged: the rows cannot be read.
        """
        return await self._read_episodes(unit_id)

    async def contents(self, unit_id: str) -> dict[str, str]:
        """Return a committed unit's episodes and the hash of each one's steps.

        Raises:
            Damaged: the rows cannot be read.
        """
        heads = await asyncio.to_thread(
            readers.rows,
            await self._tables["episodes"].dataset({unit_id}),
            where=pc.field("unit_id") == unit_id,
            columns=["episode_id", "content_sha256"],
        )
        return {head["episode_id"]: head["content_sha256"] for head in heads}

    async def episode(self, episode_id: str) -> tuple[Task, Episode]:
        """Return a committed episode whole, with its task.

        Raises:
            NotFound: it is not committed.
            Damaged: its rows cannot be read, or its task's row is missing.
        """
        every = await self._tables["episodes"].dataset()
        unit_id = await asyncio.to_thread(readers.unit_of, every, episode_id)
        if unit_id is None:
            raise NotFound(f"{self._store.url}: has no episode {episode_id}")
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
            NotFound: there is no such version.
            Damaged: the rows cannot be read.
        """
        if version is None:
            dataset = await self._tables["verdicts"].dataset(units)
        else:
            dataset = await (await self.snapshot(version)).dataset("verdicts")
        return await asyncio.to_thread(readers.read_verdicts, dataset, units=units)

    async def seal(self) -> int:
        """Make a version of the tables as they are; return its number.

        The last version's number comes back when nothing is newer, 0 when nothing was ever
        written.

        Raises:
            Damaged: a table is older than the last version says.
            Unwritable: the run cannot be written.
        """
        return await seal(self._store, self._versions)

    async def snapshot(self, version: int | None = None) -> Snapshot:
        """Return a sealed version, the last one by default.

        Raises:
            NotFound: there is no such version; those there are are named.
            Damaged: it cannot be read.
        """
        number, tables = await find_version(self._store, version)
        return Snapshot(version=number, tables=tables, urls=self._urls, access=self._access)

    async def now(self) -> tuple[Snapshot, bool]:
        """Return the tables as they are, and whether the last version says the same.

        The snapshot has the last version's number, 0 where nothing was sealed yet.

        Raises:
            Damaged: the last version or a table's log cannot be read.
        """
        numbers = await version_numbers(self._store)
        number = numbers[-1] if numbers else 0
        last = await read_version(self._store, number) if numbers else {}
        tables = await self._versions()
        snapshot = Snapshot(version=number, tables=tables, urls=self._urls, access=self._access)
        return snapshot, tables == last

    async def keep(self, version: int) -> None:
        """Keep a sealed version readable for ever; do so before it is published.

        Raises:
            NotFound: it was let go.
            Unwritable: the run cannot be written.
        """
        await keep(self._store, version)

    async def close(self) -> None:
        """Let the tables go; what has begun ends first."""
        for table in self._tables.values():
            await asyncio.to_thread(table.close)

    async def _versions(self) -> Versions:
        """Return the Delta version of every table there is, `episodes` read first."""
        names = ("episodes", *(name for name in TABLES if name != "episodes"))
        found = {name: await self._tables[name].version() for name in names}
        return {name: version for name, version in found.items() if version is not None}

    async def _read_tasks(self, unit_id: str, task_ids: AbstractSet[str]) -> list[Task]:
        """Return tasks of a unit, from its own files if they are there, else from all."""
        table = self._tables["tasks"]
        own = await table.dataset({unit_id})
        found = await asyncio.to_thread(readers.read_tasks, own, task_ids)
        if len(found) < len(task_ids):
            found = await asyncio.to_thread(readers.read_tasks, await table.dataset(), task_ids)
        return found

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


def _address(verdict: Verdict) -> tuple[str, str, str, int]:
    return verdict.unit_id, verdict.verifier, verdict.verifier_version, verdict.round
