"""Units that owe no verdict, known from the log of `verdicts` alone.

Whoever commits the last verdicts that a panel asks for marks the unit, in the same commit: an
application transaction, named by unit and panel, whose number says how many rows of verdicts the
unit has then. As long as it has that many nobody added one since, so what was found when the mark
was made still holds. Of any other unit its verdicts are read. A mark that is missing or past costs
a reading, and is never wrong.

A large run is planned by this: its verdicts are as many files as it has units, and more.
"""

import asyncio
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.dataset import Dataset

from storage.objects.batch_get import get_several
from storage.objects.error_messages import unread
from storage.objects.protocol import Missing, ObjectStore

_NAME = re.compile(r"settled-([0-9a-f]{16,})-([0-9a-f]+)")
_LONGEST_TAIL = 1_000
_ROWS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Mark:
    """Says that a unit owes a panel nothing."""

    panel: str
    """Hash of the panel's verifiers and their versions, in order."""
    rows: int
    """Rows of verdicts that the unit has with this commit."""

    def transaction(self, unit_id: str) -> str:
        """Return the application transaction that marks a unit."""
        return f"settled-{unit_id}-{self.panel}"


async def marked(store: ObjectStore, version: int, panel: str) -> dict[str, int]:
    """Return the units marked for a panel in the log up to `version`, with their rows.

    Empty where the log is not as our own commits make it: then all verdicts are read.
    """
    try:
        found = await _transactions(store, version)
    except (Missing, pa.ArrowException, OSError, ValueError, TypeError, KeyError):
        return {}
    names = ((_NAME.fullmatch(name), rows) for name, rows in found.items())
    return {name[1]: rows for name, rows in names if name and name[2] == panel}


def rows_by_unit(files: pa.Table, shared: Dataset) -> Counter[str]:
    """Return how many rows each unit has, by what the log says of files that are one unit's.

    `shared` are the rows of all other files.

    Raises:
        Damaged: such a file cannot be read.
    """
    counted: Counter[str] = Counter()
    if files.num_rows and "min.unit_id" in files.column_names:
        alone = files.filter(pc.equal(files["min.unit_id"], files["max.unit_id"]))
        sums = alone.group_by("min.unit_id").aggregate([("num_records", "sum")])
        ends = (sums[name].to_pylist() for name in ("min.unit_id", "num_records_sum"))
        counted.update(dict(zip(*ends, strict=True)))
    try:
        for batch in shared.to_batches(columns=["unit_id"], cache_metadata=False):
            counted.update(str(unit_id) for unit_id in batch["unit_id"].to_pylist())
    except (pa.ArrowException, OSError) as error:
        raise unread(error, "a committed file cannot be read") from None
    return counted


async def _transactions(store: ObjectStore, version: int) -> Mapping[str, int]:
    """Return every application transaction of `verdicts`: its last checkpoint, and what follows.

    Raises:
        Missing: an entry is.
        ValueError: the log has a shape that ours never has.
    """
    log = "tables/verdicts/_delta_log"
    found: dict[str, int] = {}
    start = 0
    try:
        pointer = json.loads(await store.get(f"{log}/_last_checkpoint"))
    except Missing:
        pointer = None
    if pointer is not None:
        number = int(pointer["version"])
        data = await store.get(f"{log}/{number:020d}.checkpoint.parquet")
        found.update(await asyncio.to_thread(_in_checkpoint, data))
        start = number + 1
    if version - start > _LONGEST_TAIL:
        raise ValueError("no checkpoint for long")
    keys = [f"{log}/{number:020d}.json" for number in range(start, version + 1)]
    async for key, entry in get_several(store, keys):
        if entry is None:
            raise Missing(key, store.url)
        found.update(_in_entry(entry))
    return found


def _in_checkpoint(data: bytes) -> Iterator[tuple[str, int]]:
    with pq.ParquetFile(io.BytesIO(data)) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=["txn.appId", "txn.version"]):
            for row in batch.to_pylist():
                if row["txn"] is not None:
                    yield row["txn"]["appId"], row["txn"]["version"]


def _in_entry(data: bytes) -> Iterator[tuple[str, int]]:
    for line in data.splitlines():
        action: Mapping[str, Any] = json.loads(line)
        if "txn" in action:
            yield action["txn"]["appId"], action["txn"]["version"]
