"""`compact`: few large shards instead of many small ones, and no file that nothing needs.

A compaction removes from the spool what a kill left of committed units, merges the small shards of
every table (`storage.maintenance.merge_shards`), seals a version of the result, and then removes the
files that no kept version and no reader needs, with the writes that never ended (`Vacuum`). The rows
of the run are the same before and after, and at every moment between, but for those of withdrawn
episodes, which go. A compaction that was killed goes on when it is run again.

In doubt a file stays. A shard stays if it is live, if it was live at any moment of the last 30 days (a
reader may still use the table that it opened then), or if it is live in a version that is kept: the
last one, published ones, those of the last 30 days. A shard that is in no log stays for 7 days, and
longer while a worker could still commit it: a unit's until the unit is committed, a compaction's until
one of its number is. Unfinished writes are removed after 7 days too, unless their writer is running.
All times are the store's own.

A version that is not kept is released first, so that it cannot be published while its files are removed.

A shard with rows of withdrawn episodes does not stay: it goes as soon as the tables have another in its place, and the
versions that had it are released, published ones too.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from schemas.base import Record, parse_json
from schemas.configuration.sections import StorageSection
from schemas.errors import Damaged
from schemas.tables.tables import TABLES, UNIT_TABLES
from storage.lake import retention, versions
from storage.lake.delta_table import STAGED, AsyncDeltaTable
from storage.lake.file_access import access_to, entry_key, table_url
from storage.lake.lake import Lake
from storage.lake.parquet_writer import MEGABYTE
from storage.lake.shard_upload import COMPACT, ShardName
from storage.lake.withdrawals import read_withdrawals
from storage.maintenance.merge_shards import SwapHandle, TableMerge
from storage.maintenance.withdrawn_rows import WithdrawnRows
from storage.objects.batch_get import get_many
from storage.objects.protocol import ObjectInfo, ObjectStore
from storage.spool import Spool

T = TypeVar("T")

KEPT = timedelta(days=30)
"""How long an unpublished version and its shards are kept."""

ORPHANED = timedelta(days=7)
"""How long a shard that is in no log is kept, and an unfinished write."""

_SHARD = re.compile(r"tables/([a-z]+)/([^/]+\.parquet)")
_ENTRY = re.compile(r"tables/([a-z]+)/_delta_log/(\d{20})\.json")
_DELETE_BATCH = 500


class TableReport(Record):
    """The result of merging one table's shards."""

    merged: int
    """Small shards that were merged into larger ones."""
    into: int
    """Shards that they were merged into."""
    bytes: int
    """Bytes of the shards written."""
    withdrawn: int
    """Rows of withdrawn episodes that were left out."""


class CompactReport(Record):
    """The result of a compaction."""

    version: int
    """The version that was sealed, or the last one if nothing changed; 0 if no version exists."""
    tables: dict[str, TableReport]
    """The tables of which shards were merged."""
    removed: int
    """Shards that were removed, because nothing needed them."""
    removed_bytes: int
    """Bytes of them."""
    let_go: int
    """Versions that were released: old and never published, or with rows of withdrawn episodes."""
    spooled: int
    """Committed units that were removed from the spool."""
    unfinished: int
    """Unfinished writes that were removed."""


async def compact(
    url: str, store: ObjectStore, storage: StorageSection, *, now: datetime | None = None
) -> CompactReport:
    """Compact the run at `url`; `now` is the time, by default the store's.

    Raises:
        Damaged: an object of the run cannot be read, or was altered.
        Conflict: other compactions or commits kept coming first.
        Unwritable: the run cannot be written.
    """
    access = access_to(store)
    handles = {name: SwapHandle(name, table_url(url, name), access) for name in TABLES}
    tables = {name: (handle, AsyncDeltaTable(handle)) for name, handle in handles.items()}
    lake = Lake(url, store, storage)
    target = storage.shard_mb * MEGABYTE
    try:
        withdrawn = WithdrawnRows(url, access, (await read_withdrawals(store)).episodes)
        spool = Spool(store)
        listed = await spool.listing()
        spooled = listed.keys() & await lake.committed_units() if listed else set[str]()
        for unit_id in sorted(spooled):
            await spool.discard(unit_id)
        merged = {
            name: await TableMerge(store, handle, table, target=target, withdrawn=withdrawn).run()
            for name, (handle, table) in tables.items()
        }
        version = await lake.seal()
        vacuum = Vacuum(store, tables, now=now or await store_clock(store), withdrawn=withdrawn)
        vacuumed = await vacuum.run()
    finally:
        await lake.close()
        for _, table in tables.values():
            table.close()
    return CompactReport(
        version=version,
        tables={
            name: TableReport(
                merged=result.files,
                into=result.into,
                bytes=result.size,
                withdrawn=result.dropped,
            )
            for name, result in merged.items()
            if result.files
        },
        removed=vacuumed.files,
        removed_bytes=vacuumed.size,
        let_go=vacuumed.versions,
        spooled=len(spooled),
        unfinished=vacuumed.unfinished,
    )


