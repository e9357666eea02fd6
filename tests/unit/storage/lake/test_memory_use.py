"""What writing a unit takes of memory: a few row groups, however large the unit is."""

import asyncio
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from effort import THOROUGH
from support.runs.memory_run import ONE_HEAP

from bench.measuring.process import alone, peak_mb
from bench.synthetic.rows import synthetic_row
from storage.lake.shard_upload import TableShardWriter
from storage.objects.local import LocalStore

GROUP = 16_000_000
PICTURE = 200_000
EPISODE = 10
EPISODES = 120 if THOROUGH else 60
"""Of a large unit."""


async def _write(place: Path, episodes: int, shard_bytes: int) -> int:
    """Write a unit's steps; return the bytes that they came to."""
    random = Random(0)
    plain = synthetic_row("steps")
    store = LocalStore(place)
    with TableShardWriter(store, "steps", "ab" * 16, shard_bytes=shard_bytes) as writer:
        for _ in range(episodes):
            pictures = [random.randbytes(PICTURE) for _ in range(EPISODE)]
            await writer.add(
                [plain | {"screenshot": {"bytes": data, "path": "a.png"}} for data in pictures]
            )
        return sum(added.size for added in await writer.finish())


def _growth(place: Path, episodes: int, shard_bytes: int) -> tuple[int, float]:
    """Return the bytes of a unit, and by how many MB the memory's peak grew for it."""
    asyncio.run(_write(place / "first", 1, shard_bytes))
    before = peak_mb()
    with patch("storage.lake.parquet_writer.ROW_GROUP_BYTES", GROUP):
        size = asyncio.run(_write(place / "second", episodes, shard_bytes))
    return size, peak_mb() - before


@pytest.mark.parametrize(
    "shard_bytes",
    [
        pytest.param(4 * GROUP, id="shards", marks=pytest.mark.full),
        pytest.param(1 << 30, id="one-shard"),
    ],
)
def test_a_large_unit_takes_less_than_three_row_groups(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shard_bytes: int
) -> None:
    for name, value in ONE_HEAP.items():
        monkeypatch.setenv(name, value)
    size, growth = alone(_growth, tmp_path, EPISODES, shard_bytes)

    assert size >= EPISODES * EPISODE * PICTURE
    assert growth * 1e6 < 3 * GROUP
