"""What one picture takes that is read at random: by Lance, and by the readers of published Parquet.

A run whose pictures have 60 to 160 kB is published to a folder and exported as `lance`. Rows are drawn from all
over a file, and each reader takes the picture of one row after the other, in one process. Cold: the files'
pages are dropped from the system's cache before each reading. Warm: all were read before. What is kept is the lowest
median of a few rounds, because only other work can make a reading slower; and how much was read from files.

* Lance: `LanceFileReader.take_rows`.
* Parquet as published, in row groups of 16 MiB: PyArrow by row group and by `Dataset.take`, DuckDB by row number.
  And in those of 4 MiB that exports of training rows have, by row group.
* `datasets`: of the Arrow file that it makes of the Parquet, once, in its cache. That is no reading of Parquet and has no
  line; the file is mapped into memory, whose pages cannot be dropped, so it has warm figures alone.

Line: Lance is 3 times as fast as the fastest reader of the Parquet as published, cold and warm.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from random import Random

import duckdb
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from lance.file import LanceFileReader

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.episodes.factories import RUN_ID  # noqa: E402
from support.runs.memory_run import RULE, STORAGE, make_run_file, tables_of  # noqa: E402

from bench.measuring.result import report  # noqa: E402
from bench.synthetic.published import EPISODES, make  # noqa: E402
from schemas.configuration.sections import PublishSection  # noqa: E402
from storage.export.export import export  # noqa: E402
from storage.export.lance_steps import LanceSteps  # noqa: E402
from storage.export.output_folder import GROUP_BYTES  # noqa: E402
from storage.lake.parquet_writer import shards  # noqa: E402
from storage.publish.publish import publish  # noqa: E402

MIN_FASTER = 3.0
ROUNDS = 3
PUBLISHED = "as published"
MAPPED = "datasets, its Arrow cache"

Read = Callable[[int], bytes]
"""Returns the picture of a row of the published file."""


def main() -> int:
    """Run the benchmark; the exit status says whether the line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--reads", type=int, default=40)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stepmill-bench-") as folder:
        base = Path(folder)
        parquet, small, lance = write(base, args.episodes)
        wanted: list[bytes] = [
            (row or {})["bytes"] for row in pq.read_table(parquet)["screenshot"].to_pylist()
        ]
        order = Random(2).sample(range(len(wanted)), args.reads)
        cold, warm, kilobytes = dict[str, float](), dict[str, float](), dict[str, float]()
        for name, read in readers(parquet, small, lance, base / "cache"):
            if any(read(number) != wanted[number] for number in order):
                raise SystemExit(f"{name} reads other pictures")
            if name != MAPPED:
                cold[name] = min(median_ms(read, order, base) for _ in range(ROUNDS))
            warm[name] = min(median_ms(read, order) for _ in range(ROUNDS))
            kilobytes[name] = kilobytes_of(read, order)
    faster = {
        state: min(value for name, value in taken.items() if name.endswith(PUBLISHED))
        / taken["lance"]
        for state, taken in (("cold", cold), ("warm", warm))
    }
    held = min(faster.values()) >= MIN_FASTER
    report(
        {
            "bench": "random_reads",
            "held": held,
            "rows": len(wanted),
            "mb": round(sum(map(len, wanted)) / 1e6),
            "cold_ms": {name: round(value, 2) for name, value in cold.items()},
            "warm_ms": {name: round(value, 2) for name, value in warm.items()},
            "read_kb": {name: round(value) for name, value in kilobytes.items()},
            "faster": {name: round(value, 1) for name, value in faster.items()},
            "min_faster": MIN_FASTER,
        }
    )
    sys.stdout.flush()
    return 0 if held else 1


def write(base: Path, episodes: int) -> tuple[Path, Path, Path]:
    """Return the Parquet file of a published split, its rows in small groups, and their Lance file."""
    run, _ = make(episodes=episodes)
    snapshot, terms = run.seal(), PublishSection(private=False)
    to = base / "published"
    asyncio.run(publish(snapshot, make_run_file(), RULE, str(to), terms=terms, storage=STORAGE))
    export(tables_of(snapshot), LanceSteps(), base / "lance", run_id=RUN_ID, rule=RULE)
    published = max((to / "data" / "steps").glob("train-*.parquet"), key=lambda p: p.stat().st_size)
    table = pq.read_table(published)
    small = base / "small.parquet"
    (shard,) = shards(table.schema, [table], shard_bytes=1 << 40, group_bytes=GROUP_BYTES)
    small.write_bytes(shard.data)
    return published, small, base / "lance" / "train-00000.lance"


