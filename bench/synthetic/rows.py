"""Synthetic rows as large as real ones."""

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

import pyarrow as pa

from schemas.base import content_hash
from schemas.tables.tables import Row, arrow_schema

KILOBYTES = (60, 160)
"""The minimum and the maximum size of a picture."""


def step_rows(steps: int) -> Iterator[Row]:
    """Yield rows of `steps`, twenty an episode; pictures recur, because making one takes time."""
    random = Random(7)
    low, high = (kilobytes * 1_000 for kilobytes in KILOBYTES)
    pictures = [random.randbytes(random.randint(low, high)) for _ in range(100)]
    common = synthetic_row("steps")
    for number in range(steps):
        episode = content_hash(["episode", number // 20])
        picture = {"bytes": pictures[number % len(pictures)], "path": f"{number}.jpg"}
        yield common | {"episode_id": episode, "step": number % 20, "screenshot": picture}


def synthetic_row(table: str) -> Row:
    """Return a row of a table, with values that are as long as real ones."""
    return row_of(arrow_schema(table))


def row_of(schema: pa.Schema) -> Row:
    """Return a row of these columns, with values that are as long as real ones."""
    return {item.name: _value(str(item.type)) for item in schema}


def _value(kind: str) -> object:
    if kind == "string":
        return "A sentence of the length that a thought or a page's title has."
    if kind.startswith("timestamp"):
        return datetime(2026, 1, 2, tzinfo=UTC)
    if kind.startswith("list"):
        return []
    if kind.startswith("struct"):
        return {"bytes": b"", "path": ""}
    if "binary" in kind:
        return b"\x5a" * 64
    return kind == "bool" or 1
