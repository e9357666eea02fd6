"""What a vacuum may take away, and what it must leave."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun, make_whole_run
from support.runs.compaction import NOW, UNITS, compacted, findings, shards
from support.stores.faulty_lake import counts, whole

from schemas.configuration.sections import StorageSection
from schemas.errors import NotFound
from schemas.tables.tables import TABLES, episode_rows
from storage.audit import audit
from storage.lake.retention import clock_key
from storage.objects.s3 import Address
from storage.objects.s3.bulk_requests import MULTIPART_BYTES
from storage.objects.urls import open_store

if TYPE_CHECKING:
    from support.servers.seaweedfs import Weed


@pytest.fixture
def run(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    return copy_run(tmp_path / "run", units=UNITS)


async def test_nothing_is_removed_at_once(run: MadeRun) -> None:
    report = await compacted(run, days=29)

    assert (report.removed, report.let_go) == (0, 0)
    lake = run.lake()
    first = await lake.snapshot(1)
    dataset = await first.dataset("episodes")
    assert dataset is not None
    assert dataset.count_rows() == sum(len(unit.episodes) for unit in run.units)
    await lake.close()


async def test_a_version_that_was_published_keeps_its_files(run: MadeRun) -> None:
    lake = run.lake()
    await lake.keep(1)
    await compacted(run)

    report = await compacted(run, days=400)

    assert (report.removed, report.let_go) == (0, 0)
    for table in TABLES:
        dataset = await (await lake.snapshot(1)).dataset(table)
        assert dataset is None or dataset.to_table().num_rows > 0
    assert await findings(run) == ()
    await lake.close()


async def test_a_version_that_nobody_published_is_let_go_when_it_is_old(run: MadeRun) -> None:
    await compacted(run)

    report = await compacted(run, days=38)

    assert report.let_go == 1
    assert report.removed == UNITS * len(report_tables(run))
    lake = run.lake()
    with pytest.raises(NotFound, match="version 1 was released"):
        await lake.snapshot(1)
    with pytest.raises(NotFound, match="version 1 was released"):
        await lake.keep(1)
    assert (await lake.snapshot()).version == 2
    assert counts(run) == whole(*run.units)
    assert await findings(run) == ()
    await lake.close()


def report_tables(run: MadeRun) -> list[str]:
    return [table for table in TABLES if shards(run, table)]


async def test_a_version_that_is_kept_just_now_is_not_let_go(run: MadeRun) -> None:
    """Whoever is first decides: the publication came in time."""
    await compacted(run)
    lake = run.lake()
    await lake.keep(1)
    await lake.keep(1)

    assert (await compacted(run, days=38)).let_go == 0

    await lake.close()


async def test_the_last_version_is_kept_however_old(run: MadeRun) -> None:
    report = await compacted(run, days=4_000)

    assert report.let_go == 1  # the compaction's own took its place
    assert (await run.lake().snapshot()).version == 2
    assert await findings(run) == ()


async def test_orphans_stay_a_week_and_as_long_as_they_could_be_committed(run: MadeRun) -> None:
    lake, unfinished = run.lake(), run.unit(800)
    committed = run.units[0].unit_id
    calls = episode_rows(unfinished.episodes[0])["calls"]
    for unit_id in (committed, unfinished.unit_id):
        await lake.put_shards("calls", unit_id, rows=calls)
    before = len(shards(run, "calls"))

    assert (await compacted(run, days=6)).removed == 0
    report = await compacted(run, days=8)

    assert report.removed == 1
    assert len(shards(run, "calls")) == before + 1 - 1
    assert any(path.name.startswith(unfinished.unit_id) for path in shards(run, "calls"))
    await lake.close()


async def test_a_write_that_never_ended_goes_after_a_week_unless_its_writer_lives(
    run: MadeRun,
) -> None:
    log = run.folder / "tables" / "steps" / "_delta_log"
    dead = (log / f"{77:020d}.json#1", log.parent / ".tmp-0123456789abcdef")
    for path in dead:
        path.write_bytes(b"half of it")
    await run.store.put(clock_key(), b"")
    live = run.store.draft("tables/steps")
    live.write(b"as long as it takes")
    assert len((await audit(run.store, deep=False)).leftovers) == 4

    assert (await compacted(run, days=6)).unfinished == 0
    assert all(path.exists() for path in dead)
    assert (await compacted(run, days=8)).unfinished == 3

    assert live.path is not None
    (left,) = [item.key async for item in run.store.unfinished_writes()]
    assert left == f"tables/steps/{live.path.name}"
    live.close()
    assert await findings(run) == ()
    assert (await compacted(run, days=9)).unfinished == 0


async def test_an_upload_that_never_ended_goes_after_a_week(bucket_url: str, weed: "Weed") -> None:
    run = await make_whole_run(bucket_url, units=1)
    place = Address.parse(bucket_url)
    client = weed.client()
    keys = [f"{place.prefix}tables/steps/{number}" for number in range(3)]
    for key in keys:
        upload = client.create_multipart_upload(Bucket=place.bucket, Key=key)["UploadId"]
        client.upload_part(
            Bucket=place.bucket, Key=key, UploadId=upload, PartNumber=1, Body=b"half of it"
        )
    client.put_object(Bucket=place.bucket, Key=f"{place.prefix}.tmp-{7:016x}", Body=b"1")
    other = f"{place.prefix.removesuffix('/')}-of-another-run/tables/steps/0"
    client.create_multipart_upload(Bucket=place.bucket, Key=other)

    assert (await compacted(run, days=6)).unfinished == 0
    assert (await compacted(run, days=8)).unfinished == 4

    assert [item async for item in run.store.unfinished_writes()] == []
    left = client.list_multipart_uploads(Bucket=place.bucket, Prefix=place.prefix[:-1])
    assert [found["Key"] for found in left["Uploads"]] == [other]
    assert await findings(run) == ()


async def test_a_writer_whose_upload_was_given_up_begins_again(bucket_url: str) -> None:
    store = open_store(bucket_url, StorageSection())
    data = bytes(MULTIPART_BYTES + 1)
    given_up = 0
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(store.put_new("tables/steps/large", data))
        while not writing.done() and not given_up:
            given_up = await store.remove_unfinished(NOW + timedelta(days=1))

    assert given_up == 1
    assert writing.result()
    assert (await store.info("tables/steps/large")).size == len(data)
