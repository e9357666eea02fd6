"""The readers people have, at a dataset in a folder, in a bucket or on the Hub.

Run as a program it reads with one of them, in each of some places, and prints what it found: all
rows, the columns without pictures, or how long the first row took. It is a process of its own
because the Hub's clients read their surroundings when they are imported. The bucket is opened for
`fsspec`, on which `datasets` and DuckDB stand here, by Arrow: s3fs would hold botocore back, and
DuckDB would fetch an extension from the network.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import fsspec  # type: ignore[import-untyped] # it ships no types
import pyarrow as pa
from fsspec.implementations.arrow import (  # type: ignore[import-untyped] # the same
    ArrowFSWrapper,
)
from pyarrow.fs import FileSystem

from schemas.base import sha256_hex
from schemas.tables.tables import arrow_schema
from schemas.tasks.task import SPLITS
from storage.publish.plan.config_columns import TRAINING_CONFIGS, config_schema

HUB = "hf://datasets/"
HUB_BUCKET = "hf://buckets/"
BUCKET = "s3://"

KEYS = {
    "trajectories": ("episode_id",),
    "steps": ("episode_id", "step"),
    "tasks": ("task_id",),
    "attempts": ("episode_id",),
    "results": ("task_id", "policy", "policy_kind", "model"),
    "verdicts": ("episode_id", "verifier", "verifier_version", "round"),
    "observations": ("episode_id", "step"),
    "calls": ("episode_id", "step", "call"),
    "prompts": ("prompt_sha256",),
} | dict.fromkeys(TRAINING_CONFIGS, ("id",))
"""What tells one row of a config from any other of a split."""

SMALL = ("episode_id", "step", "action", "url")
"""Columns of `steps` without the pictures."""

AHEAD = 65_536
"""Bytes that the Hub's client reads on where pictures are not wanted; its own idea is 5 MB."""

Names = Sequence[str] | None
"""Of columns; None: all."""

Found = dict[str, dict[str, object]]
"""Of each config its rows, and a hash over every value of every one of them."""


class ArrowBucket(ArrowFSWrapper):  # type: ignore[misc] # of a package without types
    """Arrow's way to a bucket, for `fsspec`."""

    protocol = "s3"

    def __init__(self, **options: object) -> None:
        fs, _ = FileSystem.from_uri("s3://any")
        super().__init__(fs, **options)


def open_buckets() -> None:
    """Let `fsspec` open buckets by Arrow."""
    fsspec.register_implementation("s3", ArrowBucket, clobber=True)


def digest(config: str, table: pa.Table) -> str:
    """Return a hash of a table's rows, in whatever order and types a reader gives them."""
    schema = arrow_schema(config) if config == "steps" else config_schema(config)
    rows = table.select(schema.names).cast(schema).to_pylist()
    keys = KEYS[config]
    rows.sort(key=lambda row: tuple(map(str, (row[key] for key in keys))))
    return sha256_hex(repr(rows).encode())


def by_datasets(place: str, config: str, names: Names) -> pa.Table:
    """Read a config with `datasets`, downloaded whole."""
    splits = _opened(place, config).values()
    table = pa.concat_tables([split.with_format("arrow")[:] for split in splits])
    return table if names is None else table.select(names)


def by_datasets_streamed(
    place: str, config: str, names: Names, ahead: int | None = AHEAD
) -> pa.Table:
    """Read a config with `datasets`, streamed."""
    options: dict[str, Any] = {"streaming": True}
    if names is not None:
        options |= {"columns": list(names), "storage_options": {"hf": {"block_size": ahead}}}
    splits = _opened(place, config, **options).values()
    parts = [part for split in splits for part in split.with_format("arrow").iter(1_000)]
    return pa.concat_tables(parts)


def _opened(place: str, config: str, *, splits: Sequence[str] = SPLITS, **options: Any) -> Any:
    import datasets  # type: ignore[import-untyped] # noqa: PLC0415 - only in its own process

    datasets.disable_progress_bars()
    if place.startswith((BUCKET, HUB_BUCKET)):
        from huggingface_hub import HfFileSystem  # noqa: PLC0415 - the same

        files_at = ArrowBucket() if place.startswith(BUCKET) else HfFileSystem()
        patterns = {split: f"{place}/data/{config}/{split}-*.parquet" for split in splits}
        files = {split: glob for split, glob in patterns.items() if files_at.glob(glob)}
        return datasets.load_dataset("parquet", data_files=files, **options)
    return datasets.load_dataset(place.removeprefix(HUB), config, **options)


