"""A table's history: its log, replayed from the first entry.

The log keeps every entry for ten years, so a deep audit trusts no checkpoint: it compares each one
with the entries before it.
"""

import io
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import Schema
from pydantic import BaseModel, Field, JsonValue

from schemas.base import parse_json
from schemas.tables.tables import arrow_schema
from storage.audit.inventory import Inventory
from storage.audit.report import Notes
from storage.lake.file_access import checkpoint_key, entry_key
from storage.lake.shard_upload import COMPACT
from storage.objects.batch_get import get_many
from storage.objects.protocol import Missing, ObjectStore

_WIDE_GAP = 1_000
_ROWS_AT_ONCE = 1_000
_SCHEMA = "metaData.schemaString"
_ONCE = re.compile(r"[0-9a-f]{16,}")
_ACTIONS = {"commitInfo", "protocol", "metaData", "add", "remove", "txn"}


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A file in the log; a table may have a hundred thousand."""

    path: str
    """Below the table."""
    size: int
    """Bytes."""
    stats: str = "{}"
    """Delta's statistics, JSON; left out where a checkpoint is trusted."""

    @property
    def statistics(self) -> "Statistics":
        """Delta's statistics.

        Raises:
            ValueError: the log has no such thing there.
        """
        return Statistics.model_validate_json(self.stats)

    @property
    def units(self) -> tuple[str, str]:
        """The first and the last unit that may have rows in it."""
        try:
            stats = self.statistics
            ends = [end.get("unit_id") for end in (stats.minValues, stats.maxValues)]
        except ValueError:
            return "", "~"
        if all(isinstance(end, str) for end in ends):
            return str(ends[0]), str(ends[1])
        unit_id = self.path.partition("-")[0]
        return ("", "~") if unit_id == COMPACT else (unit_id, unit_id)


class Statistics(BaseModel):
    """The log's statistics of a file, as far as the audit reads them."""

    minValues: dict[str, JsonValue] = Field(default_factory=dict)  # noqa: N815 - Delta's word
    maxValues: dict[str, JsonValue] = Field(default_factory=dict)  # noqa: N815 - Delta's word
    nullCount: dict[str, JsonValue] = Field(default_factory=dict)  # noqa: N815 - Delta's word


class _Transaction(BaseModel):
    """An application transaction in the log."""

    appId: str  # noqa: N815 - Delta's word
    version: int


@dataclass
class History:
    """The state of a table by its log."""

    table: str
    """The table."""
    live: dict[str, CommittedFile] = field(default_factory=dict)
    """The live files, by path."""
    needed: dict[str, CommittedFile] = field(default_factory=dict)
    """The live files, and those of versions."""
    ever: set[str] = field(default_factory=set)
    """Paths of all files that were ever live."""
    transactions: dict[str, int] = field(default_factory=dict)
    """Application transactions and their tokens."""
    table_ids: set[str] = field(default_factory=set)
    """Delta's ids of the table, one of each writer that created it."""
    columns: frozenset[str] = frozenset()
    """The columns that the log has declared from the start; older files lack those added later."""


Histories = Mapping[str, History]
"""Every table's history, by table."""


async def read_history(
    store: ObjectStore,
    table: str,
    inventory: Inventory,
    *,
    pins: AbstractSet[int],
    deep: bool,
    notes: Notes,
) -> History:
    """Return a table's history; `pins` are its Delta versions in the versions of the run.

    Unless the audit is `deep`, an entry before a checkpoint only has to exist, except for those
    between a checkpoint and a pin.
    """
    history = History(table)
    checkpoints = inventory.checkpoints[table]
    entries = inventory.entries[table]
    trusted = {} if deep else _replacements(checkpoints, pins | {max(entries, default=0)})
    numbers = list(_numbers(table, entries | pins | checkpoints, notes))
    replayed = [entry_key(table, n) for n in numbers if n not in entries or n not in trusted]
    entry_data = get_many(store, replayed)
    for number in numbers:
        if number in entries and trusted.get(number, 0) > number:
            notes.count("log entries")
            notes.advance()
        elif number in entries and trusted.get(number) == number:
            await _load_checkpoint(store, history, number, notes)
        else:
            _replay_entry(history, number, (await anext(entry_data))[1], notes)
            if number in checkpoints:
                await _check_checkpoint(store, history, number, notes)
        if number in pins:
            history.needed |= history.live
    history.needed |= history.live
    if table in inventory.pointers:
        await _check_pointer(store, table, checkpoints, notes)
    return history