def readers(parquet: Path, small: Path, lance: Path, cache: Path) -> Iterator[tuple[str, Read]]:
    """Yield each reader by its name."""
    yield "lance", by_lance(lance, parquet)
    yield f"pyarrow row group, {PUBLISHED}", by_row_group(parquet)
    yield f"pyarrow take, {PUBLISHED}", by_take(parquet)
    yield f"duckdb, {PUBLISHED}", by_duckdb(parquet)
    yield "pyarrow row group, in groups of 4 MiB", by_row_group(small)
    yield MAPPED, by_datasets(parquet, cache)


def by_lance(path: Path, parquet: Path) -> Read:
    """Return what reads the Lance file; its rows are found by the ids of those of the Parquet file."""
    keys = ["episode_id", "step"]
    table = LanceFileReader(str(path), columns=keys).read_all().to_table()
    places = {tuple(row.values()): number for number, row in enumerate(table.to_pylist())}
    rows = [tuple(row.values()) for row in pq.read_table(parquet, columns=keys).to_pylist()]
    reader = LanceFileReader(str(path), columns=["screenshot"])

    def read(number: int) -> bytes:
        table = reader.take_rows([places[rows[number]]]).to_table()
        picture: bytes = table["screenshot"][0]["bytes"].as_py()
        return picture

    return read


def by_row_group(path: Path) -> Read:
    """Return what reads the row group that a row lies in."""
    file = pq.ParquetFile(path)
    groups = range(file.num_row_groups)
    ends = list(accumulate(file.metadata.row_group(group).num_rows for group in groups))

    def read(number: int) -> bytes:
        group = next(group for group in groups if number < ends[group])
        column = file.read_row_group(group, columns=["screenshot.bytes"])["screenshot"]
        picture: bytes = column[number - ends[group]]["bytes"].as_py()
        return picture

    return read


def by_take(path: Path) -> Read:
    """Return what has Arrow find the row."""
    dataset = ds.dataset(path)

    def read(number: int) -> bytes:
        picture: bytes = dataset.take([number], columns=["screenshot"])["screenshot"][0][
            "bytes"
        ].as_py()
        return picture

    return read


def by_duckdb(path: Path) -> Read:
    """Return what asks DuckDB for a row by its number."""
    database = duckdb.connect()
    rows = f"read_parquet('{path}', file_row_number = true)"
    query = f"SELECT screenshot.bytes FROM {rows} WHERE file_row_number = ?"  # noqa: S608 - our path

    def read(number: int) -> bytes:
        found = database.execute(query, [number]).fetchone()
        picture: bytes = found[0] if found else b""
        return picture

    return read


def by_datasets(path: Path, cache: Path) -> Read:
    """Return what reads the Arrow file that `datasets` makes."""
    import datasets  # type: ignore[import-untyped] # noqa: PLC0415 - slow to load; it has no types

    datasets.disable_progress_bars()
    rows = datasets.load_dataset(
        "parquet", data_files=str(path), split="train", cache_dir=str(cache)
    )
    rows = rows.select_columns(["screenshot"]).cast_column(
        "screenshot", datasets.Image(decode=False)
    )
    return lambda number: bytes(rows[number]["screenshot"]["bytes"])


def median_ms(read: Read, order: list[int], dropped: Path | None = None) -> float:
    """Return the median of what readings take, in milliseconds; cold if a folder's pages are dropped first."""
    taken = []
    for number in order:
        if dropped is not None:
            drop(dropped)
        begin = time.perf_counter()
        read(number)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken) * 1e3


def kilobytes_of(read: Read, order: list[int]) -> float:
    """Return how many kilobytes a reading asks of files, on average."""
    before = characters_read()
    for number in order:
        read(number)
    return (characters_read() - before) / len(order) / 1e3


def characters_read() -> int:
    """Return how many bytes this process has read so far, whether or not they were in the system's cache."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


def drop(folder: Path) -> None:
    """Drop the pages of all files of a folder from the system's cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)


if __name__ == "__main__":
    os._exit(main())  # some of the readers' threads outlive them
