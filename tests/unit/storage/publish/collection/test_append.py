"""Nights become one dataset: each comes once, and nothing that is published is written again."""

import ast
import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from effort import THOROUGH
from support.runs.memory_run import (
    RULE,
    TEST,
    TRAIN,
    MemoryRun,
    MemorySnapshot,
    commit_unit,
    make_run_file,
    published,
)
from support.stores.faulty_lake import Cut
from support.stores.faulty_store import Fuse, FusedStore
from support.stores.memory_store import MemoryStore
from support.stores.nights import (
    ATTEMPTS,
    NOVEL,
    add,
    judge_novelty,
    manifest_of,
    night,
    objects,
    rows_of,
    run_id,
    take_out,
    with_goal,
)

from schemas.configuration.sections import PublishSection
from schemas.errors import BadConfig, BadTasks, OtherRun
from storage.objects.local import LocalStore
from storage.objects.protocol import ObjectStore
from storage.objects.temp_object import Source
from storage.publish.collection.append import NightSource, append
from storage.publish.destinations.store import StoreDestination
from storage.publish.plan.manifest import MANIFEST
from storage.publish.verify import verify_published

STRIDE = 1 if THOROUGH else 7
"""From one request at which an append is cut to the next."""

CONFIGS = ("trajectories", "steps", "attempts", "verdicts")


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: object) -> ObjectStore:
    return MemoryStore() if request.param == "memory" else LocalStore(f"{tmp_path}/to")  # type: ignore[arg-type]


def test_each_night_adds_its_rows_behind_those_that_are_there(store: ObjectStore) -> None:
    for number in (1, 2, 3):
        before = {name: rows_of(store, name) for name in CONFIGS} if number > 1 else {}
        old = objects(store)

        report = add(night(number), store, number)

        assert (report.collection, report.night) == (number, number)
        for name, rows in before.items():
            assert rows_of(store, name)[: len(rows)] != []
            splits = {row["split"] for row in rows if "split" in row} or {None}
            for split in splits:
                had = [row for row in rows if row.get("split") == split]
                assert rows_of(store, name, split)[: len(had)] == had
        data = {path: text for path, text in old.items() if path.startswith(("data/", "index/"))}
        assert data.items() <= objects(store).items()

    told = [json.loads(objects(store)[f"versions/00000{n}.json"]) for n in (1, 2, 3)]
    listed = [set(one["configs"]["attempts"]["train"]) for one in told]
    assert listed[0] < listed[1] < listed[2]


def test_a_night_that_is_added_twice_changes_nothing(store: ObjectStore) -> None:
    snapshot = night(1)
    add(snapshot, store, 1)
    add(night(2), store, 2)
    before = objects(store)

    report = add(snapshot, store, 1)

    assert (report.put, report.collection, report.night) == (0, 2, 1)
    assert objects(store) == before


def test_a_run_that_went_on_renews_its_night(store: ObjectStore) -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN)
    add(run.seal(), store, 1)
    add(night(2), store, 2)
    first = rows_of(store, "attempts")
    commit_unit(run, 2, TRAIN)

    report = add(run.seal(), store, 1)

    assert (report.collection, report.night) == (3, 1)
    ids = [row["episode_id"] for row in rows_of(store, "attempts")]
    assert len(ids) == len(set(ids)) == len(first) + 4
    assert [one.version for one in manifest_of(store).nights] == [2, 1]


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_is_a_day_off_changes_no_order(store: ObjectStore, days: int) -> None:
    run = make_run_file(run_id(2), name="night 2")
    begun = run.created_at + timedelta(days=days)
    off = run.model_copy(update={"created_at": begun})
    terms = PublishSection(append=True)
    add(night(1), store, 1)

    source = NightSource(night(2), off, RULE, terms, shard_mb=64)
    report = asyncio.run(append(source, lambda: StoreDestination(store)))
    again = asyncio.run(append(source, lambda: StoreDestination(store)))
    add(night(3), store, 3)

    assert (report.night, again.put) == (2, 0)
    there = manifest_of(store)
    assert [one.run for one in there.nights] == [run_id(n) for n in (1, 2, 3)]
    assert there.nights[1].begun == f"{begun:%Y-%m-%d}"
    assert there.version == 3


def test_what_cannot_be_added_is_refused_before_anything_is_written(store: ObjectStore) -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN)
    older = run.seal()
    commit_unit(run, 2, TRAIN)
    add(run.seal(), store, 1, license="mit")
    before = objects(store)

    with pytest.raises(BadConfig, match="as night 1, and version 1 is older"):
        add(older, store, 1, license="mit")
    with pytest.raises(
        BadConfig, match=r"its licence is mit since night 1, and publish\.license is not set"
    ):
        add(night(2), store, 2)

    assert objects(store) == before


