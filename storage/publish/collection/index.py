"""The index of a night: what later nights need to know of its trajectories.

A row is a trajectory: its sketch, by which repetitions are found, and the keys of what its task shows, which no other
split may show. The indexes of all nights are read when a night is added, and no other file of them.
"""

import asyncio
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.base import sha256_hex
from schemas.errors import Damaged
from storage.publish.destinations.protocol import Destination
from storage.publish.plan.manifest import Night, PublishedFile, label_of
from storage.publish.plan.plan import PublishPlan
from storage.publish.plan.published_before import PublishedBefore, key_hash

_FIELDS: "list[pa.Field[Any]]" = [
    pa.field("episode_id", pa.string()),
    pa.field("task_id", pa.string()),
    pa.field("split", pa.string()),
    pa.field("sketch", pa.binary()),
    pa.field("keys", pa.list_(pa.string())),
]
SCHEMA = pa.schema(_FIELDS)

_AT_ONCE = 16
"""Indexes that are read at once."""


def make_index(plan: PublishPlan) -> bytes:
    """Return the index of a night, as a Parquet file; the plan alone decides its bytes."""
    selection = plan.selection
    rows = [
        {
            "episode_id": one.episode_id,
            "task_id": one.task_id,
            "split": one.acceptance.split,
            "sketch": one.acceptance.sketch,
            "keys": sorted(map(key_hash, selection.splits.shown.get(one.task_id, ()))),
        }
        for one in selection.published
    ]
    return index_bytes(pa.Table.from_pylist(rows, schema=SCHEMA))


def index_bytes(rows: pa.Table) -> bytes:
    """Return the rows of an index as a Parquet file."""
    out = io.BytesIO()
    pq.write_table(rows, out, compression="zstd")
    return out.getvalue()


def index_file(run_id: str, data: bytes, *, rows: int, night: int) -> PublishedFile:
    """Return how a manifest lists an index."""
    sha256 = sha256_hex(data)
    return PublishedFile(
        path=f"index/{label_of(run_id)}-{sha256[:16]}.parquet",
        config=None,
        split=None,
        rows=rows,
        bytes=len(data),
        sha256=sha256,
        recipe=None,
        night=night,
    )


async def read_before(
    destination: Destination, nights: Sequence[Night], run_id: str
) -> PublishedBefore:
    """Return what the nights of other runs published, from their indexes.

    Raises:
        Damaged: an index is missing, or is not the one that was written.
    """
    free = asyncio.Semaphore(_AT_ONCE)

    async def read(file: PublishedFile) -> pa.Table:
        async with free:
            data = await destination.read(file.path)
        return await asyncio.to_thread(_parse, file, data, destination.address)

    async with asyncio.TaskGroup() as group:
        reading = {night.number: group.create_task(read(night.index)) for night in nights}
    tables = {number: one.result() for number, one in reading.items()}
    own = next((night for night in nights if night.run == run_id), None)
    if own is None:
        return _before_of(nights, tables)
    mine = tables[own.number]
    return replace(
        _before_of([night for night in nights if night.number < own.number], tables),
        splits=_splits(nights),
        capped=_count_capped([night for night in nights if night is not own]),
        later=_before_of([night for night in nights if night.number > own.number], tables),
        own_episodes={str(one) for one in mine["episode_id"].to_pylist()},
        own_tasks={str(one) for one in mine["task_id"].to_pylist()},
    )


def _before_of(nights: Sequence[Night], tables: Mapping[int, pa.Table]) -> PublishedBefore:
    own = [tables[night.number] for night in nights]
    sketches = pa.concat_tables(own).select(["episode_id", "sketch"]) if own else None
    return PublishedBefore(_splits(nights), _keys_by_split(own), sketches, _count_capped(nights))


def _count_capped(nights: Sequence[Night]) -> Mapping[str, int]:
    return sum((Counter(night.capped) for night in nights), Counter[str]())


def _splits(nights: Sequence[Night]) -> Mapping[str, str]:
    splits: dict[str, str] = {}
    for night in nights:
        splits |= night.splits
    return splits


def _parse(file: PublishedFile, data: bytes, where: str) -> pa.Table:
    if sha256_hex(data) != file.sha256:
        raise Damaged(f"{where}: {file.path} is not the file that was published")
    table = pq.ParquetFile(pa.BufferReader(data)).read(
        use_threads=False
    )  # of hundreds, each is small
    if table.schema.equals(SCHEMA):
        return table
    return table.select(SCHEMA.names).cast(SCHEMA)


def _keys_by_split(tables: Iterable[pa.Table]) -> Mapping[str, str]:
    """Return the split in which each key is shown."""
    shown: dict[str, str] = {}
    for table in tables:
        for row in table.select(["split", "keys"]).to_pylist():
            for key in row["keys"]:
                shown[key] = row["split"]
    return shown
