"""The shards of a run, read byte by byte: the hash of each, and the rows of all of them."""

import asyncio
import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.base import parse_json, sha256_hex
from schemas.errors import Damaged
from schemas.tables.tables import UNIT_TABLES
from storage.audit.history import CommittedFile, Histories, History
from storage.audit.inventory import Inventory, shard_key
from storage.audit.report import Notes
from storage.audit.rows import ORDER, RowChecks
from storage.lake.delta_stats import statistics
from storage.lake.shard_upload import COMPACT, ShardName
from storage.objects.protocol import Missing, ObjectStore

_ROWS_AT_ONCE = 32


async def read_committed(
    store: ObjectStore, histories: Histories, *, checks: RowChecks, notes: Notes
) -> None:
    """Read every committed shard; check its bytes, and then the rows of all of them together."""
    for table in ORDER:
        history = histories[table]
        for path in sorted(history.needed, key=_in_order):
            data = await _read_shard(store, history, path, notes)
            if data is None:
                checks.unread.add(history.needed[path].units)
            elif path in history.live:
                rows = await asyncio.to_thread(_check_rows, checks, table, path, data)
                notes.count(table, rows)
            notes.advance()
        await asyncio.to_thread(checks.end_table, table)
    checks.end()


def _in_order(path: str) -> tuple[str, int, str]:
    """Sort a unit's shards by their number."""
    name = ShardName.parse(path)
    return name.unit_id, name.number or 0, name.sha256


async def _read_shard(
    store: ObjectStore, history: History, path: str, notes: Notes
) -> bytes | None:
    """Return a committed shard's bytes; None, noted, unless they are those that were committed."""
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
    if sha256_hex(data) != ShardName.parse(file.path).sha256:
        yield "is torn or altered: its bytes do not have the hash in its name"
        return
    if len(data) != file.size:
        yield f"has {len(data)} bytes, the log says {file.size}"
    try:
        ranged = frozenset(file.statistics.nullCount)
    except ValueError:
        yield "its statistics in the log are torn or altered"
        return
    try:
        columns = set(pq.read_schema(io.BytesIO(data)).names)
        stats = parse_json(statistics(data, columns=ranged))
    except (pa.ArrowException, OSError) as error:
        yield f"is not a Parquet file: {error}"
        return
    if stats != parse_json(file.stats):
        yield "its statistics are not those in the log"
    unit_id = ShardName.parse(file.path).unit_id
    committed = unit_id == COMPACT or unit_id in history.transactions
    if history.table in UNIT_TABLES and not committed:
        yield f"is of unit {unit_id}, which no entry of the table's log commits"
    if not history.columns <= columns:
        yield f"lacks columns that the log declares: {sorted(history.columns - columns)}"


def _check_rows(checks: RowChecks, table: str, path: str, data: bytes) -> int:
    """Check every row of a shard; return how many there are."""
    key = shard_key(table, path)
    file = pq.ParquetFile(io.BytesIO(data))
    for batch in file.iter_batches(_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            checks.check(table, key, row)
    return file.metadata.num_rows


async def read_uncommitted(
    store: ObjectStore, inventory: Inventory, histories: Histories, notes: Notes
) -> None:
    """Find files that are only named like a shard: no killed worker leaves a torn one."""
    for table, history in histories.items():
        for path in inventory.shards[table].keys() - history.needed.keys():
            key = shard_key(table, path)
            try:
                data = await store.get(key)
            except Missing:
                continue
            if sha256_hex(data) != ShardName.parse(path).sha256:
                notes.finding(key, "is foreign or torn: its bytes do not have the hash in its name")
            notes.advance()