def _replacements(checkpoints: AbstractSet[int], points: AbstractSet[int]) -> dict[int, int]:
    """Return the checkpoint that replaces each entry on the way to the next of `points`."""
    out: dict[int, int] = {}
    start = 0
    for point in sorted(points):
        checkpoint = max((c for c in checkpoints if start <= c <= point), default=None)
        if checkpoint is not None:
            out |= dict.fromkeys(range(start, checkpoint + 1), checkpoint)
        start = point + 1
    return out


def _numbers(table: str, known: AbstractSet[int], notes: Notes) -> Iterator[int]:
    """Yield the number of every expected entry; a very wide gap is noted as one finding."""
    expected = 0
    for number in sorted(known):
        if number - expected > _WIDE_GAP:
            notes.finding(entry_key(table, expected), f"is missing, and all up to {number - 1}")
            expected = number
        yield from range(expected, number + 1)
        expected = number + 1


def _replay_entry(history: History, number: int, data: bytes | None, notes: Notes) -> None:
    key = entry_key(history.table, number)
    notes.advance()
    if data is None:
        notes.finding(key, "is missing: an entry of the table's log")
        return
    notes.count("log entries")
    try:
        for problem in _apply(history, data):
            notes.finding(key, problem)
    except ValueError as error:
        notes.finding(key, f"is torn or altered: {str(error).splitlines()[0]}")


def _apply(history: History, data: bytes) -> Iterator[str]:
    """Replay one entry; yield its defects.

    Raises:
        ValueError: it is not a log entry.
    """
    actions = [action for line in data.decode().splitlines() for action in _actions(line)]
    kinds = {kind for kind, _ in actions}
    if not kinds & {"metaData", "txn"}:
        yield "is torn: it neither creates the table nor has a transaction"
    yield from _check_protocol([body for kind, body in actions if kind == "protocol"])
    for kind, body in actions:
        if kind == "metaData":
            # Several writers may create a table, each with an id of its own, or one that was not answered.
            again = "protocol" in kinds and body.get("id") in history.table_ids
            if again and history.transactions:
                yield "creates the table a second time"
            history.table_ids.add(str(body.get("id")))
            yield from _check_schema(history, body)
        elif kind == "add":
            path, size, stats = (body.get(name) for name in ("path", "size", "stats"))
            if not (isinstance(path, str) and isinstance(size, int) and isinstance(stats, str)):
                raise ValueError(f"not a file: {path}")
            history.live[path] = CommittedFile(path, size, stats)
            history.ever.add(path)
        elif kind == "remove":
            history.live.pop(str(body.get("path")), None)
        elif kind == "txn":
            transaction = _Transaction.model_validate(body)
            repeated = transaction.appId in history.transactions
            if repeated and _ONCE.fullmatch(transaction.appId):
                yield f"commits {transaction.appId} a second time"
            history.transactions[transaction.appId] = transaction.version


