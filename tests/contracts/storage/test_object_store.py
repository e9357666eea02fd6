"""What every object store honours, whatever it is made of."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.stores.memory_store import MemoryStore

from schemas.configuration.sections import StorageSection
from schemas.errors import Conflict
from storage.objects.local import LocalStore
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.urls import open_store


@pytest.fixture(params=["local", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "s3":
        return open_store(request.getfixturevalue("bucket_url"), StorageSection())
    return LocalStore(tmp_path / "store") if request.param == "local" else MemoryStore()


async def keys(store: ObjectStore, prefix: str = "") -> set[str]:
    found = [item.key async for item in store.list(prefix)]
    assert len(found) == len(set(found))
    return set(found)


async def test_what_was_put_is_read_back(store: ObjectStore) -> None:
    await store.put("a/b.bin", b"\x00one")

    assert await store.get("a/b.bin") == b"\x00one"


async def test_a_put_replaces_what_was_there(store: ObjectStore) -> None:
    await store.put("a", b"a long first object")
    await store.put("a", b"short")

    assert await store.get("a") == b"short"


async def test_an_empty_object_is_an_object(store: ObjectStore) -> None:
    await store.put("empty", b"")

    assert await store.get("empty") == b""
    assert await keys(store) == {"empty"}


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [(0, 3, b"012"), (4, None, b"456789"), (8, 100, b"89"), (20, None, b""), (5, 5, b"")],
)
async def test_a_slice_is_read_alone(
    store: ObjectStore, start: int, stop: int | None, expected: bytes
) -> None:
    await store.put("digits", b"0123456789")

    assert await store.get("digits", start=start, stop=stop) == expected


async def test_an_object_that_is_not_there_is_named(store: ObjectStore) -> None:
    await store.put("a/b", b"1")

    for key in ("nothing", "a", "a/b/c"):
        with pytest.raises(Missing, match=key):
            await store.get(key)
        with pytest.raises(Missing, match=key):
            await store.info(key)


async def test_information_is_what_the_listing_says(store: ObjectStore) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    await store.put("a/b", b"1234")

    info = await store.info("a/b")

    assert [item async for item in store.list()] == [info]
    assert (info.key, info.size) == ("a/b", 4)
    assert before < info.modified < datetime.now(UTC) + timedelta(seconds=2)


async def test_only_the_first_of_two_new_objects_is_kept(store: ObjectStore) -> None:
    assert await store.put_new("a", b"first")
    assert not await store.put_new("a", b"second")

    assert await store.get("a") == b"first"


async def test_of_many_writers_of_a_new_object_one_wins(store: ObjectStore) -> None:
    for turn in range(5):
        contents = [f"{turn}-{writer}".encode() for writer in range(8)]
        async with asyncio.TaskGroup() as group:
            writers = [group.create_task(store.put_new(f"{turn}", data)) for data in contents]

        won = [data for writer, data in zip(writers, contents, strict=True) if writer.result()]

        assert [await store.get(f"{turn}")] == won


async def test_only_what_was_read_is_replaced(store: ObjectStore) -> None:
    await store.put("a", b"one")
    await store.replace("a", b"two", expected=b"one")

    with pytest.raises(Conflict, match="a"):
        await store.replace("a", b"three", expected=b"one")
    with pytest.raises(Conflict, match="b"):
        await store.replace("b", b"three", expected=b"")

    assert await store.get("a") == b"two"
    assert await keys(store) == {"a"}


async def test_no_replacement_is_lost_between_many_writers(store: ObjectStore) -> None:
    await store.put("counter", b"0")

    async def add_one() -> None:
        while True:
            read = await store.get("counter")
            try:
                await store.replace("counter", str(int(read) + 1).encode(), expected=read)
            except Conflict:
                continue
            return

    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(add_one())

    assert await store.get("counter") == b"20"


async def test_the_listing_is_flat_and_by_prefix_of_the_name(store: ObjectStore) -> None:
    for key in ("a/b/c", "a/b/d", "a/bc", "a-b", "b"):
        await store.put(key, b"")

    assert await keys(store) == {"a/b/c", "a/b/d", "a/bc", "a-b", "b"}
    assert await keys(store, "a") == {"a/b/c", "a/b/d", "a/bc", "a-b"}
    assert await keys(store, "a/b") == {"a/b/c", "a/b/d", "a/bc"}
    assert await keys(store, "a/b/") == {"a/b/c", "a/b/d"}
    assert await keys(store, "c/") == set()


async def test_a_store_nobody_wrote_to_is_empty(store: ObjectStore) -> None:
    assert await keys(store) == set()
    assert [item async for item in store.unfinished_writes()] == []
    await store.delete(["nothing", "not/here"])


async def test_deleted_objects_are_gone_and_the_others_stay(store: ObjectStore) -> None:
    for key in ("a/b", "a/c", "a/d/e"):
        await store.put(key, b"1")

    await store.delete(["a/b", "a/d/e", "a/x"])

    assert await keys(store) == {"a/c"}
    with pytest.raises(Missing):
        await store.get("a/b")


@pytest.mark.parametrize("store", ["local", "memory"], indirect=True)  # SeaweedFS has folders too
async def test_a_name_is_free_again_after_its_folder_was_emptied(store: ObjectStore) -> None:
    await store.put("a/b", b"1")
    await store.delete(["a/b"])

    assert await store.put_new("a", b"2")


async def test_writers_and_removers_of_one_folder_do_not_hinder_each_other(
    store: ObjectStore,
) -> None:
    async def put_and_delete(name: str) -> None:
        for _ in range(25):
            assert await store.put_new(f"folder/{name}", b"1")
            await store.delete([f"folder/{name}"])

    async with asyncio.TaskGroup() as group:
        for name in "abcd":
            group.create_task(put_and_delete(name))

    assert await keys(store) == set()


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../a",
        "a/../b",
        "a/./b",
        "a//b",
        "a/",
        "a\\b",
        "a\0b",
        "a\nb",
        "x" * 256,
        ".tmp-0123456789abcdef",
    ],
)
async def test_a_key_that_leaves_the_store_is_refused(store: ObjectStore, key: str) -> None:
    with pytest.raises(ValueError, match="invalid key"):
        await store.put(key, b"")
    with pytest.raises(ValueError, match="invalid key"):
        await store.put_new(key, b"")
    with pytest.raises(ValueError, match="invalid key"):
        await store.get(key)
    with pytest.raises(ValueError, match="invalid key"):
        await store.delete([key])

    assert await keys(store) == set()


@pytest.mark.parametrize("key", ["ünïcode", "a b", "a#1", "a:b", ".hidden", "_under", "x" * 255])
async def test_an_unusual_name_is_a_name(store: ObjectStore, key: str) -> None:
    await store.put(f"folder/{key}", b"1")

    assert await keys(store) == {f"folder/{key}"}


async def test_a_probe_leaves_nothing(store: ObjectStore) -> None:
    await store.probe()

    assert await keys(store) == set()
    assert [item async for item in store.unfinished_writes()] == []


async def test_what_ended_is_never_given_up(store: ObjectStore) -> None:
    await store.put("a/b", b"1")

    assert await store.remove_unfinished(datetime.now(UTC) + timedelta(days=400)) == 0

    assert await keys(store) == {"a/b"}
