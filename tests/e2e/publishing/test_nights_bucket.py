"""Nights in a bucket on the Hub: a list for each version, one writer at a time, and credentials that end midway."""

import asyncio
import gc
import io
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hub.faults import Fault
from hub.publishing import BUCKET, TO_BUCKET
from hub.server import TOKEN, LocalHub
from support.stores.collection_readers import read_versions
from support.stores.nights import (
    ATTEMPTS,
    TRAJECTORIES,
    add_to,
    night,
    run_id,
    take_out_of,
)

from schemas.backoff import Backoff
from schemas.configuration.sections import PublishSection
from schemas.errors import BadConfig, Conflict, Unfinished
from storage.publish.collection.tidy import tidy
from storage.publish.destinations.hub import bucket_files, errors
from storage.publish.destinations.hub.bucket import BucketDestination
from storage.publish.destinations.protocol import is_version
from storage.publish.plan.manifest import MANIFEST, Manifest, read_manifest
from storage.publish.publish import PublishReport
from storage.publish.verify import verify_published


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = Backoff(first_seconds=0.01, max_seconds=0.01, tries=4)
    monkeypatch.setattr(errors, "_BACKOFF", quick)
    monkeypatch.setattr(bucket_files, "_TRIES", quick)


def _place(hub: LocalHub) -> BucketDestination:
    return BucketDestination(TO_BUCKET, PublishSection(append=True), endpoint=hub.url)


def _added(hub: LocalHub, number: int) -> PublishReport:
    return add_to(lambda: _place(hub), night(number, alike=True), number)


def _manifest(hub: LocalHub) -> Manifest:
    return read_manifest(asyncio.run(_place(hub).read(MANIFEST)), MANIFEST)


def _objects(hub: LocalHub) -> Mapping[str, str]:
    return {path.removeprefix("demo/"): xet for path, xet in hub.objects(BUCKET).items()}


def _assert_whole(hub: LocalHub, nights: int) -> None:
    """Check that a collection holds the first nights, each once, and a list of each version."""
    there = _manifest(hub)
    assert sorted(one.run for one in there.nights) == [run_id(n) for n in range(1, nights + 1)]
    assert there.counts.attempts == nights * ATTEMPTS
    assert there.counts.trajectories == nights * TRAJECTORIES
    lists = {path for path in _objects(hub) if is_version(path)}
    assert {file.path for file in there.files if is_version(file.path)} == lists
    audit = asyncio.run(verify_published(_place(hub), deep=True))
    assert (audit.findings, audit.leftovers) == ((), ())


def test_every_version_of_a_collection_is_read_by_its_list(hub: LocalHub, tmp_path: Path) -> None:
    known = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "home")}
    _added(hub, 1)
    first = _objects(hub)
    _added(hub, 2)
    second = _objects(hub)
    gone = _first_episode(hub)
    withdrawal = take_out_of(lambda: _place(hub), gone)
    again = _added(hub, 2)
    third = _added(hub, 3)
    published = _objects(hub)

    found = read_versions("duckdb", TO_BUCKET, "trajectories", [1, 2, 3, 4], known)
    tidied = asyncio.run(tidy(lambda: _place(hub)))
    [after] = read_versions("duckdb", TO_BUCKET, "trajectories", [4], known)

    data = {path: xet for path, xet in first.items() if path.startswith(("data/", "index/"))}
    assert data.items() <= second.items()
    assert (withdrawal.version, again.put, third.collection) == (3, 0, 4)
    assert tidied.versions == (1, 2)
    assert tidied.removed == len(published.keys() - _objects(hub).keys()) > 2
    flat = [sorted(one for ids in version.values() for one in ids) for version in found]
    assert {*flat[0]} < {*flat[1]} > {*flat[2]} < {*flat[3]}
    assert flat[2] == sorted({*flat[1]} - {gone})
    assert len(flat[3]) == len({*flat[3]}) == 3 * TRAJECTORIES - 1
    assert after == found[3]
    audit = asyncio.run(verify_published(_place(hub), deep=True))
    assert (audit.findings, audit.leftovers) == ((), ())


def test_a_night_published_twice_writes_nothing(hub: LocalHub) -> None:
    _added(hub, 1)
    before = dict(hub.bucket(BUCKET).files)

    report = _added(hub, 1)

    assert (report.put, report.collection) == (0, 1)
    assert hub.bucket(BUCKET).files == before


