"""What writing shards costs.

Rows of `steps` with JPEG-like pictures of 60 to 160 kB become Parquet files that are on the disk
when it ends. Ours (shards of the default size, hashed, put into a folder) against `datasets`
(`Dataset.from_generator`, then `to_parquet`) and against one plain `pq.write_table` with our
settings. Each writer works in a process of its own, on the same rows, which are in memory before
the clock runs, and after it has written a few of them; its peak memory is what that process took
beyond that.

Lines: at least 3 times as fast as `datasets` and 0.8 times as fast as `write_table`, in less
memory than three row groups take.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.measuring.process import alone, peak_mb
from bench.measuring.result import report
from bench.synthetic.rows import step_rows
from schemas.tables.tables import Row, arrow_schema
from storage.lake.parquet_writer import MEGABYTE, ROW_GROUP_BYTES, writer_settings
from storage.lake.shard_upload import TableShardWriter
from storage.objects.local import LocalStore

MIN_TO_DATASETS = 3.0
MIN_TO_PLAIN = 0.8
MAX_ROW_GROUPS = 3.0
EPISODE = 20


class Figure(NamedTuple):
    """What one writer took."""

    seconds: float
    """From the first row to the last byte on the disk."""
    megabytes: float
    """Of Parquet."""
    peak_mb: float
    """The most memory of the process beyond what it had before the first row."""

    @property
    def rate(self) -> float:
        """MB a second."""
        return self.megabytes / self.seconds


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stepmill-bench-") as folder:
        figures = writing(Path(folder), args.steps, args.rounds)
    held = (
        figures["ours_to_datasets"] >= MIN_TO_DATASETS
        and figures["ours_to_plain"] >= MIN_TO_PLAIN
        and figures["ours_peak_mb"] * 1e6 <= MAX_ROW_GROUPS * ROW_GROUP_BYTES
    )
    rounded = {name: round(value, 3) for name, value in figures.items()}
    limits = {
        "min_to_datasets": MIN_TO_DATASETS,
        "min_to_plain": MIN_TO_PLAIN,
        "max_peak_mb": MAX_ROW_GROUPS * ROW_GROUP_BYTES / 1e6,
    }
    report({"bench": "storing", "steps": args.steps, **rounded, **limits, "held": held})
    return 0 if held else 1


def writing(base: Path, steps: int, rounds: int) -> dict[str, float]:
    """Return how fast each writer is: the best of several rounds, taken in turn."""
    writers = {"ours": write_ours, "datasets": write_datasets, "plain": write_plain}
    results: dict[str, list[Figure]] = {name: [] for name in writers}
    for _ in range(rounds):
        for name, write in writers.items():
            os.sync()  # no writer waits for the bytes of the one before
            results[name].append(alone(write, base / name, steps))
            shutil.rmtree(base / name)
    best = {name: max(figures, key=lambda f: f.rate) for name, figures in results.items()}
    out = {f"{name}_mb_per_second": figure.rate for name, figure in best.items()}
    out |= {f"{name}_peak_mb": max(f.peak_mb for f in results[name]) for name in writers}
    return out | {
        "ours_to_datasets": best["ours"].rate / best["datasets"].rate,
        "ours_to_plain": best["ours"].rate / best["plain"].rate,
    }


def write_ours(place: Path, steps: int) -> Figure:
    """Write the rows as a unit's are: an episode at a time, into a folder."""

    async def write(rows: Sequence[Row], place: Path) -> None:
        writer = TableShardWriter(LocalStore(place), "steps", "ab" * 16, shard_bytes=256 * MEGABYTE)
        with writer:
            for start in range(0, len(rows), EPISODE):
                await writer.add(rows[start : start + EPISODE])
            await writer.finish()

    return measure(lambda rows, place: asyncio.run(write(rows, place)), place, steps)


def write_datasets(place: Path, steps: int) -> Figure:
    """Write the rows as a user of `datasets` does."""
    import datasets  # type: ignore[import-untyped] # noqa: PLC0415 - only in this process

    features = datasets.Features.from_arrow_schema(arrow_schema("steps"))
    features["screenshot"] = datasets.Image()
    datasets.disable_progress_bars()

    def write(rows: Sequence[Row], place: Path) -> None:
        made = datasets.Dataset.from_generator(
            lambda: iter(rows),
            features=features,
            cache_dir=str(place / "cache"),
            fingerprint=f"rows-{len(rows)}",  # else it would hash them all
        )
        made.to_parquet(str(place / "steps.parquet"))
        sync_file(place / "steps.parquet")

    return measure(write, place, steps)


def write_plain(place: Path, steps: int) -> Figure:
    """Write the rows, all in memory, with one call."""
    import pyarrow as pa  # noqa: PLC0415 - only in this writer's process
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = arrow_schema("steps")

    def write(rows: Sequence[Row], place: Path) -> None:
        place.mkdir(parents=True)
        table = pa.Table.from_pylist(list(rows), schema=schema)
        pq.write_table(table, place / "steps.parquet", **writer_settings(schema))
        sync_file(place / "steps.parquet")

    return measure(write, place, steps)


def measure(write: Callable[[Sequence[Row], Path], None], place: Path, steps: int) -> Figure:
    """Return what `write` takes for so many rows, once it has loaded all that it needs."""
    rows = list(step_rows(steps))
    write(rows[:EPISODE], place / "first")
    before, begun = peak_mb(), time.perf_counter()
    write(rows, place / "all")
    seconds = time.perf_counter() - begun
    size = sum(path.stat().st_size for path in (place / "all").rglob("*.parquet"))
    return Figure(seconds, size / 1e6, peak_mb() - before)


def sync_file(path: Path) -> None:
    """Have the disk hold a file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


if __name__ == "__main__":
    sys.exit(main())
