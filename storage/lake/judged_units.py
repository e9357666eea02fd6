"""The units that a resumed run can skip: those committed, and those judged.

Both are read from the logs of the tables. A worker that commits the last verdicts that a panel asks
for marks the unit in the same commit: an application transaction, named by unit and panel, whose
number is how many rows of verdicts the unit has then. While it still has that many, no verdict was
added since and the mark holds. The verdicts of any other unit are read. A missing or stale mark
costs a read, and is never wrong.

This is how a large run is planned: its verdicts are in at least as many files as it has units.
"""

import asyncio
import io
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.dataset import Dataset

from schemas.base import parse_json
from storage.lake import readers
from storage.lake.delta_table import AsyncDeltaTable
from storage.lake.file_access import checkpoint_key, entry_key
from storage.lake.withdrawals import read_withdrawals
from storage.objects.batch_get import get_many
from storage.objects.error_messages import read_error
from storage.objects.protocol import Missing, ObjectStore

_NAME = re.compile(r"settled-([0-9a-f]{16,})-([0-9a-f]+)")
_MAX_TAIL = 1_000
_ROWS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class JudgedMark:
    """The mark of a unit that has every verdict of a panel."""

    panel: str
    """Hash of the panel's verifiers and their versions, in order."""
    rows: int
    """How many rows of verdicts the unit has after this commit."""

    def transaction(self, unit_id: str) -> str:
        """Return the name of the application transaction that marks a unit."""
        return f"settled-{unit_id}-{self.panel}"


class ResumeIndex:
    """The committed and the judged units of a run."""

    def __init__(self, store: ObjectStore, tables: Mapping[str, AsyncDeltaTable]) -> None:
        self._store = store
        self._tables = tables

    async def committed_units(self) -> set[str]:
        """Return the units whose episodes are committed, in one pass over the log.

        Raises:
            Damaged: the log, or a file that holds several units, cannot be read.
        """
        stats = await self._tables["episodes"].file_stats()
        units = set() if stats is None else set(await asyncio.to_thread(rows_by_unit, *stats))
        # A compaction has removed the rows of withdrawn episodes, and they are not made again.
        return units | (await read_withdrawals(self._store)).units.keys()

    async def committed_episodes(self) -> dict[str, set[str]]:
        """Return the committed episodes by unit, withdrawn ones too, in one pass over two columns.

        Raises:
            Damaged: the log or a file cannot be read.
        """
        dataset = await self._tables["episodes"].dataset()
        heads = await asyncio.to_thread(readers.rows, dataset, columns=["unit_id", "episode_id"])
        units: defaultdict[str, set[str]] = defaultdict(set)
        for head in heads:
            units[head["unit_id"]].add(head["episode_id"])
        for one in (await read_withdrawals(self._store)).episodes:
            units[one.unit_id].add(one.episode)
        return dict(units)

    async def judged_units(self, panel: str) -> set[str]:
        """Return the units that are known to have every verdict of a panel, from the log.

        Raises:
            Damaged: the log, or a file that holds several units, cannot be read.
        """
        table = self._tables["verdicts"]
        version = await table.version()
        if version is None:
            return set()
        marks = await marked_units(self._store, version, panel)
        stats = await table.file_stats() if marks else None
        if stats is None:
            return set()
        rows = await asyncio.to_thread(rows_by_unit, *stats)
        return {unit_id for unit_id, count in marks.items() if rows[unit_id] == count}


async def marked_units(store: ObjectStore, version: int, panel: str) -> dict[str, int]:
    """Return the units marked for a panel in the log up to `version`, with their rows of verdicts.

    Empty where the log is not as our commits write it: then the caller reads all verdicts.
    """
    try:
        transactions = await _transactions(store, version)
    except (Missing, pa.ArrowException, OSError, ValueError, TypeError, KeyError):
        return {}
    names = ((_NAME.fullmatch(name), rows) for name, rows in transactions.items())
    return {name[1]: rows for name, rows in names if name and name[2] == panel}


def rows_by_unit(files: pa.Table, shared: Dataset) -> Counter[str]:
    """Return how many rows each unit has, from the log for files that hold a single unit.

    `shared` are the rows of all other files.

    Raises:
        Damaged: such a file cannot be read.
    """
    counts: Counter[str] = Counter()
    if files.num_rows and "min.unit_id" in files.column_names:
        single = files.filter(pc.equal(files["min.unit_id"], files["max.unit_id"]))
        sums = single.group_by("min.unit_id").aggregate([("num_records", "sum")])
        ends = (sums[name].to_pylist() for name in ("min.unit_id", "num_records_sum"))
        counts.update(dict(zip(*ends, strict=True)))
    try:
        for batch in shared.to_batches(columns=["unit_id"], cache_metadata=False):
            counts.update(str(unit_id) for unit_id in batch["unit_id"].to_pylist())
    except (pa.ArrowException, OSError) as error:
        raise read_error(error, "a committed file cannot be read") from None
    return counts


async def _transactions(store: ObjectStore, version: int) -> Mapping[str, int]:
    """Return every application transaction of `verdicts`: the last checkpoint's and all later ones.

    Raises:
        Missing: an entry of the log is missing.
        ValueError: the log is not as our commits write it.
    """
    transactions: dict[str, int] = {}
    start = 0
    try:
        pointer: Any = parse_json(await store.get("tables/verdicts/_delta_log/_last_checkpoint"))
    except Missing:
        pointer = None
    if pointer is not None:
        number = int(pointer["version"])
        data = await store.get(checkpoint_key("verdicts", number))
        transactions = await asyncio.to_thread(_checkpoint_transactions, data)
        start = number + 1
    if version - start > _MAX_TAIL:
        raise ValueError(f"expected a checkpoint in the last {_MAX_TAIL} versions")
    keys = [entry_key("verdicts", number) for number in range(start, version + 1)]
    async for key, entry in get_many(store, keys):
        if entry is None:
            raise Missing(key, store.url)
        for line in entry.splitlines():
            action: Any = parse_json(line)
            if "txn" in action:
                transactions[action["txn"]["appId"]] = action["txn"]["version"]
    return transactions


def _checkpoint_transactions(data: bytes) -> dict[str, int]:
    transactions: dict[str, int] = {}
    with pq.ParquetFile(io.BytesIO(data)) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=["txn.appId", "txn.version"]):
            for row in batch.to_pylist():
                if row["txn"] is not None:
                    transactions[row["txn"]["appId"]] = row["txn"]["version"]
    return transactions