def by_polars(place: str, config: str, names: Names) -> pa.Table:
    """Read a config with Polars; it knows no Hub but one, so of another it reads the URLs."""
    import polars as pl  # noqa: PLC0415 - only in its own process

    found = f"{place}/data/{config}/*.parquet"
    if place.startswith((HUB, HUB_BUCKET)):
        from huggingface_hub import HfFileSystem  # noqa: PLC0415 - the same

        hub = HfFileSystem()
        rows = pl.scan_parquet([hub.url(path) for path in hub.glob(found)])
    else:
        rows = pl.scan_parquet(found)
    return (rows if names is None else rows.select(names)).collect().to_arrow()


def by_duckdb(place: str, config: str, names: Names) -> pa.Table:
    """Read a config with DuckDB."""
    import duckdb  # noqa: PLC0415 - only in its own process

    with duckdb.connect() as connection:
        if place.startswith((HUB, HUB_BUCKET)):
            from huggingface_hub import HfFileSystem  # noqa: PLC0415 - the same

            ahead = None if names is None else AHEAD
            connection.register_filesystem(HfFileSystem(block_size=ahead))
        if place.startswith(BUCKET):
            connection.register_filesystem(ArrowBucket())
        rows = connection.read_parquet(f"{place}/data/{config}/*.parquet")
        table: pa.Table = rows.project(", ".join(names or "*")).to_arrow_table()
        return table


def by_stepmill(place: str, config: str, names: Names) -> pa.Table:
    """Read a config with Stepmill, which looks whether each file is the one that was published."""
    from stepmill import open_dataset  # noqa: PLC0415 - only in its own process

    return open_dataset(place).table(config, columns=names)


READERS: Mapping[str, Callable[[str, str, Names], pa.Table]] = {
    "datasets": by_datasets,
    "datasets-streamed": by_datasets_streamed,
    "polars": by_polars,
    "duckdb": by_duckdb,
    "stepmill": by_stepmill,
}
"""By name; each returns all rows of a config, or some columns of them."""


def everything(reader: str, place: str) -> Found:
    """Return what a reader finds in a place."""
    found: Found = {}
    for config in KEYS:
        table = READERS[reader](place, config, None)
        found[config] = {"rows": table.num_rows, "sha256": digest(config, table)}
    return found


def small(reader: str, place: str) -> int:
    """Return in how many rows of `steps` a reader finds the columns that are no pictures."""
    table = READERS[reader](place, "steps", SMALL)
    if {*table.column_names} != {*SMALL}:
        raise AssertionError(f"{reader} read {table.column_names}")
    return table.num_rows


def unrestrained(reader: str, place: str) -> int:
    """Return the same of `datasets`, where the Hub's client reads ahead as it likes."""
    del reader
    return by_datasets_streamed(place, "steps", SMALL, ahead=None).num_rows


def first(reader: str, place: str) -> dict[str, float]:
    """Return the seconds until `datasets` has the first row of a split of `steps`, decoded."""
    import datasets  # noqa: F401, PLC0415 - not in the time that is taken

    begun = time.perf_counter()
    split = SPLITS[0]
    streaming = reader == "datasets-streamed"
    rows = _opened(place, "steps", splits=[split], split=split, streaming=streaming)
    opened = time.perf_counter()
    picture = next(iter(rows))["screenshot"]
    picture.load()
    return {"opening": opened - begun, "all": time.perf_counter() - begun}


ASKED: Mapping[str, Callable[[str, str], object]] = {
    "everything": everything,
    "small": small,
    "unrestrained": unrestrained,
    "first": first,
}
"""What may be asked of a reader in a place."""


def main(asked: str, reader: str, *places: str) -> None:
    """Ask a reader something in each place and say what it found."""
    open_buckets()
    print(json.dumps({place: ASKED[asked](reader, place) for place in places}), flush=True)  # noqa: T201 - for who asked
    os._exit(0)  # a stream may leave threads that abort the process


if __name__ == "__main__":
    main(*sys.argv[1:])