def test_a_collection_and_the_dataset_of_one_run_do_not_mix(tmp_path: object) -> None:
    place = LocalStore(f"{tmp_path}/to")  # type: ignore[arg-type]
    published(night(1), place.root)
    before = objects(place)
    with pytest.raises(OtherRun, match=r"publish RUN1 RUN2 --to PLACE` makes one of both"):
        add(night(2), place, 2)
    assert objects(place) == before

    other = LocalStore(f"{tmp_path}/other")  # type: ignore[arg-type]
    add(night(1), other, 1)
    with pytest.raises(OtherRun, match="holds a collection; --append"):
        published(night(2), other.root)


def test_a_collection_with_a_column_of_a_newer_version_is_refused() -> None:
    place = MemoryStore()
    add(night(1), place, 1)
    told = json.loads(objects(place)[MANIFEST])
    told["columns"]["attempts"].append("mood")
    _write(place, MANIFEST, json.dumps(told).encode())

    with pytest.raises(
        BadConfig, match=r"a newer Stepmill made it, whose `attempts` has the column 'mood'"
    ):
        add(night(2), place, 2)


class _Meanwhile(MemoryStore):
    """A store in which something happens once, just before an object of some name is put."""

    def __init__(self, name: str, act: Callable[[ObjectStore], object]) -> None:
        super().__init__()
        self._name, self._act = name, act
        self.waits = False

    async def put(self, key: str, data: Source) -> None:
        if self.waits and self._name in key:
            self.waits = False
            await asyncio.to_thread(self._act, self)
        await super().put(key, data)


def _write(store: MemoryStore, key: str, data: bytes) -> None:
    _, at = store._objects[key]
    store._objects[key] = (data, at)


@pytest.mark.parametrize("moment", ["data/steps", "README.md"])
def test_of_two_nights_at_once_both_get_in(moment: str) -> None:
    place = _Meanwhile(moment, lambda store: add(night(2), store, 2))
    add(night(1), place, 1)
    place.waits = True

    report = add(night(3), place, 3)

    claimed = moment == "README.md"  # by the third night, when the second one came
    versions = [1, 3, 4] if claimed else [1, 2, 3]
    assert (report.night, report.collection) == (3, versions[-1])
    there = manifest_of(place)
    assert [(one.run, one.added) for one in there.nights] == [
        (run_id(number), version) for number, version in zip((1, 2, 3), versions, strict=True)
    ]
    ids = [row["episode_id"] for row in rows_of(place, "attempts")]
    assert len(ids) == len(set(ids)) == 3 * ATTEMPTS
    audit = asyncio.run(verify_published(StoreDestination(place), deep=True))
    assert (audit.findings, audit.leftovers) == ((), ())
    lists = [path for path in objects(place) if path.startswith("versions/")]
    assert sorted(lists) == [f"versions/{version:06d}.json" for version in versions]


@pytest.mark.parametrize("moment", ["data/steps", "README.md"])
def test_a_withdrawal_while_a_night_is_added_holds_and_the_night_gets_in(moment: str) -> None:
    gone = list[str]()
    place = _Meanwhile(moment, lambda store: take_out(store, *gone))
    add(night(1), place, 1)
    gone.append(rows_of(place, "trajectories", "train")[0]["episode_id"])
    place.waits = True

    report = add(night(2), place, 2)

    assert report.night == 2
    _assert_withdrawn(place, *gone)


def test_a_night_that_is_added_while_episodes_are_withdrawn_gets_in() -> None:
    place = _Meanwhile("README.md", lambda store: add(night(2), store, 2))
    add(night(1), place, 1)
    gone = rows_of(place, "trajectories", "train")[0]["episode_id"]
    place.waits = True

    take_out(place, gone)

    _assert_withdrawn(place, gone)


def _assert_withdrawn(store: ObjectStore, *gone: str) -> None:
    """Check that a collection of two nights has all their attempts but some."""
    ids = [row["episode_id"] for row in rows_of(store, "attempts")]
    assert len(ids) == len(set(ids)) == 2 * ATTEMPTS - len(gone)
    assert not {*gone} & {*ids}
    assert [one.episode for one in manifest_of(store).withdrawn] == [*gone]
    assert asyncio.run(verify_published(StoreDestination(store), deep=True)).findings == ()


def test_the_list_of_a_version_that_never_came_to_be_is_passed_over_and_removed() -> None:
    place = MemoryStore()
    add(night(1), place, 1)
    asyncio.run(place.put("versions/000002.json", b"of a night that was killed"))

    report = add(night(2), place, 2)

    assert report.collection == 3
    assert "versions/000002.json" not in objects(place)
    assert asyncio.run(verify_published(StoreDestination(place), deep=True)).findings == ()


def test_the_card_of_a_bucket_loads_no_file_of_an_earlier_version() -> None:
    place = MemoryStore()
    add(night(1), place, 1)
    take_out(place, rows_of(place, "trajectories", "train")[0]["episode_id"])

    card = objects(place)["README.md"].decode()
    code = card.partition("```python\n")[2].partition("```")[0]

    ast.parse(code, feature_version=(3, 11))
    assert "versions/000002.json" in code
    assert "*" not in code


