"""What a commit tells Delta about a shard: its size, its rows, and the range of its columns.

Readers trust these figures blindly: a wrong size makes a table unreadable and a wrong range makes
rows vanish. So they are taken from the file's own footer, and only for the columns that rows are
looked up by, whose ranges read the same everywhere: ids and whole numbers. Any other column has
none, which every reader takes for "unknown": a range of floats (NaN), of timestamps (Delta cuts
them to the millisecond) or of texts would cost more in the log than it could save.
"""

import io
import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from schemas.base import canonical_json
from storage.objects.temp_object import Draft, Source

LOOKED_UP = frozenset(
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
"""Columns whose range is told."""

_MAX_TEXT = 64
_PLAIN = re.compile(r"[\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class Added:
    """A file as a commit adds it."""

    path: str
    """Below the table."""
    size: int
    """Bytes."""
    modified_ms: int
    """Unix ms."""
    stats: str
    """Delta's statistics, JSON."""


def statistics(data: Source, *, columns: AbstractSet[str] = LOOKED_UP) -> str:
    """Return Delta's statistics of a Parquet file, with the range of `columns`.

    Raises:
        pyarrow.ArrowInvalid: `data` is no Parquet file.
    """
    metadata = pq.read_metadata(data.reader() if isinstance(data, Draft) else io.BytesIO(data))
    paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    spans = {path: _span(metadata, number) for number, path in enumerate(paths) if path in columns}
    known = {path: span for path, span in spans.items() if span is not None}
    return canonical_json(
        {
            "numRecords": metadata.num_rows,
            "minValues": {path: span.least for path, span in known.items() if span.told},
            "maxValues": {path: span.greatest for path, span in known.items() if span.told},
            "nullCount": {path: span.nulls for path, span in known.items()},
        }
    )


class _Span(NamedTuple):
    """What is known of a column's values."""

    nulls: int
    least: object = None
    greatest: object = None

    @property
    def told(self) -> bool:
        return self.least is not None


def _span(metadata: pq.FileMetaData, number: int) -> _Span | None:
    """Return what the row groups' statistics say together; None if one of them says nothing."""
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
    if ends and all(map(_tellable, ends)):
        return _Span(nulls, min(ends), max(ends))
    return _Span(nulls)


def _tellable(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_TEXT and _PLAIN.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool)
