"""What nobody needs any more, found and removed; every doubt keeps a file.

A shard stays if it counts now, if it counted at any moment of the last 30 days (somebody may be
reading what they opened then), or if a version that is kept counts it: the last one, those that
were published, those of the last 30 days. One that counts nowhere stays for 7 days, and longer
as long as somebody could still commit it: a unit's until the unit is committed, a compaction's
until one of its number is. Time is told by the store's own clock.

A version that is neither is let go first, so that nobody publishes it while its files go.

What is left of a write that never ended goes after 7 days too, unless its writer is seen to live.
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
from storage.lake.delta_table import STAGED, Table
from storage.maintenance.merge_shards import COMPACT, SwapHandle
from storage.objects.batch_get import get_several
from storage.objects.protocol import ObjectInfo, ObjectStore

T = TypeVar("T")

KEPT = timedelta(days=30)
"""How long a version that nobody published is kept, and what it counts."""

ORPHANED = timedelta(days=7)
"""How long a shard that never counted is kept, and a write that never ended."""

_SHARD = re.compile(r"tables/([a-z]+)/([^/]+\.parquet)")
_ENTRY = re.compile(r"tables/([a-z]+)/_delta_log/(\d{20})\.json")
_DELETED_AT_ONCE = 500


@dataclass
class Lying:
    """What lies in a table's folder."""

    shards: dict[str, ObjectInfo] = field(default_factory=dict)
    """Its shards, by path."""
    entries: dict[int, ObjectInfo] = field(default_factory=dict)
    """Its log's entries, by number."""
    staged: list[ObjectInfo] = field(default_factory=list)
    """What Delta's client is writing or did not end to write."""


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """What was removed."""

    files: int = 0
    """Shards."""
    size: int = 0
    """Bytes of them."""
    versions: int = 0
    """Versions that were let go."""
    unfinished: int = 0
    """Writes that never ended."""


class Vacuum:
    """The clean-up of one run."""

    def __init__(
        self, store: ObjectStore, tables: Mapping[str, tuple[SwapHandle, Table]], *, now: datetime
    ) -> None:
        self._store = store
        self._tables = tables
        self._now = now

    async def run(self) -> Vacuumed:
        """Remove what nobody needs.

        Raises:
            Damaged: a log or a version cannot be read; nothing of that table is removed.
            Unwritable: the run cannot be written.
        """
        kept, released = await self._versions()
        lying = await self._lying()
        unfinished = await self._unfinished(lying)
        files = size = 0
        for name in self._tables:
            pins = {version[name] for version in kept if name in version}
            needless = await self._needless(name, lying[name], pins)
            for some in _batches(needless, _DELETED_AT_ONCE):
                live = await self._read(name, partial(self._tables[name][0].paths))
                gone = [path for path in some if path not in live]
                await self._store.delete([f"tables/{name}/{path}" for path in gone])
                files += len(gone)
                size += sum(lying[name].shards[path].size for path in gone)
        return Vacuumed(files=files, size=size, versions=released, unfinished=unfinished)

    async def _unfinished(self, lying: Mapping[str, Lying]) -> int:
        """Remove what is left of old writes: our own, Delta's, and questions for the time."""
        before = self._now - ORPHANED
        clocks = [item async for item in self._store.list(retention.PREFIX)]
        asked = [item for item in clocks if retention.CLOCK.fullmatch(item.key)]
        staged = [item for table in lying.values() for item in table.staged]
        left = [item.key for item in (*asked, *staged) if item.modified < before]
        for some in _batches(left, _DELETED_AT_ONCE):
            await self._store.delete(some)
        return len(left) + await self._store.give_up(before)

    async def _versions(self) -> tuple[list[versions.Versions], int]:
        """Return the versions that are kept, and how many were let go just now."""
        found = [item async for item in self._store.list(versions.PREFIX)]
        made = {
            int(match[1]): item.modified
            for item in found
            for match in [versions.KEY.fullmatch(item.key)]
            if match
        }
        said = await self._said()
        kept: list[versions.Versions] = []
        released = 0
        for number, modified in sorted(made.items()):
            stays = number == max(made) or modified > self._now - KEPT or said.get(number)
            if not stays and (number in said or await retention.let_go(self._store, number)):
                released += number not in said
                continue
            kept.append(await versions.read_version(self._store, number))
        return kept, released

    async def _said(self) -> dict[int, bool]:
        """Return of which versions it is said whether they are kept."""
        found = [item.key async for item in self._store.list(retention.PREFIX)]
        keys = {key: match for key in found if (match := retention.KEY.fullmatch(key))}
        return {
            int(match[1]): retention.parse_keeping(await self._store.get(key), key)
            for key, match in keys.items()
        }

    async def _lying(self) -> Mapping[str, Lying]:
        lying: defaultdict[str, Lying] = defaultdict(Lying)
        async for item in self._store.list("tables/"):
            if match := _SHARD.fullmatch(item.key):
                lying[match[1]].shards[match[2]] = item
            elif match := _ENTRY.fullmatch(item.key):
                lying[match[1]].entries[int(match[2])] = item
            elif match := STAGED.fullmatch(item.key):
                lying[match["table"]].staged.append(item)
        return lying

    async def _needless(self, name: str, lying: Lying, pins: Iterable[int]) -> list[str]:
        """Return the shards of a table that nobody needs."""
        old = [path for path, item in lying.shards.items() if item.modified < self._now - ORPHANED]
        if not old:
            return []
        handle = self._tables[name][0]
        past = [n for n, item in lying.entries.items() if item.modified <= self._now - KEPT]
        since = max(past, default=None)
        needed = set(await self._read(name, partial(handle.paths)))
        for version in {*pins, *([] if since is None else [since])}:
            needed |= await self._read(name, partial(handle.paths, version))
        left = [path for path in old if path not in needed]
        if left:
            recent = [n for n in lying.entries if since is None or n > since]
            needed |= await self._added(name, recent)
        return [path for path in left if path not in needed and await self._settled(name, path)]

    async def _added(self, name: str, numbers: Sequence[int]) -> set[str]:
        """Return the files that these entries of a table's log added."""
        out: set[str] = set()
        keys = [f"tables/{name}/_delta_log/{number:020d}.json" for number in sorted(numbers)]
        async for key, data in get_several(self._store, keys):
            try:
                actions = [json.loads(line) for line in (data or b"?").splitlines()]
                out |= {action["add"]["path"] for action in actions if "add" in action}
            except (ValueError, TypeError, KeyError):
                raise Damaged(f"{self._store.url}/{key}: is no log entry") from None
        return out

    async def _settled(self, name: str, path: str) -> bool:
        """Say whether nobody will ever commit a shard that does not count."""
        handle, table = self._tables[name]
        unit_id, _, rest = path.partition("-")
        if unit_id == COMPACT:
            number = rest.partition("-")[0]
            look = await table.read(handle.look)
            return number.isdigit() and int(number) <= look.number
        if name not in UNIT_TABLES:
            return True
        return await table.read(partial(handle.has, unit_id))

    async def _read(self, name: str, work: partial[frozenset[str]]) -> frozenset[str]:
        return await self._tables[name][1].read(work)


async def store_clock(store: ObjectStore) -> datetime:
    """Return what time it is for the store.

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