@pytest.mark.parametrize("start", [0, 1], ids=["first", "next"])
def test_cut_anywhere_and_run_again_it_ends_in_the_same_objects(start: int) -> None:
    nights = [night(number, rejects=()) for number in (1, 2)]
    whole = MemoryStore()
    for number in range(start + 1):
        add(nights[number], whole, number + 1)
    expected, length = objects(whole), 0
    while True:
        place = MemoryStore()
        for number in range(start):
            add(nights[number], place, number + 1)
        try:
            add(nights[start], FusedStore(place, Fuse(length)), start + 1)
            break
        except Cut:
            add(nights[start], place, start + 1)
            assert objects(place) == expected
        length += STRIDE
    assert length > len(expected)


def _novel(near: int, number: int, episodes: int = 1) -> tuple[MemorySnapshot, list[str]]:
    run = MemoryRun()
    made = commit_unit(run, number, TRAIN, tasks=episodes, attempts=1)
    judge_novelty(run, made, near=near)
    return run.seal(), [one.episode_id for one in made]


def test_a_copy_of_another_night_is_left_out_and_counted(store: ObjectStore) -> None:
    first, [original] = _novel(0, 1)
    copy, [copied] = _novel(0, 2)
    add(first, store, 1, rule=NOVEL)

    report = add(copy, store, 2, rule=NOVEL)

    assert report.copies == 1
    [row] = [row for row in rows_of(store, "attempts") if row["episode_id"] == copied]
    assert (row["accepted"], row["duplicate_of"]) == (False, original)
    assert row["rejected_because"] == [
        f"novelty: repeats: a copy of {original}, which another night published"
    ]
    assert [row["episode_id"] for row in rows_of(store, "trajectories")] == [original]
    assert manifest_of(store).nights[1].copies == 1


def test_a_near_copy_of_another_night_says_so_and_stays(store: ObjectStore) -> None:
    first, [original] = _novel(0, 1)
    near, [changed] = _novel(3, 2)
    add(first, store, 1, rule=NOVEL)

    add(near, store, 2, rule=NOVEL)

    rows = {row["episode_id"]: row for row in rows_of(store, "trajectories")}
    assert rows[changed]["near_duplicate_of"] == original
    assert rows[original]["near_duplicate_of"] is None
    assert manifest_of(store).nights[1].near_copies == 1


def test_a_renewed_night_is_no_copy_of_those_after_it(store: ObjectStore) -> None:
    run = MemoryRun()
    first = commit_unit(run, 1, TRAIN, tasks=1, attempts=1)
    judge_novelty(run, first)
    add(run.seal(), store, 1, rule=NOVEL)
    near, _ = _novel(3, 2)
    add(near, store, 2, rule=NOVEL)
    commit_unit(run, 3, TRAIN, tasks=1, attempts=1)

    add(run.seal(), store, 1, rule=NOVEL)

    rows = {row["episode_id"]: row for row in rows_of(store, "trajectories")}
    assert rows[first[0].episode_id]["near_duplicate_of"] is None


def test_what_a_night_published_is_not_held_back_for_one_after_it(store: ObjectStore) -> None:
    mine = with_goal(1, "mine", "Buy the red kettle")
    add(mine, store, 1)
    add(with_goal(2, TEST, "Buy the red kettle"), store, 2)

    report = add(replace(mine, version=2), store, 1)

    assert (report.night, report.held_back) == (1, 0)


def test_what_another_split_shows_is_held_back(store: ObjectStore) -> None:
    add(with_goal(1, TEST, "Buy the red kettle"), store, 1)

    report = add(with_goal(2, TRAIN, "Buy the red kettle"), store, 2)
    other = add(with_goal(3, TRAIN, "Sell the blue pan"), store, 3)

    assert (report.held_back, other.held_back) == (1, 0)
    assert [row["instruction"] for row in rows_of(store, "trajectories", "train")] == [
        "Sell the blue pan"
    ]
    assert [one.held_back for one in manifest_of(store).nights] == [0, 1, 0]


def test_a_split_that_a_run_was_planned_by_is_held_against_the_collection(
    store: ObjectStore,
) -> None:
    add(with_goal(1, "mine", "Buy the red kettle"), store, 1)
    planned = {"split": "test", "split_version": 7}

    with pytest.raises(BadTasks, match="mine of miniwob is in 'test' by version 7 of the registry"):
        add(with_goal(2, "mine", "Sell the blue pan", **planned), store, 2)


def test_a_split_on_which_the_run_and_the_collection_disagree_is_refused_by_name(
    store: ObjectStore,
) -> None:
    add(night(1), store, 1)
    before = objects(store)
    run = night(2)
    run.splits[TRAIN] = "validation"

    with pytest.raises(BadTasks, match=f"{TRAIN}: the run was published with it in 'validation'"):
        add(run, store, 2)

    assert objects(store) == before
