"""The readers people have, at a dataset in a folder, in a bucket or on the Hub.

Run as a program it reads all of a dataset with one of them, in each of the places, and prints
what it found. It is a process of its own because the Hub's clients read their surroundings when
they are imported. The bucket is opened for `fsspec`, on which `datasets` and DuckDB stand here,
by Arrow: s3fs would hold botocore back, and DuckDB would fetch an extension from the network.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import fsspec  # type: ignore[import-untyped] # it ships no types
import pyarrow as pa
from fsspec.implementations.arrow import (  # type: ignore[import-untyped] # the same
    ArrowFSWrapper,
)
from pyarrow.fs import FileSystem

from schemas.base import sha256_hex
from schemas.tables import arrow_schema, trajectory_schema
from schemas.task import SPLITS

HUB = "hf://datasets/"
BUCKET = "s3://"

KEYS = {
    "trajectories": ("episode_id",),
    "steps": ("episode_id", "step"),
    "tasks": ("task_id",),
    "observations": ("episode_id", "step"),
    "calls": ("episode_id", "step", "call"),
    "prompts": ("prompt_sha256",),
}
"""What tells one row of a config from any other of a split."""

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
    schema = trajectory_schema() if config == "trajectories" else arrow_schema(config)
    rows = table.select(schema.names).cast(schema).to_pylist()
    keys = KEYS[config]
    rows.sort(key=lambda row: tuple(map(str, (row[key] for key in keys))))
    return sha256_hex(repr(rows).encode())


def by_datasets(place: str, config: str) -> pa.Table:
    """Read a config with `datasets`, downloaded."""
    parts = [split.with_format("arrow")[:] for split in _loaded(place, config, streaming=False)]
    return pa.concat_tables(parts)


def by_datasets_streamed(place: str, config: str) -> pa.Table:
    """Read a config with `datasets`, streamed."""
    parts = [
        part
        for split in _loaded(place, config, streaming=True)
        for part in split.with_format("arrow").iter(batch_size=1_000)
    ]
    return pa.concat_tables(parts)


def _loaded(place: str, config: str, *, streaming: bool) -> list[Any]:
    import datasets  # type: ignore[import-untyped] # noqa: PLC0415 - only in its own process

    datasets.disable_progress_bars()
    if place.startswith(BUCKET):
        files = {split: f"{place}/data/{config}/{split}-*.parquet" for split in SPLITS}
        loaded = datasets.load_dataset("parquet", data_files=files, streaming=streaming)
    else:
        loaded = datasets.load_dataset(place.removeprefix(HUB), config, streaming=streaming)
    splits = list(loaded.values())
    if config == "steps":
        first = next(iter(splits[0]))["screenshot"]
        first.load()  # it is a picture, and a whole one
    return splits


def by_polars(place: str, config: str) -> pa.Table:
    """Read a config with Polars; it knows no Hub but one, so of another it reads the URLs."""
    import polars as pl  # noqa: PLC0415 - only in its own process

    found = f"{place}/data/{config}/*.parquet"
    if not place.startswith(HUB):
        return pl.scan_parquet(found).collect().to_arrow()
    from huggingface_hub import HfFileSystem  # noqa: PLC0415 - the same

    hub = HfFileSystem()
    return pl.scan_parquet([hub.url(path) for path in hub.glob(found)]).collect().to_arrow()


def by_duckdb(place: str, config: str) -> pa.Table:
    """Read a config with DuckDB."""
    import duckdb  # noqa: PLC0415 - only in its own process

    with duckdb.connect() as connection:
        if place.startswith(HUB):
            from huggingface_hub import HfFileSystem  # noqa: PLC0415 - the same

            connection.register_filesystem(HfFileSystem())
        if place.startswith(BUCKET):
            connection.register_filesystem(ArrowBucket())
        rows = connection.read_parquet(f"{place}/data/{config}/*.parquet")
        table: pa.Table = rows.to_arrow_table()
        return table


READERS: Mapping[str, Callable[[str, str], pa.Table]] = {
    "datasets": by_datasets,
    "datasets-streamed": by_datasets_streamed,
    "polars": by_polars,
    "duckdb": by_duckdb,
}
"""By name; each returns all rows of a config."""


def read(reader: str, place: str) -> Found:
    """Return what a reader finds in a place."""
    found: Found = {}
    for config in KEYS:
        table = READERS[reader](place, config)
        found[config] = {"rows": table.num_rows, "sha256": digest(config, table)}
    return found


def main(reader: str, *places: str) -> None:
    """Read a dataset in each place and say what is there."""
    open_buckets()
    print(json.dumps({place: read(reader, place) for place in places}), flush=True)  # noqa: T201 - for who asked
    os._exit(0)  # a stream may leave threads that abort the process


if __name__ == "__main__":
    main(*sys.argv[1:])