def _check_protocol(found: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the defects of an entry's protocol action."""
    for body in found:
        if body.get("minReaderVersion") != 1:
            yield f"is for readers of version {body.get('minReaderVersion')}, expected 1"


def _actions(line: str) -> list[tuple[str, Mapping[str, Any]]]:
    parsed: Any = parse_json(line)
    known = isinstance(parsed, dict) and parsed.keys() <= _ACTIONS
    if not known or not all(isinstance(body, dict) for body in parsed.values()):
        raise ValueError(f"not an action: {line[:60]}")
    return list(parsed.items())


def _check_schema(history: History, body: Mapping[str, Any]) -> Iterator[str]:
    """Note the columns that the log declares; yield how they differ from the table's."""
    expected = _fields(Schema.from_arrow(arrow_schema(history.table)).to_json())
    declared = _fields(str(body.get("schemaString")))
    for name in sorted(declared.keys() & expected.keys()):
        if declared[name] != expected[name]:
            yield f"declares column {name} as {declared[name]}, expected {expected[name]}"
    foreign, lacking = declared.keys() - expected.keys(), expected.keys() - declared.keys()
    if foreign and lacking:
        # Columns are only ever added: an earlier version has fewer of ours, a later one has all.
        yield f"declares column {min(foreign)} and lacks {min(lacking)}, as no version does"
    if body.get("partitionColumns") != []:
        yield "declares partitions, expected none"
    history.columns = history.columns & declared.keys() or frozenset(declared)


def _fields(schema: str) -> dict[str, object]:
    """Return the types of a schema's columns, by name.

    Raises:
        ValueError: it is not a schema.
    """
    try:
        told: Any = parse_json(schema)
        if told["type"] != "struct":
            raise ValueError(f"not a table's schema: {schema[:60]}")
        return {item["name"]: item["type"] for item in told["fields"]}
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a schema: {schema[:60]}") from error


async def _load_checkpoint(store: ObjectStore, history: History, number: int, notes: Notes) -> None:
    """Read a table's state from a checkpoint instead of from the entries up to it."""
    key = checkpoint_key(history.table, number)
    notes.count("log entries")
    notes.advance()
    columns = ["add.path", "add.size", "remove.path", "txn.appId", "txn.version"]
    try:
        file = pq.ParquetFile(io.BytesIO(await store.get(key)))
        state = History(history.table, ever=history.ever)
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[*columns, _SCHEMA]):
            for row in batch.to_pylist():
                if added := row.get("add"):
                    state.live[added["path"]] = CommittedFile(added["path"], added["size"])
                    state.ever.add(added["path"])
                if removed := row.get("remove"):
                    state.ever.add(removed["path"])
                if transaction := row.get("txn"):
                    state.transactions[transaction["appId"]] = transaction["version"]
                if declared := row.get("metaData"):
                    state.columns = frozenset(_fields(declared["schemaString"]))
    except (Missing, pa.ArrowException, OSError, ValueError, TypeError) as error:
        notes.finding(key, f"is torn or altered: {str(error).splitlines()[0]}")
        return
    history.live, history.transactions = state.live, state.transactions
    history.columns = state.columns or history.columns


async def _check_checkpoint(
    store: ObjectStore, history: History, number: int, notes: Notes
) -> None:
    """Compare a checkpoint with the entries up to it."""
    key = checkpoint_key(history.table, number)
    try:
        file = pq.ParquetFile(io.BytesIO(await store.get(key)))
        rows = file.read(columns=["add.path", "add.size", "txn.appId"]).to_pylist()
    except (Missing, pa.ArrowException, OSError) as error:
        notes.finding(key, f"is torn or altered: {error}")
        return
    listed = [row["add"] for row in rows if row.get("add")]
    files = {added["path"]: added["size"] for added in listed}
    apps = {row["txn"]["appId"] for row in rows if row.get("txn")}
    if files != {path: item.size for path, item in history.live.items()}:
        notes.finding(key, "does not list the same files as the log")
    if apps != history.transactions.keys():
        notes.finding(key, "does not list the same transactions as the log")


async def _check_pointer(
    store: ObjectStore, table: str, checkpoints: AbstractSet[int], notes: Notes
) -> None:
    key = f"tables/{table}/_delta_log/_last_checkpoint"
    try:
        pointer: Any = parse_json(await store.get(key))
        number = pointer["version"]
    except (ValueError, TypeError, KeyError, Missing):
        notes.finding(key, "is torn or altered")
        return
    if number not in checkpoints:
        notes.finding(checkpoint_key(table, number), f"is missing, and {key} points to it")
