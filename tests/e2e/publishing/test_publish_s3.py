"""A run published to a bucket: the difference only, whatever is cut, and read from there."""

import asyncio
import os

import polars as pl
import pytest
from support.episodes.factories import make_whole_run
from support.runs.memory_run import (
    RULE,
    STORAGE,
    MemorySnapshot,
    make_run_file,
    small_run,
    two_versions,
)
from support.servers.seaweedfs import SECRET_KEY
from support.stores.faulty_lake import Cut
from support.stores.faulty_store import Fuse, FusedStore
from support.stores.memory_store import MemoryStore

from schemas.configuration.sections import AcceptSection, PublishSection
from schemas.errors import Damaged, OtherRun
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.publish.destinations.store import StoreDestination
from storage.publish.publish import PublishReport, publish, publish_to


def _published(snapshot: MemorySnapshot, to: str, run_id: str | None = None) -> PublishReport:
    run = make_run_file() if run_id is None else make_run_file(run_id)
    terms = PublishSection()
    return asyncio.run(publish(snapshot, run, RULE, to, terms=terms, storage=STORAGE))


def _contents(store: ObjectStore) -> dict[str, bytes]:
    async def read() -> dict[str, bytes]:
        return {item.key: await store.get(item.key) async for item in store.list()}

    return asyncio.run(read())


def test_only_the_difference_is_written(bucket_url: str) -> None:
    before, after = two_versions()
    to = f"{bucket_url}/dataset"
    first = _published(before, to)
    old = _contents(open_store(to, STORAGE))

    again = _published(before, to)
    second = _published(after, to)

    new = _contents(open_store(to, STORAGE))
    assert (first.put, again.put, again.deleted) == (len(old), 0, 0)
    assert second.put == len({path for path in new if new[path] != old.get(path)})
    assert second.deleted == len(old.keys() - new.keys())
    with pytest.raises(OtherRun):
        _published(before, to, "f" * 32)


@pytest.mark.parametrize(
    "share",
    [0.6, *(pytest.param(one, marks=pytest.mark.full) for one in (0.0, 0.3, 0.8, 0.9, 1.0))],
)
def test_cut_and_run_again_it_ends_in_the_same_objects(bucket_url: str, share: float) -> None:
    snapshot, terms = two_versions()[1], PublishSection()
    to = f"{bucket_url}/dataset"
    _published(snapshot, to)
    store = open_store(to, STORAGE)
    whole = _contents(store)
    asyncio.run(store.delete(whole))

    moments = 2 * len(whole) + 3  # before and after each object, the mark and its end
    cut = StoreDestination(FusedStore(store, Fuse(int(share * moments))))
    with pytest.raises(Cut):
        asyncio.run(publish_to(snapshot, make_run_file(), RULE, cut, terms=terms, shard_mb=64))
    _published(snapshot, to)

    assert _contents(store) == whole


@pytest.mark.parametrize("harm", ["gone", "torn"])
def test_a_shard_that_cannot_be_read_is_told_of_in_our_words(bucket_url: str, harm: str) -> None:
    async def publish_harmed() -> None:
        made = await make_whole_run(f"{bucket_url}/run")
        [shard, *_] = [
            item.key async for item in made.store.list("tables/steps/") if "_delta" not in item.key
        ]
        if harm == "gone":
            await made.store.delete([shard])
        else:
            await made.store.put(shard, b"PAR1 and nothing else")
        lake = made.lake()
        rule = AcceptSection(passed=("outcome",))
        destination = StoreDestination(MemoryStore())
        try:
            snapshot, terms = await lake.snapshot(), PublishSection()
            await publish_to(snapshot, made.run, rule, destination, terms=terms, shard_mb=64)
        finally:
            await lake.close()

    with pytest.raises(
        Damaged, match=r"cannot be read: .*`stepmill audit RUN --deep` names the file"
    ) as told:
        asyncio.run(publish_harmed())

    said = str(told.value)
    assert not {"\n", "\x1b", "<", "↳"} & {*said}, said
    assert "Error performing" not in said
    assert SECRET_KEY not in said


def test_polars_reads_it_where_it_lies(bucket_url: str) -> None:
    to = f"{bucket_url}/dataset"
    report = _published(small_run(alike=True).seal(), to)

    options = {
        "aws_endpoint_url": os.environ["AWS_ENDPOINT_URL"],
        "aws_access_key_id": os.environ["AWS_ACCESS_KEY_ID"],
        "aws_secret_access_key": os.environ["AWS_SECRET_ACCESS_KEY"],
        "aws_region": os.environ.get("AWS_DEFAULT_REGION", "us-east-1"),
        "aws_allow_http": "true",
    }
    steps = pl.scan_parquet(f"{to}/data/steps/*.parquet", storage_options=options)
    pictures = steps.select(pl.col("screenshot").struct.field("bytes").bin.size().min())

    assert steps.select(pl.len()).collect().item() == report.rows["steps"]
    assert pictures.collect().item() > 100
