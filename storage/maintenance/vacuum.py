"""Finds and removes the files that are no longer needed; in doubt a file stays.

A shard stays if it is live, if it was live at any moment of the last 30 days (a reader may still use
the table that it opened then), or if it is live in a version that is kept: the last one, published
ones, those of the last 30 days. A shard that is in no log stays for 7 days, and longer while a worker
could still commit it: a unit's until the unit is committed, a compaction's until one of its number is.
All times are the store's own.

Any other version is released first, so that it cannot be published while its files are removed.

Unfinished writes are removed after 7 days too, unless their writer is running.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from schemas.errors import Damaged
from schemas.tables import UNIT_TABLES
from storage.lake import retention, versions
from storage.lake.delta_table import STAGED, AsyncDeltaTable
from storage.maintenance.merge_shards import COMPACT, SwapHandle
from storage.objects.batch_get import get_many
from storage.objects.protocol import ObjectInfo, ObjectStore

T = TypeVar("T")

KEPT = timedelta(days=30)
"""How long an unpublished version and its shards are kept."""

ORPHANED = timedelta(days=7)
"""How long a shard that is in no log is kept, and an unfinished write."""

_SHARD = re.compile(r"tables/([a-z]+)/([^/]+\.parquet)")
_ENTRY = re.compile(r"tables/([a-z]+)/_delta_log/(\d{20})\.json")
_DELETE_BATCH = 500


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
    """The clean-up of one run."""

    def __init__(
        self,
        store: ObjectStore,
        tables: Mapping[str, tuple[SwapHandle, AsyncDeltaTable]],
        *,
        now: datetime,
    ) -> None:
        self._store = store
        self._tables = tables
        self._now = now

    async def run(self) -> VacuumReport:
        """Remove what is no longer needed.

        Raises:
            Damaged: a log or a version cannot be read; nothing of that table is removed.
            Unwritable: the run cannot be written.
        """
        kept, released = await self._versions()
        tables = await self._table_files()
        unfinished = await self._unfinished(tables)
        files = size = 0
        for name in self._tables:
            pins = {version[name] for version in kept if name in version}
            unneeded = await self._unneeded(name, tables[name], pins)
            for batch in _batches(unneeded, _DELETE_BATCH):
                live = await self._read(name, partial(self._tables[name][0].paths))
                removable = [path for path in batch if path not in live]
                await self._store.delete([f"tables/{name}/{path}" for path in removable])
                files += len(removable)
                size += sum(tables[name].shards[path].size for path in removable)
        return VacuumReport(files=files, size=size, versions=released, unfinished=unfinished)

    async def _unfinished(self, tables: Mapping[str, TableFiles]) -> int:
        """Remove old unfinished writes: our own, Delta's, and objects written to read the clock."""
        before = self._now - ORPHANED
        clocks = [item async for item in self._store.list(retention.PREFIX)]
        asked = [item for item in clocks if retention.CLOCK.fullmatch(item.key)]
        staged = [item for table in tables.values() for item in table.staged]
        left = [item.key for item in (*asked, *staged) if item.modified < before]
        for batch in _batches(left, _DELETE_BATCH):
            await self._store.delete(batch)
        return len(left) + await self._store.give_up(before)

    async def _versions(self) -> tuple[list[versions.Versions], int]:
        """Return the versions that are kept, and how many were released now."""
        items = [item async for item in self._store.list(versions.PREFIX)]
        made = {
            int(match[1]): item.modified
            for item in items
            for match in [versions.KEY.fullmatch(item.key)]
            if match
        }
        decisions = await self._decisions()
        kept: list[versions.Versions] = []
        released = 0
        for number, modified in sorted(made.items()):
            stays = number == max(made) or modified > self._now - KEPT or decisions.get(number)
            if not stays and (number in decisions or await retention.release(self._store, number)):
                released += number not in decisions
                continue
            kept.append(await versions.read_version(self._store, number))
        return kept, released

    async def _decisions(self) -> dict[int, bool]:
        """Return for which versions it is decided whether they are kept."""
        stored = [item.key async for item in self._store.list(retention.PREFIX)]
        keys = {key: match for key in stored if (match := retention.KEY.fullmatch(key))}
        return {
            int(match[1]): retention.parse_decision(await self._store.get(key), key)
            for key, match in keys.items()
        }

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

    async def _unneeded(self, name: str, files: TableFiles, pins: Iterable[int]) -> list[str]:
        """Return the shards of a table that are not needed."""
        old = [path for path, item in files.shards.items() if item.modified < self._now - ORPHANED]
        if not old:
            return []
        handle = self._tables[name][0]
        past = [n for n, item in files.entries.items() if item.modified <= self._now - KEPT]
        since = max(past, default=None)
        needed = set(await self._read(name, partial(handle.paths)))
        for version in {*pins, *([] if since is None else [since])}:
            needed |= await self._read(name, partial(handle.paths, version))
        left = [path for path in old if path not in needed]
        if left:
            recent = [n for n in files.entries if since is None or n > since]
            needed |= await self._added(name, recent)
        return [path for path in left if path not in needed and await self._is_obsolete(name, path)]

    async def _added(self, name: str, numbers: Sequence[int]) -> set[str]:
        """Return the files that these entries of a table's log added."""
        out: set[str] = set()
        keys = [f"tables/{name}/_delta_log/{number:020d}.json" for number in sorted(numbers)]
        async for key, data in get_many(self._store, keys):
            try:
                actions = [json.loads(line) for line in (data or b"?").splitlines()]
                out |= {action["add"]["path"] for action in actions if "add" in action}
            except (ValueError, TypeError, KeyError):
                raise Damaged(f"{self._store.url}/{key}: is not a log entry") from None
        return out

    async def _is_obsolete(self, name: str, path: str) -> bool:
        """Return whether no worker can commit a shard any more that is in no log."""
        handle, table = self._tables[name]
        unit_id, _, rest = path.partition("-")
        if unit_id == COMPACT:
            number = rest.partition("-")[0]
            state = await table.read(handle.state)
            return number.isdigit() and int(number) <= state.number
        if name not in UNIT_TABLES:
            return True
        return await table.read(partial(handle.has, unit_id))

    async def _read(self, name: str, work: partial[frozenset[str]]) -> frozenset[str]:
        return await self._tables[name][1].read(work)


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
