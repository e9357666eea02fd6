"""The readers people have, at versions of a collection in a bucket or on the Hub.

Run as a program it prints the episodes that a reader finds in a config of some versions, in the order of their rows: on
the Hub by the version's tag, in a bucket by the version's list. It is a process of its own because the Hub's clients read
their surroundings when they are imported.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import fsspec  # type: ignore[import-untyped] # it ships no types
from source_tree import ROOT
from support.runs.commands import SECONDS, environment
from support.stores.dataset_readers import HUB, ArrowBucket, open_buckets

Ids = dict[str, list[str]]
"""The ids of episodes, by split."""


def by_datasets(place: str, config: str, version: str) -> Ids:
    """Read a version of a repository with `datasets`."""
    import datasets  # type: ignore[import-untyped] # noqa: PLC0415 - only in its own process

    datasets.disable_progress_bars()
    parts = datasets.load_dataset(place.removeprefix(HUB), config, revision=f"v{version}")
    return {split: rows["episode_id"][:] for split, rows in parts.items()}


def by_duckdb(place: str, config: str, version: str) -> Ids:
    """Read a version in a bucket with DuckDB."""
    import duckdb  # noqa: PLC0415 - only in its own process

    with duckdb.connect() as connection:
        connection.register_filesystem(_files_at(place))
        return {
            split: [
                row[0] for row in connection.read_parquet(paths).project("episode_id").fetchall()
            ]
            for split, paths in _listed(place, config, version).items()
        }


def by_polars(place: str, config: str, version: str) -> Ids:
    """Read a version in a bucket with Polars."""
    import polars as pl  # noqa: PLC0415 - only in its own process

    return {
        split: pl.scan_parquet(paths).select("episode_id").collect()["episode_id"].to_list()
        for split, paths in _listed(place, config, version).items()
    }


def _files_at(place: str) -> Any:
    """Return what opens the files of a bucket, here or on the Hub."""
    if place.startswith("hf:"):
        from huggingface_hub import HfFileSystem  # noqa: PLC0415 - only in its own process

        return HfFileSystem()
    return ArrowBucket()


def _listed(place: str, config: str, version: str) -> dict[str, list[str]]:
    with fsspec.open(f"{place}/versions/{int(version):06d}.json") as file:
        splits = json.load(file)["configs"][config]
    return {split: [f"{place}/{path}" for path in paths] for split, paths in splits.items()}


READERS: Mapping[str, Callable[[str, str, str], Ids]] = {
    "datasets": by_datasets,
    "duckdb": by_duckdb,
    "polars": by_polars,
}
"""By name; each returns the episodes of a config of a version."""


def read_versions(
    reader: str, place: str, config: str, versions: Sequence[str | int], environ: Mapping[str, str]
) -> list[Ids]:
    """Return what a reader finds in each of some versions, in a process of its own."""
    own = environment({**environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"})
    done = subprocess.run(
        [sys.executable, "-m", __name__, reader, place, config, *map(str, versions)],
        env=own,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    found: list[Ids] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(reader: str, place: str, config: str, *versions: str) -> None:
    """Print what a reader finds."""
    open_buckets()
    found = [READERS[reader](place, config, version) for version in versions]
    print(json.dumps(found), flush=True)  # noqa: T201 - for who asked
    os._exit(0)  # a reader may leave threads that abort the process


if __name__ == "__main__":
    main(*sys.argv[1:])
