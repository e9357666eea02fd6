"""A run's storage on a bad day of its store: nothing is lost, nothing is there twice.

The store is real; a proxy before it fails, delays, cuts and loses answers. What is proved of the
whole program on a folder is proved here of its storage alone, on a bucket.
"""

from collections.abc import Callable, Iterator

import pytest
from support.episodes.factories import MadeRun, commit_whole_unit, make_run, make_verdict
from support.servers.s3_fault_proxy import Asked, Flaky, Mood, Spoil, one_in
from support.servers.seaweedfs import Weed, credentials
from support.stores.faulty_lake import commit, counts, whole

from schemas.backoff import Backoff
from schemas.configuration.sections import StorageSection
from schemas.errors import Conflict, Unwritable
from storage.audit import audit
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.urls import open_store
from storage.spool import Spool

BIG = 11 << 20
"""Bytes that go up in three parts."""


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for what never comes; send parts of the smallest size that S3 takes."""
    monkeypatch.setattr("storage.objects.s3.bucket_client.READ_SECONDS", 6.0)
    monkeypatch.setattr(
        "storage.objects.s3.bucket_client._DELTA_OPTIONS",
        {"aws_conditional_put": "etag", "timeout": "2s", "max_retries": "8"},
    )
    monkeypatch.setattr("storage.objects.s3.bulk_requests.MULTIPART_BYTES", 5 << 20)
    monkeypatch.setattr("storage.objects.s3.bulk_requests.PART_BYTES", 5 << 20)


@pytest.fixture
def flaky(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flaky]:
    with Flaky(weed.endpoint) as proxy:
        for name, value in credentials(proxy.endpoint).items():
            monkeypatch.setenv(name, value)
        yield proxy


@pytest.fixture
def place(flaky: Flaky, weed: Weed) -> str:
    del flaky  # it is what the place is reached by
    return weed.place()


@pytest.fixture
def store(place: str) -> ObjectStore:
    return open_store(place, StorageSection())


def once(spoil: Spoil, when: Callable[[Asked], bool]) -> Mood:
    """Return the mood to spoil the first request of a kind."""
    left = [spoil]

    def mood(asked: Asked) -> Spoil | None:
        return left.pop() if left and when(asked) else None

    return mood


def is_put(asked: Asked) -> bool:
    return asked.method == "PUT"


def is_join(asked: Asked) -> bool:
    return asked.method == "POST" and "uploadId" in asked.query


async def test_one_request_in_ten_spoiled_changes_no_outcome(
    store: ObjectStore, flaky: Flaky
) -> None:
    flaky.mood = one_in(10, seed=1)
    wanted = {f"a/{number}": f"{number}".encode() for number in range(40)}

    assert [await store.put_new(key, data) for key, data in wanted.items()] == [True] * 40
    assert [await store.put_new(key, b"other") for key in wanted] == [False] * 40
    await store.put("counter", b"0")
    for number in range(20):
        now, then = str(number).encode(), str(number + 1).encode()
        await store.replace("counter", then, expected=now)
        with pytest.raises(Conflict):
            await store.replace("counter", b"x", expected=now)

    assert {item.key async for item in store.list("a/")} == wanted.keys()
    assert {key: await store.get(key) for key in wanted} == wanted
    assert await store.get("counter") == b"20"
    await store.delete([*wanted, "counter"])
    assert [item async for item in store.list()] == []
    await store.probe()
    assert flaky.met.keys() > {Spoil.LOST, Spoil.CUT, Spoil.SILENCE, Spoil.SLOW_DOWN}


async def test_a_new_object_whose_answer_was_lost_is_known_as_ours(
    store: ObjectStore, flaky: Flaky
) -> None:
    flaky.mood = once(Spoil.LOST, is_put)

    assert await store.put_new("a", b"1")

    assert flaky.met[Spoil.LOST] == 1
    assert not await store.put_new("a", b"1")  # the same bytes, and yet not ours


async def test_a_replacement_whose_answer_was_lost_is_known_as_ours(
    store: ObjectStore, flaky: Flaky
) -> None:
    await store.put("a", b"1")
    flaky.mood = once(Spoil.LOST, is_put)

    await store.replace("a", b"2", expected=b"1")

    assert flaky.met[Spoil.LOST] == 1
    assert await store.get("a") == b"2"


@pytest.mark.parametrize("spoil", [Spoil.LOST, Spoil.ERROR, Spoil.CHANGED])
async def test_a_large_object_is_whole_whatever_its_end_is_met_with(
    store: ObjectStore, flaky: Flaky, spoil: Spoil
) -> None:
    data = bytes(range(256)) * (BIG // 256)
    flaky.mood = once(spoil, is_join)

    assert await store.put_new("big", data)

    assert flaky.met[spoil] == 1
    assert await store.get("big") == data
    assert not await store.put_new("big", data)
    assert [item async for item in store.unfinished_writes()] == []


async def test_a_large_object_is_replaced_only_if_it_is_what_was_read(store: ObjectStore) -> None:
    first, second = bytes(BIG), b"\1" * BIG
    await store.put("big", first)

    await store.replace("big", second, expected=first)
    with pytest.raises(Conflict):
        await store.replace("big", first, expected=first)

    assert await store.get("big") == second
    assert [item async for item in store.unfinished_writes()] == []


async def test_an_upload_that_was_left_is_shown_and_is_no_object(
    store: ObjectStore, flaky: Flaky, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if whoever wrote it had been killed: neither its end nor its being given up arrives."""
    monkeypatch.setattr(
        "storage.objects.s3.retry.BACKOFF", Backoff(first_seconds=0.1, max_seconds=0.1, tries=2)
    )
    flaky.mood = lambda asked: Spoil.ERROR if "uploadId" in asked.query else None

    with pytest.raises(Unwritable, match=r"a/big: cannot be written"):
        await store.put("a/big", bytes(BIG))
    flaky.mood = lambda _: None

    assert [item.key async for item in store.unfinished_writes()] == ["a/big"]
    assert [item async for item in store.list()] == []
    with pytest.raises(Missing):
        await store.get("a/big")