@dataclass
class TableFiles:
    """The files in a table's folder."""

    shards: dict[str, ObjectInfo] = field(default_factory=dict)
    """Its shards, by path."""
    entries: dict[int, ObjectInfo] = field(default_factory=dict)
    """Its log's entries, by number."""
    staged: list[ObjectInfo] = field(default_factory=list)
    """Unfinished writes of Delta's client."""


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """The result of a clean-up."""

    files: int = 0
    """Shards."""
    size: int = 0
    """Bytes of them."""
    versions: int = 0
    """Versions that were released."""
    unfinished: int = 0
    """Unfinished writes that were removed."""


class Vacuum:
    """Removes the files of a run that are no longer needed."""

    def __init__(
        self,
        store: ObjectStore,
        tables: Mapping[str, tuple[SwapHandle, AsyncDeltaTable]],
        *,
        now: datetime,
        withdrawn: WithdrawnRows,
    ) -> None:
        self._store = store
        self._tables = tables
        self._now = now
        self._withdrawn = withdrawn

    async def run(self) -> VacuumReport:
        """Remove the files that are no longer needed.

        Raises:
            Damaged: a log or a version cannot be read; nothing of that table is removed.
            Unwritable: the run cannot be written.
        """
        kept, released = await self._kept_versions()
        tables = await self._table_files()
        unfinished = await self._remove_unfinished(tables)
        holders = {name: await self._holders(name, tables[name]) for name in self._tables}
        kept, taken_back = await self._take_back(kept, holders)
        released += taken_back
        files = size = 0
        for name in self._tables:
            pins = {at[name] for at in kept.values() if name in at}
            unneeded = await self._unneeded_shards(name, tables[name], pins, holders[name])
            for batch in _batches(unneeded, _DELETE_BATCH):
                live = await self._live_paths(name)
                removable = [path for path in batch if path not in live]
                await self._store.delete([f"tables/{name}/{path}" for path in removable])
                files += len(removable)
                size += sum(tables[name].shards[path].size for path in removable)
        return VacuumReport(files=files, size=size, versions=released, unfinished=unfinished)

    async def _remove_unfinished(self, tables: Mapping[str, TableFiles]) -> int:
        """Remove old unfinished writes: our own, Delta's, and objects written to read the clock."""
        before = self._now - ORPHANED
        clocks = [item async for item in self._store.list(retention.PREFIX)]
        asked = [item for item in clocks if retention.CLOCK.fullmatch(item.key)]
        staged = [item for table in tables.values() for item in table.staged]
        left = [item.key for item in (*asked, *staged) if item.modified < before]
        for batch in _batches(left, _DELETE_BATCH):
            await self._store.delete(batch)
        return len(left) + await self._store.remove_unfinished(before)

    async def _holders(self, name: str, files: TableFiles) -> frozenset[str]:
        """Return the shards of a table with rows of withdrawn episodes that are not live."""
        live = await self._live_paths(name)
        sizes = {path: item.size for path, item in files.shards.items() if path not in live}
        return await asyncio.to_thread(self._withdrawn.holders, name, sizes)

    async def _take_back(
        self, kept: Mapping[int, versions.Versions], holders: Mapping[str, frozenset[str]]
    ) -> tuple[dict[int, versions.Versions], int]:
        """Release the versions that have such a shard; return the others, and how many were released."""
        left: dict[int, versions.Versions] = {}
        for number, at in kept.items():
            for name, paths in holders.items():
                if name in at and paths and paths & await self._live_paths(name, at[name]):
                    await retention.take_back(self._store, number)
                    break
            else:
                left[number] = at
        return left, len(kept) - len(left)

    async def _kept_versions(self) -> tuple[dict[int, versions.Versions], int]:
        """Release old versions; return those that are kept, and how many were released."""
        items = [item async for item in self._store.list(versions.PREFIX)]
        made = {
            int(match[1]): item.modified
            for item in items
            for match in [versions.KEY.fullmatch(item.key)]
            if match
        }
        keys = [item.key async for item in self._store.list(retention.PREFIX)]
        decisions = {
            int(match[1]): retention.parse_decision(await self._store.get(match[0]), match[0])
            for match in map(retention.KEY.fullmatch, keys)
            if match
        }
        kept: dict[int, versions.Versions] = {}
        released = 0
        for number, modified in sorted(made.items()):
            stays = number == max(made) or modified > self._now - KEPT or decisions.get(number)
            if not stays and (number in decisions or await retention.release(self._store, number)):
                released += number not in decisions
                continue
            kept[number] = await versions.read_version(self._store, number)
        return kept, released

    async def _table_files(self) -> Mapping[str, TableFiles]:
        tables: defaultdict[str, TableFiles] = defaultdict(TableFiles)
        async for item in self._store.list("tables/"):
            if match := _SHARD.fullmatch(item.key):
                tables[match[1]].shards[match[2]] = item
            elif match := _ENTRY.fullmatch(item.key):
                tables[match[1]].entries[int(match[2])] = item
            elif match := STAGED.fullmatch(item.key):
                tables[match["table"]].staged.append(item)
        return tables

    async def _unneeded_shards(
        self, name: str, files: TableFiles, pins: Iterable[int], holders: frozenset[str]
    ) -> list[str]:
        """Return the shards of a table that are not needed; none of a kept version is among `holders`."""
        old = [
            path
            for path, item in files.shards.items()
            if item.modified < self._now - ORPHANED and path not in holders
        ]
        if not old:
            return sorted(holders)
        past = [n for n, item in files.entries.items() if item.modified <= self._now - KEPT]
        since = max(past, default=None)
        needed = set(await self._live_paths(name))
        for version in {*pins, *([] if since is None else [since])}:
            needed |= await self._live_paths(name, version)
        left = [path for path in old if path not in needed]
        if left:
            recent = [n for n in files.entries if since is None or n > since]
            needed |= await self._added_files(name, recent)
        obsolete = [
            path for path in left if path not in needed and await self._is_obsolete(name, path)
        ]
        return [*sorted(holders), *obsolete]

    async def _added_files(self, name: str, numbers: Sequence[int]) -> set[str]:
        """Return the files that these entries of a table's log added."""
        out: set[str] = set()
        keys = [entry_key(name, number) for number in sorted(numbers)]
        async for key, data in get_many(self._store, keys):
            try:
                actions: list[Any] = [parse_json(line) for line in (data or b"?").splitlines()]
                out |= {action["add"]["path"] for action in actions if "add" in action}
            except (ValueError, TypeError, KeyError):
                raise Damaged(f"{self._store.url}/{key}: is not a log entry") from None
        return out

    async def _is_obsolete(self, name: str, path: str) -> bool:
        """Return whether no worker can commit a shard any more, which is in no log."""
        handle, table = self._tables[name]
        shard = ShardName.parse(path)
        if shard.unit_id == COMPACT:
            state = await table.read(handle.state)
            return shard.number is not None and shard.number <= state.number
        return name not in UNIT_TABLES or await table.transaction_token(shard.unit_id) is not None

    async def _live_paths(self, name: str, version: int | None = None) -> frozenset[str]:
        handle, table = self._tables[name]
        return await table.read(partial(handle.paths, version))


async def store_clock(store: ObjectStore) -> datetime:
    """Return the time by the store's clock.

    Raises:
        Unwritable: the store cannot be written.
    """
    key = retention.clock_key()
    await store.put(key, b"")
    try:
        return (await store.info(key)).modified
    finally:
        await store.delete([key])


def _batches(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
