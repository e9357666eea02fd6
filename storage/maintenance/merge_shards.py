"""Merges a table's small shards into large ones, while units are still being committed.

Delta's own `optimize` would compress the pictures and drop the footer's metadata, so our own writer
rewrites the rows, in the order of the units, and one commit replaces the old files by the new one.
Delta accepts two compactors that started from the same version, and the table would have every row
twice; so each such commit carries the application transaction `compact` with the next number, checked
on the handle that commits. A compactor that finds the number taken reads the table again. A unit's
commit in between is not a conflict: it adds a file, and only compactors remove files.

Each shard is checked against the hash in its name before its rows are merged. Rows of withdrawn episodes are left out;
a shard that has some is rewritten whatever its size.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import time
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.transaction import RemoveAction

from schemas.errors import Conflict, Damaged
from schemas.tables.tables import arrow_schema
from storage.lake.delta_scan import live_files
from storage.lake.delta_stats import AddedFile
from storage.lake.delta_table import AsyncDeltaTable, DeltaHandle
from storage.lake.parquet_writer import ParquetWriter
from storage.lake.shard_upload import COMPACT, ShardName, object_sha256, put_shard, shard_name
from storage.maintenance.withdrawn_rows import OWNER, WithdrawnRows
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.temp_object import Draft

_SMALL = 0.5
"""A shard smaller than this share of the target is small; a merged one is not."""

_BATCH_ROWS = 64
_ONE_SHARD = 1 << 62
_PAGE_BUFFER = 1 << 20
_MAX_CONFLICTS = 20
"""How often another compactor may commit first."""


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A live file of a table."""

    path: str
    """Below the table."""
    size: int
    """Bytes."""
    rows: int
    """By the log."""
    unit_id: str
    """The first unit in it, by the log or its name."""


@dataclass(frozen=True, slots=True)
class TableState:
    """The state of a table at one moment."""

    number: int
    """The number of the last compaction."""
    files: tuple[LiveFile, ...]
    """The live files, in the order of the units."""


@dataclass(frozen=True, slots=True)
class Swap:
    """The replacement of several files by one."""

    number: int
    """The number of the compaction."""
    added: AddedFile | None
    """The new file; None if no row is left."""
    removed: tuple[LiveFile, ...]
    """The old files."""
    dropped: int = 0
    """Rows of the old files that the new one does not have."""

    def stands(self, live: frozenset[str]) -> bool:
        """Return whether a table of these files is as this swap leaves it."""
        if self.added is not None:
            return self.added.path in live
        return live.isdisjoint(file.path for file in self.removed)


class SwapHandle(DeltaHandle):
    """A Delta table whose files can be replaced by others that hold the same rows, or those of them that stay."""

    def state(self) -> TableState:
        """Return the state of the table now; without files if it does not exist yet."""
        table = self.refresh()
        if table is None:
            return TableState(0, ())
        stats = live_files(table)
        columns = ("path", "size_bytes", "num_records", "min.unit_id")
        files: list[LiveFile] = []
        for file in stats.select(
            [name for name in columns if name in stats.column_names]
        ).to_pylist():
            path = unquote(file["path"])
            unit_id = file.get("min.unit_id") or ShardName.parse(path).unit_id
            files.append(LiveFile(path, file["size_bytes"], file["num_records"] or 0, unit_id))
        files.sort(
            key=lambda file: (file.unit_id, ShardName.parse(file.path).number or 0, file.path)
        )
        return TableState(table.transaction_version(COMPACT) or 0, tuple(files))

    def paths(self, version: int | None = None) -> frozenset[str]:
        """Return the live files of now, or of a Delta version."""
        table = self.refresh()
        if table is not None and version is not None:
            table = DeltaTable(self.url, version=version, storage_options=self._options)
        return frozenset() if table is None else _paths(table)

    def swap(self, swap: Swap) -> bool:
        """Commit `swap` unless its number is taken; return whether the table is as it leaves it."""
        table = self.refresh()
        if table is None:
            return False
        live = _paths(table)
        if swap.number <= (table.transaction_version(COMPACT) or 0):
            return swap.stands(live)  # our own commit, whose response was lost, or another's
        if not live.issuperset(file.path for file in swap.removed):
            return False
        self.write_swap(table, swap)
        return True

    def write_swap(self, table: DeltaTable, swap: Swap) -> None:
        """Write `swap` to the log with the handle that was asked for the number."""
        now = int(time() * 1_000)
        changes = swap.dropped > 0
        removed = [
            RemoveAction(
                path=file.path, data_change=changes, deletion_timestamp=now, size=file.size
            )
            for file in swap.removed
        ]
        added = [] if swap.added is None else [swap.added.action(data_change=changes)]
        table.create_write_transaction(
            [*removed, *added],
            mode="append",
            schema=Schema.from_arrow(self._schema),
            commit_properties=CommitProperties(
                app_transactions=[Transaction(COMPACT, swap.number)]
            ),
        )


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merging a table's small shards."""

    files: int = 0
    """Shards that were merged."""
    into: int = 0
    """Shards that were written."""
    size: int = 0
    """Bytes of the shards written."""
    dropped: int = 0
    """Rows of withdrawn episodes that were left out."""