@pytest.mark.parametrize("spoil", [Spoil.ERROR, Spoil.SLOW_DOWN, Spoil.SILENCE])
async def test_a_store_that_never_gets_better_is_given_up(
    store: ObjectStore, flaky: Flaky, monkeypatch: pytest.MonkeyPatch, spoil: Spoil
) -> None:
    monkeypatch.setattr(
        "storage.objects.s3.retry.BACKOFF", Backoff(first_seconds=0.1, max_seconds=0.1, tries=3)
    )
    flaky.mood = lambda _: spoil

    with pytest.raises(Unwritable, match=r"a: cannot be written: the store (keeps|does not)"):
        await store.put_new("a", b"1")

    assert flaky.met[spoil] == 3


async def test_a_commit_whose_answer_was_lost_is_found_and_not_repeated(
    place: str, flaky: Flaky
) -> None:
    run = await make_run(place)
    lake = run.lake()
    unit = run.unit(0)
    lost: set[str] = set()

    def mood(asked: Asked) -> Spoil | None:
        if is_put(asked) and "_delta_log" in asked.path and asked.path not in lost:
            lost.add(asked.path)
            return Spoil.LOST
        return None

    flaky.mood = mood

    assert await commit(lake, unit)
    assert not await commit(lake, unit)

    assert len(lost) >= 12  # each of six tables was made, and written to
    await _assert_once(run, lake_units=[unit.unit_id])
    assert counts(run) == whole(unit)
    await lake.close()


async def test_a_run_finishes_on_a_day_when_one_request_in_ten_fails(
    place: str, flaky: Flaky
) -> None:
    run = await make_run(place)
    lake, spool = run.lake(), Spool(run.store)
    units = [run.unit(number * 10) for number in range(2)]
    flaky.mood = one_in(10, seed=1)

    for unit in units:
        for episode in unit.episodes:
            assert await spool.put(episode)
        held = [await spool.get(unit.unit_id, e.episode_id) for e in unit.episodes]
        assert await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=held)
        verdicts = [make_verdict(episode) for episode in await lake.episodes(unit.unit_id)]
        assert await lake.commit_verdicts(
            unit.unit_id, verifier="outcome", version="1", round_=0, verdicts=verdicts
        )
        await spool.discard(unit.unit_id)
    assert await lake.seal() == 1
    assert len(await lake.verdicts(version=1)) == 8
    report = await audit(run.store, deep=True)

    assert report.findings == ()
    assert sum(n for spoil, n in flaky.met.items() if spoil) > 10
    flaky.mood = lambda _: None
    await _assert_once(run, lake_units=[unit.unit_id for unit in units])
    assert counts(run) == whole(*units)
    await lake.close()


async def _assert_once(run: MadeRun, *, lake_units: list[str]) -> None:
    lake = run.lake()
    assert await lake.committed_units() == set(lake_units)
    await lake.close()
    report = await audit(run.store, deep=True)
    assert report.findings == ()
    assert report.leftovers == ()
