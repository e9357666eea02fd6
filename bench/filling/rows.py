"""Rows as large as real ones, made up."""

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

from schemas.base import content_hash
from schemas.tables import Row, arrow_schema

KILOBYTES = (60, 160)
"""Of a picture, from and to."""


def step_rows(steps: int) -> Iterator[Row]:
    """Yield rows of `steps`, twenty an episode; the pictures recur, for they cost to make."""
    random = Random(7)
    low, high = (kilobytes * 1_000 for kilobytes in KILOBYTES)
    pictures = [random.randbytes(random.randint(low, high)) for _ in range(100)]
    made = made_up("steps")
    for number in range(steps):
        episode = content_hash(["episode", number // 20])
        picture = {"bytes": pictures[number % len(pictures)], "path": f"{number}.jpg"}
        yield made | {"episode_id": episode, "step": number % 20, "screenshot": picture}


def made_up(table: str) -> Row:
    """Return a row of a table, of values that are as long as real ones."""
    return {item.name: _made_up(str(item.type)) for item in arrow_schema(table)}


def _made_up(kind: str) -> object:
    if kind == "string":
        return "A sentence of the length that a thought or a page's title has."
    if kind.startswith("timestamp"):
        return datetime(2026, 1, 2, tzinfo=UTC)
    if kind.startswith("list"):
        return []
    if kind.startswith("struct"):
        return {"bytes": b"", "path": ""}
    return kind == "bool" or 1
