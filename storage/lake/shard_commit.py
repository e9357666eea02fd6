"""The two halves of a commit: shards that lie there whole, and the log's word that they count.

Between the halves a process may be killed: then there is a shard that nobody committed, which the
next builder of the unit finds under the same name and uses. The log is told only what was read
from the store after the shard was written.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Self

from schemas.errors import Damaged
from schemas.tables import Row, arrow_schema
from storage.lake.delta_stats import Added, statistics
from storage.lake.delta_table import Entry, Table
from storage.lake.parquet_writer import Shard, ShardWriter, batches, shard_name
from storage.lake.versions import read_version, version_numbers
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.temp_object import Draft

_READ_AT_ONCE = 1 << 24
"""Bytes of an object read at once."""


class Commits:
    """Writes rows into the tables of one run."""

    def __init__(
        self, store: ObjectStore, tables: Mapping[str, Table], *, shard_bytes: int
    ) -> None:
        self._store = store
        self._tables = tables
        self._shard_bytes = shard_bytes
        self._made: set[str] = set()

    def filling(self, table: str, unit_id: str) -> "Filling":
        """Return what takes the rows of a unit in a table; nothing is written yet."""
        return Filling(self._store, table, unit_id, shard_bytes=self._shard_bytes)

    async def put_shards(self, table: str, unit_id: str, *, rows: Sequence[Row]) -> list[Added]:
        """Write `rows` of a unit as shards; they are whole when this returns, and count for nothing.

        Raises:
            Unwritable: the run cannot be written.
            Damaged: the store does not hold what it was given.
        """
        with self.filling(table, unit_id) as filling:
            await filling.add(rows)
            return await filling.end()

    async def commit(self, table: str, entry: Entry) -> int:
        """Make the files of `entry` count unless its transaction is in; return the token that is.

        Raises:
            Conflict: other writers kept coming first.
            Unwritable: the log cannot be written.
            Damaged: the log cannot be read, or is gone.
        """
        await self._refuse_lost(table)
        return await self._tables[table].commit(entry)

    async def _refuse_lost(self, table: str) -> None:
        """Never make a table anew that a version says there was."""
        if table in self._made:
            return
        if await self._tables[table].version() is None:
            for number in await version_numbers(self._store):
                if table in await read_version(self._store, number):
                    raise Damaged(
                        f"{self._store.url}/tables/{table}: the log is gone "
                        f"that versions/{number}.json speaks of"
                    )
        self._made.add(table)


class Filling:
    """The rows of a unit in one table on their way to shards, as they come.

    At hand are the rows of one row group; a shard is put as soon as it is full.
    """

    def __init__(self, store: ObjectStore, table: str, unit_id: str, *, shard_bytes: int) -> None:
        self._store = store
        self._folder = f"tables/{table}"
        self._unit_id = unit_id
        self._schema = arrow_schema(table)
        self._added: list[Added] = []
        self._writer = ShardWriter(
            self._schema, shard_bytes=shard_bytes, begin=partial(store.draft, self._folder)
        )

    def __enter__(self) -> Self:
        """Begin with nothing."""
        return self

    def __exit__(self, *error: object) -> None:
        """Let go what was not put."""
        self._writer.abandon()

    async def add(self, rows: Sequence[Row]) -> None:
        """Take `rows`.

        Raises:
            Unwritable: the run cannot be written.
            Damaged: the store does not hold what it was given.
        """
        for some in batches(rows, self._schema):
            for shard in await asyncio.to_thread(self._writer.write, some):
                await self._put(shard)

    async def end(self) -> list[Added]:
        """Return every shard that the rows came to; all are whole now.

        Raises:
            Unwritable: the run cannot be written.
            Damaged: the store does not hold what it was given.
        """
        last = await asyncio.to_thread(self._writer.close)
        if last is not None:
            await self._put(last)
        return self._added

    async def _put(self, shard: Shard) -> None:
        name = shard_name(self._unit_id, len(self._added), shard)
        self._added.append(await put_shard(self._store, f"{self._folder}/{name}", shard))


async def put_shard(store: ObjectStore, key: str, shard: Shard) -> Added:
    """Have `shard` lie under `key`, whose name holds its hash, and let its draft go.

    Raises:
        Unwritable: the store cannot be written.
        Damaged: the store does not hold what it was given.
    """
    draft = shard.draft
    try:
        if not await store.put_new(key, draft) and not await _holds(store, key, draft):
            # The name holds the hash, so only these bytes can be right.
            await store.put(key, draft)
        there = await store.info(key)
        if there.size != len(draft):
            raise Damaged(f"{store.url}/{key}: is not what was written")
        return Added(
            path=key.rpartition("/")[2],
            size=there.size,
            modified_ms=int(there.modified.timestamp() * 1_000),
            stats=await asyncio.to_thread(statistics, draft),
        )
    finally:
        await asyncio.to_thread(draft.close)


async def _holds(store: ObjectStore, key: str, draft: Draft) -> bool:
    """Say whether these very bytes lie under `key`."""
    try:
        if (await store.info(key)).size != len(draft):
            return False
        return await hashed(store, key, len(draft)) == draft.sha256
    except Missing:
        return False


async def hashed(store: ObjectStore, key: str, size: int, into: Draft | None = None) -> str:
    """Return the hash of an object of `size` bytes, read part by part and copied `into` a draft.

    Raises:
        Missing: there is no such object.
    """
    digest = sha256(usedforsecurity=False)
    for start in range(0, size, _READ_AT_ONCE):
        part = await store.get(key, start=start, stop=start + _READ_AT_ONCE)
        digest.update(part)
        if into is not None:
            await asyncio.to_thread(into.write, part)
    return digest.hexdigest()
