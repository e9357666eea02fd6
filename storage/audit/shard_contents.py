"""The shards of a run read byte by byte: each one's own hash, and all their rows together."""

import asyncio
import io
import json
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.base import sha256_hex
from schemas.errors import Damaged
from schemas.tables import Row
from storage.audit.history import CommittedFile, Histories, History
from storage.audit.inventory import Inventory, shard_key
from storage.audit.report import Notes
from storage.audit.rows import ORDER, Rows
from storage.audit.steps import Steps
from storage.lake.delta_stats import statistics
from storage.objects.protocol import Missing, ObjectStore
from storage.run_file import RunFile

_ROWS_AT_ONCE = 32


async def read_committed(
    store: ObjectStore, histories: Histories, *, run: RunFile | None, notes: Notes
) -> None:
    """Read every committed shard: each one's bytes, and all their rows together."""
    rows = Rows(run, notes)
    steps = Steps(rows)
    takers: dict[str, Callable[[str, Row], None]] = {
        "steps": steps.step,
        "observations": steps.observation,
        "calls": steps.call,
    }
    closers = {
        "steps": steps.close_steps,
        "observations": steps.close_observations,
        "calls": steps.close_calls,
    }
    for table in ORDER:
        history = histories[table]
        for path in sorted(history.needed, key=_in_order):
            data = await _shard(store, history, path, notes)
            if data is None:
                rows.unread.add(*history.needed[path].units)
            elif path in history.live:
                take = takers.get(table)
                await asyncio.to_thread(_feed, rows, take, table, path, data)
            notes.advance()
        await asyncio.to_thread(closers.get(table, _nothing))
    rows.close()


def _nothing() -> None:
    """Close a table that needs no closing."""


def _in_order(path: str) -> tuple[str, int, str]:
    """Sort a unit's shards by their number."""
    unit_id, _, rest = path.partition("-")
    number, _, name = rest.partition("-")
    return unit_id, int(number) if number.isdigit() else 0, name


async def _shard(store: ObjectStore, history: History, path: str, notes: Notes) -> bytes | None:
    """Return a committed shard's bytes if they are what was committed."""
    key = shard_key(history.table, path)
    try:
        data = await store.get(key)
    except (Missing, ValueError):
        notes.finding(key, "is missing: a committed shard")
        return None
    except Damaged as error:
        notes.finding(key, str(error))
        return None
    problems = await asyncio.to_thread(
        lambda: list(_shard_problems(history, history.needed[path], data))
    )
    for problem in problems:
        notes.finding(key, problem)
    notes.count("shards")
    return None if problems else data


def _shard_problems(history: History, file: CommittedFile, data: bytes) -> Iterator[str]:
    if sha256_hex(data) != file.path.removesuffix(".parquet").rpartition("-")[2]:
        yield "is torn or altered: its bytes are not those its name speaks of"
        return
    if len(data) != file.size:
        yield f"is {len(data)} bytes, the log says {file.size}"
    try:
        columns = set(pq.read_schema(io.BytesIO(data)).names)
        stats = json.loads(statistics(data, columns=file.ranged_columns))
    except (pa.ArrowException, OSError) as error:
        yield f"is no Parquet file: {error}"
        return
    if stats != json.loads(file.stats):
        yield "the log's statistics of it are not its own"
    if not history.columns <= columns:
        yield f"lacks columns that the log declares: {sorted(history.columns - columns)}"


def _feed(
    rows: Rows,
    take: Callable[[str, Row], None] | None,
    table: str,
    path: str,
    data: bytes,
) -> None:
    key = shard_key(table, path)
    file = pq.ParquetFile(io.BytesIO(data))
    for batch in file.iter_batches(_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            if take is None:
                rows.take(table, key, row)
            else:
                take(key, row)
    rows.notes.count(table, file.metadata.num_rows)


async def read_uncommitted(
    store: ObjectStore, inventory: Inventory, histories: Histories, notes: Notes
) -> None:
    """Find what only bears a shard's name: no process of ours leaves a torn one under it."""
    for table, history in histories.items():
        for path in inventory.shards[table].keys() - history.needed.keys():
            key = shard_key(table, path)
            try:
                data = await store.get(key)
            except Missing:
                continue
            if sha256_hex(data) != path.removesuffix(".parquet").rpartition("-")[2]:
                notes.finding(key, "is foreign or torn: its bytes are not those its name speaks of")
            notes.advance()
