"""The committed tables of a run, and the protocol by which a unit gets into them exactly once.

A unit becomes shards, put if absent under names that hold their hash. Then, table by table and
`episodes` last, its application transaction is committed if it is not in yet (see
`storage.lake.delta_table`). The row in `episodes` is the commit point. When a worker is killed
before it, the next worker finds the finished shards and uses them; when a slow worker comes after
it, the unit is committed already and nothing is left to do. The transaction's token is a hash of
the unit's episodes, so two workers that hold different attempts at one unit can never commit a
table each: the second gets a `Conflict` and reads the spool again.

A version pins every table at one moment; whatever is published is read from a version. A lake
belongs to one event loop.
"""

import asyncio

from schemas.sections import StorageSection
from schemas.tables import TABLES
from storage.lake.delta_access import access_to, table_url
from storage.lake.delta_table import AsyncDeltaTable, DeltaHandle
from storage.lake.judged_units import ResumeIndex
from storage.lake.lake_reader import LakeReader, Snapshot
from storage.lake.parquet_writer import MEGABYTE
from storage.lake.retention import keep
from storage.lake.versions import Versions, read_version, seal, version_numbers
from storage.lake.writer import LakeWriter
from storage.objects.protocol import ObjectStore


class Lake(LakeReader, LakeWriter, ResumeIndex):
    """The tables of one run, open for everything; a part that only reads takes a `LakeReader`."""

    def __init__(self, url: str, store: ObjectStore, storage: StorageSection) -> None:
        access = access_to(store)
        urls = {name: table_url(url, name) for name in TABLES}
        tables = {
            name: AsyncDeltaTable(DeltaHandle(name, place, access)) for name, place in urls.items()
        }
        LakeReader.__init__(self, store, tables, urls=urls, access=access)
        LakeWriter.__init__(self, store, tables, shard_bytes=storage.shard_mb * MEGABYTE)
        ResumeIndex.__init__(self, store, tables)

    async def seal(self) -> int:
        """Make a version of the tables as they are; return its number.

        If nothing is newer than the last version, return that one's number; 0 if nothing was ever
        written.

        Raises:
            Damaged: a table is older than the last version says.
            Unwritable: the run cannot be written.
        """
        return await seal(self._store, self._versions)

    async def current(self) -> tuple[Snapshot, bool]:
        """Return the tables as they are, and whether the last version pins the same.

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
            NotFound: it was released.
            Unwritable: the run cannot be written.
        """
        await keep(self._store, version)

    async def close(self) -> None:
        """Close the tables, after the work that has begun."""
        for table in self._tables.values():
            await asyncio.to_thread(table.close)

    async def _versions(self) -> Versions:
        """Return the Delta version of every table that exists, `episodes` read first."""
        names = ("episodes", *(name for name in TABLES if name != "episodes"))
        versions = {name: await self._tables[name].version() for name in names}
        return {name: version for name, version in versions.items() if version is not None}
