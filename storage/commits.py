"""The two halves of a commit: shards that lie there whole, and the log's word that they count.

Between the halves a process may be killed: then there is a shard that nobody committed, which the
next builder of the unit finds under the same name and uses. The log is told only what was read
from the store after the shard was written.
"""

import asyncio
from collections.abc import Mapping, Sequence

from schemas.errors import Damaged
from schemas.tables import Row, arrow_schema
from storage.delta import Table
from storage.objects import ObjectStore
from storage.shards import Shard, batches, shard_name, shards
from storage.statistics import Added, statistics
from storage.versions import read_version, version_numbers


class Commits:
    """Writes rows into the tables of one run."""

    def __init__(
        self, store: ObjectStore, tables: Mapping[str, Table], *, shard_bytes: int
    ) -> None:
        self._store = store
        self._tables = tables
        self._shard_bytes = shard_bytes
        self._made: set[str] = set()

    async def put_shards(self, table: str, unit_id: str, *, rows: Sequence[Row]) -> list[Added]:
        """Write `rows` of a unit as shards; they are whole when this returns, and count for nothing.

        Raises:
            Unwritable: the run cannot be written.
            Damaged: the store does not hold what it was given.
        """
        schema = arrow_schema(table)
        source = shards(schema, batches(rows, schema), shard_bytes=self._shard_bytes)
        added: list[Added] = []
        while shard := await asyncio.to_thread(next, source, None):
            name = shard_name(unit_id, len(added), shard)
            added.append(await self._put_shard(table, name, shard))
        return added

    async def commit(
        self, table: str, transaction: str, *, token: int, files: Sequence[Added]
    ) -> int:
        """Make `files` count under `transaction` unless it is in; return the token that is.

        Raises:
            Conflict: other writers kept coming first.
            Unwritable: the log cannot be written.
            Damaged: the log cannot be read, or is gone.
        """
        await self._refuse_lost(table)
        return await self._tables[table].commit(transaction, token, files=files)

    async def _put_shard(self, table: str, name: str, shard: Shard) -> Added:
        key = f"tables/{table}/{name}"
        if not await self._store.put_new(key, shard.data) and (
            await self._store.get(key) != shard.data
        ):
            # The name holds the hash, so only these bytes can be right.
            await self._store.put(key, shard.data)
        there = await self._store.info(key)
        if there.size != len(shard.data):
            raise Damaged(f"{self._store.url}/{key}: is not what was written")
        return Added(
            path=name,
            size=there.size,
            modified_ms=int(there.modified.timestamp() * 1_000),
            stats=await asyncio.to_thread(statistics, shard.data),
        )

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