class TableMerge:
    """The compaction of one table."""

    def __init__(
        self,
        store: ObjectStore,
        handle: SwapHandle,
        table: AsyncDeltaTable,
        *,
        target: int,
        withdrawn: WithdrawnRows | None = None,
    ) -> None:
        self._store = store
        self._withdrawn = withdrawn
        self._handle = handle
        self._table = table
        self._target = target
        self._folder = f"tables/{handle.name}"
        self._schema = arrow_schema(handle.name)

    async def run(self) -> Merged:
        """Merge the shards that are small or hold withdrawn rows now, but not those that are committed meanwhile.

        Raises:
            Damaged: a shard does not match the hash in its name, or the log cannot be read.
            Conflict: other compactors kept committing first.
            Unwritable: the run cannot be written.
        """
        done = Merged()
        wanted: frozenset[str] | None = None
        holders: frozenset[str] | None = None
        conflicts = 0
        while conflicts < _MAX_CONFLICTS:
            state = await self._table.read(self._handle.state)
            small = frozenset(f.path for f in state.files if f.size < self._target * _SMALL)
            if wanted is None or holders is None:
                holders = await self._holders(state.files)
                wanted = small | holders
            left = [file for file in state.files if file.path in wanted]
            if len(left) < 2 and not any(file.path in holders for file in left):  # noqa: PLR2004 - one file is not merged with itself
                return done
            swap = await self._merge(state.number + 1, left, holders)
            if swap is not None and await self._table.retry(partial(self._handle.swap, swap)):
                written = (0, 0) if swap.added is None else (1, swap.added.size)
                done = Merged(
                    done.files + len(swap.removed),
                    done.into + written[0],
                    done.size + written[1],
                    done.dropped + swap.dropped,
                )
            else:
                conflicts += 1
        raise Conflict(
            f"{self._handle.url}: other compactions kept committing first; run this again"
        )

    async def _holders(self, files: Sequence[LiveFile]) -> frozenset[str]:
        """Return the files that hold rows of withdrawn episodes."""
        if self._withdrawn is None:
            return frozenset()
        sizes = {file.path: file.size for file in files}
        return await asyncio.to_thread(self._withdrawn.holders, self._handle.name, sizes)

    async def _merge(
        self, number: int, files: Sequence[LiveFile], holders: frozenset[str]
    ) -> Swap | None:
        """Write as many of `files` as fit into one shard; None if one was removed meanwhile."""
        writer = ParquetWriter(
            self._schema,
            shard_bytes=_ONE_SHARD,  # `_full` decides when it is closed
            begin=partial(self._store.draft, self._folder),
        )
        merged: list[LiveFile] = []
        dropped = 0
        try:
            for file in files:
                full = await asyncio.to_thread(self._full, writer, file.size)
                if full and (len(merged) > 1 or (merged and merged[0].path in holders)):
                    break
                dropped += await self._copy(file, writer)
                merged.append(file)
            shard = await asyncio.to_thread(writer.close)
        except Missing:
            return None
        finally:
            writer.discard()
        kept = 0 if shard is None else shard.rows
        if kept + dropped != sum(file.rows for file in merged):
            raise Damaged(f"{self._handle.url}: the files have other numbers of rows than the log")
        if shard is None:
            return Swap(number, None, tuple(merged), dropped)
        key = f"{self._folder}/{shard_name(COMPACT, number, shard)}"
        added = await put_shard(self._store, key, shard)
        return Swap(number, added, tuple(merged), dropped)

    def _full(self, writer: ParquetWriter, more: int) -> bool:
        """Return whether `more` bytes do not fit; buffered rows are flushed to learn their size."""
        if writer.file_bytes + writer.pending_bytes + more <= self._target:
            return False
        writer.flush()
        return writer.file_bytes > 0 and writer.file_bytes + more > self._target

    async def _copy(self, file: LiveFile, writer: ParquetWriter) -> int:
        """Write a shard's rows to `writer`, after its bytes were checked in a draft; return how many were left out."""
        key = f"{self._folder}/{file.path}"
        draft = await asyncio.to_thread(self._store.draft, self._folder)
        try:
            sha256 = await object_sha256(self._store, key, file.size, into=draft)
            if sha256 != ShardName.parse(file.path).sha256:
                raise Damaged(
                    f"{self._store.url}/{key}: is torn or altered; nothing was merged with it: "
                    "see `stepmill audit --deep`"
                )
            return await asyncio.to_thread(self._write, draft, key, writer)
        finally:
            await asyncio.to_thread(draft.close)

    def _write(self, draft: Draft, key: str, writer: ParquetWriter) -> int:
        dropped = 0
        with draft.reader() as reader, pq.ParquetFile(reader, buffer_size=_PAGE_BUFFER) as file:
            for batch in file.iter_batches(_BATCH_ROWS):
                stay = self._conform(self._without_withdrawn(batch), key)
                dropped += batch.num_rows - stay.num_rows
                writer.write(stay)
        return dropped

    def _without_withdrawn(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._withdrawn is None or OWNER not in batch.schema.names:
            return batch
        wanted = pa.array(sorted(self._withdrawn.episodes), pa.string())
        return batch.filter(pc.invert(pc.is_in(batch[OWNER], value_set=wanted)))

    def _conform(self, batch: pa.RecordBatch, key: str) -> pa.RecordBatch:
        """Return rows with the current columns; those that the file lacks are null."""
        unknown = sorted(set(batch.schema.names) - set(self._schema.names))
        lacking = [f for f in self._schema if f.name not in batch.schema.names]
        if unknown or not all(field.nullable for field in lacking):
            names = unknown or [field.name for field in lacking]
            raise Damaged(
                f"{self._store.url}/{key}: was written by another version of stepmill "
                f"({', '.join(names)}); compact the run with that one"
            )
        columns = [
            batch.column(field.name)
            if field.name in batch.schema.names
            else pa.nulls(batch.num_rows, field.type)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _paths(table: DeltaTable) -> frozenset[str]:
    """Return the live files of a table."""
    return frozenset(unquote(str(path)) for path in live_files(table)["path"].to_pylist())
