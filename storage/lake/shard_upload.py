"""Puts whole shards into the store before the log names them: the first half of a commit.

A process may be killed between the halves. Its shard is then in no log, and the next worker that
builds the unit finds it under the same name and uses it. A commit states a shard's size and time as
the store reported them after the shard was written.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import NamedTuple, Self

from schemas.errors import Damaged
from schemas.tables.tables import Row, arrow_schema
from storage.lake.delta_stats import AddedFile, statistics
from storage.lake.parquet_writer import ParquetWriter, Shard
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.temp_object import Draft

COMPACT = "compact"
"""The application transaction of every compaction, and the first part of the names of its shards."""

_PART_BYTES = 1 << 24
"""Bytes of an object per request."""


class ShardName(NamedTuple):
    """The parts of a shard's file name."""

    unit_id: str
    """The unit whose rows it has, or the name of a compaction."""
    number: int | None
    """Counts the unit's shards, or is the compaction's; None in a file name that is not ours."""
    sha256: str
    """SHA-256 of the file, hex."""

    @classmethod
    def parse(cls, path: str) -> Self:
        """Return the parts of `path`; of a file name that is not ours, they match nothing."""
        unit_id, _, rest = path.partition("-")
        number = rest.partition("-")[0]
        sha256 = path.removesuffix(".parquet").rpartition("-")[2]
        return cls(unit_id, int(number) if number.isdigit() else None, sha256)


def shard_name(unit_id: str, number: int, shard: Shard) -> str:
    """Return the file name of a unit's shard, which includes its hash."""
    return f"{unit_id}-{number}-{shard.sha256}.parquet"


class TableShardWriter:
    """Writes a unit's rows of one table to shards.

    It holds one row group in memory, and puts a shard into the store as soon as it is full.
    """

    def __init__(self, store: ObjectStore, table: str, unit_id: str, *, shard_bytes: int) -> None:
        self._store = store
        self._folder = f"tables/{table}"
        self._unit_id = unit_id
        self._added: list[AddedFile] = []
        self._writer = ParquetWriter(
            arrow_schema(table), shard_bytes=shard_bytes, begin=partial(store.draft, self._folder)
        )

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Discard the rows that are in no shard yet."""
        self._writer.discard()

    async def add(self, rows: Sequence[Row]) -> None:
        """Write `rows`.

        Raises:
            Unwritable: the run cannot be written.
            Damaged: the store does not hold the bytes it was given.
        """
        if rows:
            for shard in await asyncio.to_thread(self._writer.write, rows):
                await self._put(shard)

    async def finish(self) -> list[AddedFile]:
        """Write the last shard; return all of them, which the store holds whole.

        Raises:
            Unwritable: the run cannot be written.
            Damaged: the store does not hold the bytes it was given.
        """
        last = await asyncio.to_thread(self._writer.close)
        if last is not None:
            await self._put(last)
        return self._added

    async def _put(self, shard: Shard) -> None:
        name = shard_name(self._unit_id, len(self._added), shard)
        self._added.append(await put_shard(self._store, f"{self._folder}/{name}", shard))


async def put_shard(store: ObjectStore, key: str, shard: Shard) -> AddedFile:
    """Write `shard` under `key`, whose name holds its hash, and close its draft.

    Raises:
        Unwritable: the store cannot be written.
        Damaged: the store does not hold the bytes it was given.
    """
    draft = shard.draft
    try:
        if not await store.put_new(key, draft) and not await _holds(store, key, draft):
            # The name holds the hash, so only these bytes can be right.
            await store.put(key, draft)
        info = await store.info(key)
        if info.size != len(draft):
            raise Damaged(
                f"{store.url}/{key}: expected {len(draft)} bytes, the store has {info.size}"
            )
        return AddedFile(
            path=key.rpartition("/")[2],
            size=info.size,
            modified_ms=int(info.modified.timestamp() * 1_000),
            stats=await asyncio.to_thread(statistics, draft),
        )
    finally:
        await asyncio.to_thread(draft.close)


async def _holds(store: ObjectStore, key: str, draft: Draft) -> bool:
    """Return whether the object under `key` has the bytes of `draft`."""
    try:
        if (await store.info(key)).size != len(draft):
            return False
        return await object_sha256(store, key, len(draft)) == draft.sha256
    except Missing:
        return False


async def object_sha256(store: ObjectStore, key: str, size: int, into: Draft | None = None) -> str:
    """Return the SHA-256 of an object of `size` bytes, read in parts, each copied `into` a draft.

    Raises:
        Missing: there is no such object.
    """
    digest = sha256(usedforsecurity=False)
    for start in range(0, size, _PART_BYTES):
        part = await store.get(key, start=start, stop=start + _PART_BYTES)
        digest.update(part)
        if into is not None:
            await asyncio.to_thread(into.write, part)
    return digest.hexdigest()
