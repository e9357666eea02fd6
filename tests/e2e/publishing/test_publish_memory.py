"""Publishing and proving a large file take no more memory than a small one."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest.mock import patch

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from effort import THOROUGH
from hub.publishing import TO
from hub.server import LocalHub
from support.runs.memory_run import (
    ONE_HEAP,
    RULE,
    STORAGE,
    TRAIN,
    MemoryRun,
    commit_unit,
    make_run_file,
)

from bench.measuring.process import alone, peak_mb
from schemas.base import sha256_hex
from schemas.configuration.sections import PublishSection
from schemas.tables.tables import Row
from storage.objects.urls import open_store
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.destinations.protocol import Destination
from storage.publish.destinations.store import FolderDestination, StoreDestination
from storage.publish.publish import publish_to
from storage.publish.verify import verify_published

PICTURE = 200_000
UNIT_BYTES = 24 * PICTURE
"""Of the pictures of a unit: eight episodes of three rows."""

SMALL, LARGE = (8, 32) if THOROUGH else (4, 12)
"""Units; all of them come to one file of `steps`."""

NOTICED = 0.3
"""Of what the large file has more: the share that a peak may be higher by, for bookkeeping."""

SMALLER = {
    "storage.publish.plan.rows.PIECE_BYTES": 8_000_000 if THOROUGH else 4_000_000,
    "storage.publish.plan.build.GROUP_BYTES": 4_000_000 if THOROUGH else 2_000_000,
    "storage.objects.s3.bulk_requests.MULTIPART_BYTES": 16_000_000,
    "storage.objects.s3.bulk_requests.PART_BYTES": 6_000_000,
}
"""What is held at a time, so that the small file too is many of it."""


@dataclass(frozen=True)
class OnDisk:
    """A sealed version whose tables are files in a folder."""

    place: Path
    version: int = 1

    async def dataset(self, table: str) -> ds.Dataset | None:
        return ds.dataset(self.place / table) if (self.place / table).is_dir() else None

    async def known_splits(self) -> Mapping[str, str]:
        return {}

    async def withdrawn(self) -> frozenset[str]:
        return frozenset()

    async def add_splits(self, splits: Mapping[str, str]) -> None:
        """The folder is made anew for each measurement."""


def _write_run(place: Path, units: int) -> Path:
    """Write the tables of a run, a file a unit, with pictures as heavy as screenshots."""
    random = Random(units)
    for number in range(units):
        run = MemoryRun()
        commit_unit(run, number + 1, TRAIN, tasks=4)
        for table, parts in run.rows.items():
            for part in parts:
                rows = [_heavier(table, row, random) for row in part.to_pylist()]
                (place / table).mkdir(parents=True, exist_ok=True)
                made = pa.Table.from_pylist(rows, schema=part.schema)
                path = place / table / f"{number}-{len(rows)}.parquet"
                pq.write_table(made, path, compression="none")
    return place


def _heavier(table: str, row: Row, random: Random) -> Row:
    if table == "episodes":
        return row | {"viewport_width": 1_600, "viewport_height": 833}
    if table == "steps":
        data = random.randbytes(PICTURE)
        picture = row["screenshot"] | {"bytes": data}
        return row | {"screenshot": picture, "screenshot_sha256": sha256_hex(data)}
    return row


def _destination(to: str, endpoint: str | None) -> Destination:
    if to.startswith("hf:"):
        return HubDestination(to, PublishSection(), endpoint=endpoint)
    return (
        StoreDestination(open_store(to, STORAGE))
        if to.startswith("s3:")
        else FolderDestination(Path(to))
    )


def _peaks(run: Path, to: str, endpoint: str | None) -> tuple[int, float, float]:
    """Publish and prove; return the bytes of the largest file, and what either took, MB."""

    async def work() -> tuple[int, float, float]:
        destination, terms = _destination(to, endpoint), PublishSection()
        made, before = make_run_file(), peak_mb()
        await publish_to(OnDisk(run), made, RULE, destination, terms=terms, shard_mb=1_024)
        published = peak_mb() - before
        proof = await verify_published(_destination(to, endpoint), deep=True)
        assert proof.findings == ()
        content = await destination.listing()
        return max(content.sizes.values()), published, peak_mb() - before

    with ExitStack() as stack:
        for name, size in SMALLER.items():
            stack.enter_context(patch(name, size))
        return asyncio.run(work())


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A small run and a large one."""
    place = tmp_path_factory.mktemp("runs")
    return [_write_run(place / str(units), units) for units in (SMALL, LARGE)]


@pytest.mark.full
@pytest.mark.parametrize("where", ["folder", "bucket", "hub"])
def test_a_large_file_takes_no_more_memory(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    runs: list[Path],
    where: str,
) -> None:
    places, endpoint = [str(tmp_path / run.name) for run in runs], None
    if where == "bucket":
        url = request.getfixturevalue("bucket_url")
        places = [f"{url}/{run.name}" for run in runs]
    elif where == "hub":
        # What is cut into chunks is held by the client's own library, as much as it likes.
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        hub: LocalHub = request.getfixturevalue("hub")
        places, endpoint = [f"{TO}-{run.name}" for run in runs], hub.url

    for name, value in ONE_HEAP.items():
        monkeypatch.setenv(name, value)

    seen = [alone(_peaks, run, to, endpoint) for run, to in zip(runs, places, strict=True)]

    (small, *few), (large, *many) = seen
    more = large - small
    assert more > (LARGE - SMALL) * UNIT_BYTES / 2
    for low, high in zip(few, many, strict=True):
        assert (high - low) * 1e6 < NOTICED * more
