"""`compact`: few large shards instead of many small ones, and nothing that nobody needs.

What is left in the spool of units that are committed goes, the small shards of every table are
merged (`storage.maintenance.merge_shards`), a version is sealed of what came out, and then what no
kept version and no reader needs is removed (`storage.maintenance.vacuum`), with what is left of
writes that never ended. The rows of the run are the same before and after, and at every moment
between; killed anywhere and run again, it goes on.
"""

from datetime import datetime

from schemas.base import Record
from schemas.sections import StorageSection
from schemas.tables import TABLES
from storage.lake.delta_access import access_to, table_url
from storage.lake.delta_table import AsyncDeltaTable
from storage.lake.lake import Lake
from storage.lake.parquet_writer import MEGABYTE
from storage.maintenance.merge_shards import Merged, SwapHandle, TableMerge
from storage.maintenance.vacuum import Vacuum, store_clock
from storage.objects.protocol import ObjectStore
from storage.spool import Spool


class TableReport(Record):
    """What became of one table."""

    merged: int
    """Small shards that were merged into larger ones."""
    into: int
    """Shards that they were merged into."""
    bytes: int
    """Bytes of those."""


class CompactReport(Record):
    """What a compaction did."""

    version: int
    """The version that was sealed, or the last one if nothing changed; 0 if there is none."""
    tables: dict[str, TableReport]
    """What was merged; tables where nothing was are left out."""
    removed: int
    """Shards that nobody needed."""
    removed_bytes: int
    """Bytes of them."""
    let_go: int
    """Versions that cannot be read any more: old, and never published."""
    spooled: int
    """Committed units of which the spool still held episodes."""
    unfinished: int
    """Writes of killed processes that had never ended."""


async def compact(
    url: str, store: ObjectStore, storage: StorageSection, *, now: datetime | None = None
) -> CompactReport:
    """Compact the run at `url`; `now` is what time it is, by the store's clock unless given.

    Raises:
        Damaged: what lies there cannot be read, or is not what it should be.
        Conflict: other compactions or commits kept coming first.
        Unwritable: the run cannot be written.
    """
    access = access_to(store)
    handles = {name: SwapHandle(name, table_url(url, name), access) for name in TABLES}
    tables = {name: (handle, AsyncDeltaTable(handle)) for name, handle in handles.items()}
    lake = Lake(url, store, storage)
    target = storage.shard_mb * MEGABYTE
    try:
        spooled = await _clear_spool(lake, Spool(store))
        merged = {
            name: await TableMerge(store, handle, table, target=target).run()
            for name, (handle, table) in tables.items()
        }
        version = await lake.seal()
        vacuum = Vacuum(store, tables, now=now or await store_clock(store))
        vacuumed = await vacuum.run()
    finally:
        await lake.close()
        for _, table in tables.values():
            table.close()
    return CompactReport(
        version=version,
        tables={name: _table_report(result) for name, result in merged.items() if result.files},
        removed=vacuumed.files,
        removed_bytes=vacuumed.size,
        let_go=vacuumed.versions,
        spooled=spooled,
        unfinished=vacuumed.unfinished,
    )


async def _clear_spool(lake: Lake, spool: Spool) -> int:
    """Remove committed units from the spool, as a kill leaves them; return how many."""
    listed = await spool.listing()
    left = sorted(listed.keys() & await lake.committed_units()) if listed else []
    for unit_id in left:
        await spool.discard(unit_id)
    return len(left)


def _table_report(merged: Merged) -> TableReport:
    return TableReport(merged=merged.files, into=merged.into, bytes=merged.size)