def _meanwhile(hub: LocalHub, body: str, *, after: bool = False) -> None:
    """Have the second night end on top of the first when a batch comes."""
    files = hub.bucket(BUCKET).files
    before = dict(files)
    _added(hub, 2)
    later = dict(files)
    files.clear()
    files.update(before)
    gone = before.keys() - later.keys()

    def end() -> None:
        files.update({path: entry for path, entry in later.items() if entry != before.get(path)})
        for path in gone:
            files.pop(path, None)

    hub.faults.append(Fault("/batch", body=body, harmless=True, after=after, call=end))


@pytest.mark.parametrize(
    ("body", "after"),
    [("data/steps/", False), ("versions/", True), ("manifest.json", True)],
    ids=["data", "list", "manifest"],
)
def test_a_night_that_another_one_overtakes_is_refused_and_goes_on_when_it_is_run_again(
    hub: LocalHub, body: str, *, after: bool
) -> None:
    _added(hub, 1)
    _meanwhile(hub, body, after=after)

    with pytest.raises(Conflict, match="takes one writer at a time; run this again"):
        _added(hub, 3)

    assert hub.faults[0].times == 0
    assert [one.run for one in _manifest(hub).nights] == [run_id(1), run_id(2)]
    report = _added(hub, 3)
    there = _manifest(hub)
    assert [one.run for one in there.nights] == [run_id(n) for n in (1, 2, 3)]
    assert report.night == 3
    _assert_whole(hub, 3)


def test_a_withdrawal_that_a_night_overtakes_is_refused_and_goes_on_when_it_is_run_again(
    hub: LocalHub,
) -> None:
    _added(hub, 1)
    gone = _first_episode(hub)
    _meanwhile(hub, "manifest.json", after=True)

    with pytest.raises(Conflict, match="takes one writer at a time; run this again"):
        take_out_of(lambda: _place(hub), gone)

    assert [one.run for one in _manifest(hub).nights] == [run_id(1), run_id(2)]
    take_out_of(lambda: _place(hub), gone)
    assert [one.episode for one in _manifest(hub).withdrawn] == [gone]
    audit = asyncio.run(verify_published(_place(hub), deep=True))
    assert (audit.findings, audit.leftovers) == ((), ())


def test_a_second_writer_that_is_seen_while_it_is_tidied_is_left_alone(hub: LocalHub) -> None:
    _added(hub, 1)
    take_out_of(lambda: _place(hub), _first_episode(hub))
    _meanwhile(hub, "manifest.json", after=True)

    with pytest.raises(Conflict, match="another publication ended here meanwhile"):
        asyncio.run(tidy(lambda: _place(hub)))

    assert len(_manifest(hub).nights) == 2
    asyncio.run(tidy(lambda: _place(hub)))
    audit = asyncio.run(verify_published(_place(hub), deep=True))
    assert (audit.findings, audit.leftovers) == ((), ())


def _first_episode(hub: LocalHub) -> str:
    path = next(path for path in sorted(_objects(hub)) if "trajectories/train-" in path)
    table = pq.read_table(io.BytesIO(asyncio.run(_place(hub).read(path))))
    return str(table["episode_id"][0])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("/xet-write-token", status=401, spare=4, times=9), "does not know the token"),
        (Fault("/batch", status=401, spare=2), "does not know the token"),
        (Fault("/batch", status=403, body="manifest.json"), "does not allow it .403."),
        (Fault("/resolve/", status=401, spare=9), "does not know the token"),
    ],
    ids=["upload", "batch", "rights", "look"],
)
def test_a_token_that_ends_midway_is_told_and_the_next_try_ends_it(
    hub: LocalHub, fault: Fault, words: str
) -> None:
    _added(hub, 1)
    before = _objects(hub)
    hub.faults.append(fault)

    with pytest.raises((BadConfig, Unfinished), match=words) as told:
        _added(hub, 2)
    hub.faults.clear()
    assert TOKEN not in str(told.value)
    del told  # its frames hold the folder of chunks, which the local Hub is to read
    gc.collect()

    kept = {path for path in before if not path.startswith(("plots/", "README.md"))}
    assert {path: _objects(hub)[path] for path in kept} == {path: before[path] for path in kept}
    report = _added(hub, 2)
    assert (report.collection, report.night) == (2, 2)
    _assert_whole(hub, 2)
