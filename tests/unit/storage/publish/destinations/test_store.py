"""Publishing to an object store, where nothing can be locked: a bucket, above all."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from effort import THOROUGH
from support.runs.memory_run import (
    RULE,
    STORAGE,
    MemorySnapshot,
    make_run_file,
    small_run,
    two_versions,
)
from support.stores.faulty_lake import Cut
from support.stores.faulty_store import Fuse, FusedStore
from support.stores.memory_store import MemoryStore

from schemas.configuration.sections import PublishSection
from schemas.errors import Conflict, OtherRun, Unwritable
from storage.objects.local import LocalStore
from storage.objects.protocol import ObjectStore
from storage.objects.temp_object import Source
from storage.publish.destinations.store import StoreDestination
from storage.publish.publish import PublishReport, publish_to

_THEIRS = "f" * 32

STRIDE = 1 if THOROUGH else 9
"""From one request at which a publication is cut to the next; `test_interrupted` tries others."""


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    return MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "to")


def _published(
    snapshot: MemorySnapshot,
    store: ObjectStore,
    *,
    run_id: str | None = None,
    include_rejected: bool = False,
) -> PublishReport:
    terms = PublishSection(include_rejected=include_rejected)
    run = make_run_file() if run_id is None else make_run_file(run_id)
    work = publish_to(
        snapshot, run, RULE, StoreDestination(store), terms=terms, shard_mb=STORAGE.shard_mb
    )
    return asyncio.run(work)


def _contents(store: ObjectStore) -> dict[str, bytes]:
    async def read() -> dict[str, bytes]:
        return {item.key: await store.get(item.key) async for item in store.list()}

    return asyncio.run(read())


def test_the_same_version_again_changes_nothing(store: ObjectStore) -> None:
    first = _published(small_run().seal(), store)
    before = _contents(store)

    second = _published(small_run().seal(), store)

    assert (first.put, second.put, second.deleted) == (len(before), 0, 0)
    assert _contents(store) == before


def test_a_later_version_writes_only_the_difference(store: ObjectStore) -> None:
    before, after = two_versions()
    _published(before, store)
    old = _contents(store)

    report = _published(after, store)

    new = _contents(store)
    assert report.put == len({path for path in new if new[path] != old.get(path)})
    assert report.deleted == len(old.keys() - new.keys()) > 0
    assert ".publishing" not in new


@pytest.mark.parametrize("start", [0, 1], ids=["first", "update"])
def test_cut_anywhere_and_run_again_it_ends_in_the_same_objects(start: int) -> None:
    versions = two_versions()
    whole = MemoryStore()
    for snapshot in versions[1 - start :]:
        _published(snapshot, whole)
    expected, length = _contents(whole), 0
    while True:
        store = MemoryStore()
        if start:
            _published(versions[0], store)
        try:
            _published(versions[1], FusedStore(store, Fuse(length)))
            break
        except Cut:
            _published(versions[1], store)
            assert _contents(store) == expected
        length += STRIDE

    assert length > 2 * len(expected)


class _Meanwhile(MemoryStore):
    """A store in which something happens just before an object of a name is written."""

    def __init__(self, key: str, act: Callable[[], None]) -> None:
        super().__init__()
        self._key = key
        self._act: Callable[[], None] | None = act

    async def put_new(self, key: str, data: Source) -> bool:
        self._happen(key)
        return await super().put_new(key, data)

    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        self._happen(key)
        await super().replace(key, data, expected=expected)

    def _happen(self, key: str) -> None:
        if key == self._key and self._act is not None:
            act, self._act = self._act, None
            act()


def _write(store: MemoryStore, key: str, data: bytes) -> None:
    store._objects[key] = (data, make_run_file().created_at)


def test_of_two_runs_that_find_the_same_empty_place_one_is_refused() -> None:
    place: MemoryStore = _Meanwhile(
        ".publishing", lambda: _write(place, ".publishing", _THEIRS.encode())
    )

    with pytest.raises(OtherRun, match="another run began to publish here at the same time"):
        _published(small_run().seal(), place)

    assert set(_contents(place)) == {".publishing"}


def test_a_publication_that_another_overtook_says_so_and_can_be_run_again() -> None:
    versions = two_versions()
    other = _other_manifest()
    place: MemoryStore = _Meanwhile("manifest.json", lambda: _write(place, "manifest.json", other))

    with pytest.raises(Conflict, match="another publication ended here meanwhile; run this again"):
        _published(versions[1], place)
    _published(versions[1], place)

    whole = MemoryStore()
    _published(versions[1], whole)
    assert _contents(place) == _contents(whole)


def _other_manifest() -> bytes:
    """Return the manifest of the earlier version."""
    store = MemoryStore()
    _published(two_versions()[0], store)
    return _contents(store)["manifest.json"]


def test_a_manifest_whose_answer_was_lost_is_no_conflict() -> None:
    whole = MemoryStore()
    _published(small_run().seal(), whole)
    manifest = _contents(whole)["manifest.json"]
    lost: MemoryStore = _Meanwhile("manifest.json", lambda: _write(lost, "manifest.json", manifest))

    _published(small_run().seal(), lost)

    assert _contents(lost) == _contents(whole)


def test_what_is_something_else_is_refused_and_left_alone(store: ObjectStore) -> None:
    asyncio.run(store.put("thesis.txt", b"precious"))

    with pytest.raises(Unwritable, match=r"is not empty .*thesis\.txt"):
        _published(small_run().seal(), store)

    assert _contents(store) == {"thesis.txt": b"precious"}


def test_another_runs_dataset_is_refused(store: ObjectStore) -> None:
    _published(small_run().seal(), store, run_id=_THEIRS)
    before = _contents(store)

    with pytest.raises(OtherRun, match=rf"another run \({_THEIRS}"):
        _published(small_run().seal(), store)

    assert _contents(store) == before


def test_readers_of_a_bucket_are_given_its_files() -> None:
    report = _published(small_run().seal(), MemoryStore("s3://bucket/data"))

    assert report.loading[1] == (
        'data = load_dataset("parquet", data_files={"train": '
        '"s3://bucket/data:/data/steps/train-*.parquet"}, split="train")'
    )
