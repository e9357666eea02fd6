"""Nights in a bucket: a list for each version, whoever comes at the same time, and credentials that end midway."""

import asyncio
from collections.abc import Iterator, Mapping

import pytest
from effort import THOROUGH
from support.runs.memory_run import STORAGE
from support.servers.s3_fault_proxy import Asked, Denial, Flaky
from support.servers.seaweedfs import Weed, credentials
from support.stores.collection_readers import Ids, read_versions
from support.stores.nights import (
    ATTEMPTS,
    TRAJECTORIES,
    add,
    add_at_once,
    manifest_of,
    night,
    objects,
    rows_of,
    run_id,
    take_out,
)

from schemas.errors import BadConfig, Unfinished
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.publish.collection.tidy import tidy
from storage.publish.destinations.protocol import is_version
from storage.publish.destinations.store import StoreDestination
from storage.publish.verify import verify_published


@pytest.fixture
def store(bucket_url: str) -> ObjectStore:
    return open_store(f"{bucket_url}/nights", STORAGE)


def _added(store: ObjectStore, number: int) -> int | None:
    return add(night(number, alike=True), store, number).collection


def _assert_whole(store: ObjectStore, nights: int) -> None:
    """Check that a collection holds the first nights, each once, and a list of each version."""
    there = manifest_of(store)
    assert sorted(one.run for one in there.nights) == [run_id(n) for n in range(1, nights + 1)]
    ids = [row["episode_id"] for row in rows_of(store, "attempts")]
    assert len(ids) == len(set(ids)) == there.counts.attempts == nights * ATTEMPTS
    assert there.counts.trajectories == nights * TRAJECTORIES
    lists = {path for path in objects(store) if is_version(path)}
    assert {file.path for file in there.files if is_version(file.path)} == lists
    audit = asyncio.run(verify_published(StoreDestination(store), deep=True))
    assert audit.findings == ()


def _read(store: ObjectStore, weed: Weed, *versions: int) -> dict[str, list[Ids]]:
    """Return the trajectories that each reader finds in versions."""
    return {
        reader: read_versions(reader, store.url, "trajectories", versions, weed.environment)
        for reader in ("duckdb", "polars")
    }


def test_every_version_of_a_collection_is_read_by_its_list(store: ObjectStore, weed: Weed) -> None:
    _added(store, 1)
    _added(store, 2)
    gone = rows_of(store, "trajectories", "train")[0]["episode_id"]
    withdrawal = take_out(store, gone)
    again = add(night(2, alike=True), store, 2)
    _added(store, 3)

    found = _read(store, weed, 1, 2, 3, 4)
    published = objects(store)
    tidied = asyncio.run(tidy(lambda: StoreDestination(store)))
    after = _read(store, weed, 4)

    assert (withdrawal.version, again.put) == (3, 0)
    assert tidied.versions == (1, 2)
    assert tidied.removed == len(published.keys() - objects(store).keys()) > 2
    for reader, (first, second, third, fourth) in found.items():
        for split, ids in second.items():
            assert ids[: len(first[split])] == first[split]
            assert third[split] == [id_ for id_ in ids if id_ != gone]
            assert fourth[split][: len(third[split])] == third[split]
        assert sum(map(len, fourth.values())) == 3 * TRAJECTORIES - 1
        assert after[reader] == [fourth]
    lists = sorted(filter(is_version, objects(store)))
    assert lists == ["versions/000003.json", "versions/000004.json"]
    audit = asyncio.run(verify_published(StoreDestination(store), deep=True))
    assert (audit.findings, audit.leftovers) == ((), ())


@pytest.mark.parametrize("there", [0, pytest.param(1, marks=pytest.mark.full)])
def test_nights_that_come_at_once_all_get_in(store: ObjectStore, weed: Weed, there: int) -> None:
    for number in range(1, there + 1):
        _added(store, number)
    numbers = range(there + 1, there + (6 if THOROUGH else 3))

    codes = add_at_once(store.url, numbers, weed.environment)
    last = _added(store, numbers[-1] + 1)

    assert codes == [0] * len(numbers)
    _assert_whole(store, numbers[-1] + 1)
    assert manifest_of(store).version == last


@pytest.fixture
def flaky(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flaky]:
    with Flaky(weed.endpoint) as proxy:
        for name, value in credentials(proxy.endpoint).items():
            monkeypatch.setenv(name, value)
        yield proxy


MOMENTS: Mapping[str, str] = {
    "data": "/data/steps/",
    "list": "/versions/",
    "card": "/README.md",
    "manifest": "/manifest.json",
}
"""What is being written when the credentials end."""

EXPIRED = Denial(400, "ExpiredToken", more="<Token-0>planted</Token-0>")


@pytest.mark.parametrize(
    "moment",
    [pytest.param(one, marks=() if one == "card" else pytest.mark.full) for one in MOMENTS],
)
def test_credentials_that_end_midway_are_told_and_the_next_try_ends_it(
    flaky: Flaky, weed: Weed, moment: str
) -> None:
    store = open_store(f"{weed.place()}/nights", STORAGE)
    _added(store, 1)
    before = objects(store)
    ended = list[str]()

    def mood(asked: Asked) -> Denial | None:
        if asked.method == "PUT" and MOMENTS[moment] in asked.path:
            ended.append(asked.path)
        return EXPIRED if ended else None

    flaky.mood = mood
    with pytest.raises((BadConfig, Unfinished), match="the credentials have expired; get new ones"):
        _added(store, 2)
    flaky.mood = lambda _: None

    assert ended
    kept = {path for path in before if not path.startswith(("plots/", "README.md"))}
    assert {path: objects(store)[path] for path in kept} == {path: before[path] for path in kept}
    assert _added(store, 2) == 2
    _assert_whole(store, 2)
