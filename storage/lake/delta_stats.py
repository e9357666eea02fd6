"""The statistics of a shard in the log: its size, its rows, and the range of its columns.

Readers trust these figures: a wrong size makes a table unreadable, and a wrong range hides rows. So
they come from the file's own footer, and only columns by which rows are looked up have a range: ids
and integers, which every reader compares in the same way. For any other column the range is unknown:
one of floats (NaN), of timestamps (Delta truncates them to milliseconds) or of texts would cost more
in the log than it could save.
"""

import io
import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from deltalake.transaction import AddAction

from schemas.base import canonical_json
from storage.objects.temp_object import Draft, Source

INDEXED_COLUMNS = frozenset(
    {
        "attempt",
        "call",
        "episode_id",
        "prompt_sha256",
        "round",
        "seed",
        "step",
        "task_id",
        "template_id",
        "unit_id",
        "verifier",
    }
)
"""Columns whose range is stated."""

_MAX_TEXT = 64
_PLAIN = re.compile(r"[\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class AddedFile:
    """A file that a commit adds."""

    path: str
    """Below the table."""
    size: int
    """Bytes."""
    modified_ms: int
    """Unix ms."""
    stats: str
    """Delta's statistics, JSON."""

    def action(self, *, data_change: bool) -> AddAction:
        """Return the log's action; without `data_change` the table has the same rows as before."""
        return AddAction(
            path=self.path,
            size=self.size,
            partition_values={},
            modification_time=self.modified_ms,
            data_change=data_change,
            stats=self.stats,
        )


def statistics(data: Source, *, columns: AbstractSet[str] = INDEXED_COLUMNS) -> str:
    """Return Delta's statistics of a Parquet file, with the range of `columns`.

    Raises:
        pyarrow.ArrowInvalid: `data` is not a Parquet file.
    """
    metadata = pq.read_metadata(data.reader() if isinstance(data, Draft) else io.BytesIO(data))
    paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    ranges = {
        path: _range(metadata, number) for number, path in enumerate(paths) if path in columns
    }
    known = {path: range_ for path, range_ in ranges.items() if range_ is not None}
    return canonical_json(
        {
            "numRecords": metadata.num_rows,
            "minValues": {path: item.min for path, item in known.items() if item.has_range},
            "maxValues": {path: item.max for path, item in known.items() if item.has_range},
            "nullCount": {path: item.nulls for path, item in known.items()},
        }
    )


class _Range(NamedTuple):
    """The range of a column's values, as far as it is known."""

    nulls: int
    min: object = None
    max: object = None

    @property
    def has_range(self) -> bool:
        return self.min is not None


def _range(metadata: pq.FileMetaData, number: int) -> _Range | None:
    """Return the range over all row groups; None if one of them has no statistics."""
    parts = [
        metadata.row_group(group).column(number).statistics
        for group in range(metadata.num_row_groups)
    ]
    nulls = 0
    ends: list[Any] = []
    for part in parts:
        if part is None or part.null_count is None:
            return None
        nulls += part.null_count
        ends += [part.min, part.max] if part.num_values else []
    if ends and all(map(_is_exact, ends)):
        return _Range(nulls, min(ends), max(ends))
    return _Range(nulls)


def _is_exact(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_TEXT and _PLAIN.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool)
