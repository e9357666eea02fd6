"""Withdrawn episodes leave the newest version at once, and never come back."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.runs.memory_run import (
    RULE,
    TRAIN,
    MemoryRun,
    commit_unit,
    published,
    small_run,
    tables_of,
)
from support.stores.faulty_lake import Cut
from support.stores.faulty_store import Fuse, FusedStore
from support.stores.memory_store import MemoryStore
from support.stores.nights import (
    add,
    manifest_of,
    night,
    objects,
    rows_of,
    table_of,
    take_out,
)

from schemas.errors import Damaged, NotFound
from storage.lake.withdrawals import (
    RunWithdrawal,
    Withdrawals,
    add_withdrawals,
    read_withdrawals,
    withdrawals_of,
)
from storage.objects.local import LocalStore
from storage.objects.protocol import ObjectStore
from storage.publish.collection.tidy import tidy
from storage.publish.destinations.store import StoreDestination
from storage.publish.plan.manifest import rows_by_config
from storage.publish.plan.selection import select
from storage.publish.verify import verify_published

BY_EPISODE = ("trajectories", "steps", "attempts", "verdicts")


@pytest.fixture
def place() -> MemoryStore:
    store = MemoryStore()
    for number in (1, 2, 3):
        add(night(number), store, number)
    return store


def _holding(there: dict[str, bytes], listed: set[str], episode: str) -> list[str]:
    """Return the data files with a row of an episode."""
    return [
        path
        for path in sorted(listed)
        if path.endswith(".parquet")
        and any(
            episode in table_of(there, path)[name].to_pylist()
            for name in table_of(there, path).column_names
            if name.endswith("episode_id")
        )
    ]


def test_rows_and_pictures_are_gone_from_the_newest_version(place: MemoryStore) -> None:
    before = {name: rows_of(place, name) for name in BY_EPISODE}
    episode = before["trajectories"][0]["episode_id"]
    old = manifest_of(place)

    report = take_out(place, episode)

    new = manifest_of(place)
    assert (report.version, new.version) == (old.version + 1, old.version + 1)
    listed = {file.path for file in new.files}
    assert _holding(objects(place), listed, episode) == []
    for name in BY_EPISODE:
        assert rows_of(place, name) == [r for r in before[name] if r["episode_id"] != episode]
    [withdrawn] = new.withdrawn
    assert (withdrawn.episode, withdrawn.reason) == (episode, "it shows a name")
    assert asyncio.run(verify_published(StoreDestination(place), deep=True)).findings == ()


def test_the_rows_that_stay_are_in_the_order_of_the_nights() -> None:
    place = MemoryStore()
    for number in (9, 5, 7):
        add(night(number, alike=True), place, number)
    listed = _listed_attempts(place, 3)

    take_out(place, rows_of(place, "trajectories")[0]["episode_id"])

    labels = [path.rpartition("/")[2].split("-")[1] for path in listed]
    assert labels == ["00000009", "00000005", "00000007"]
    assert _listed_attempts(place, 4)[1:] == listed[1:]


def _listed_attempts(store: MemoryStore, version: int) -> list[str]:
    """Return the files of attempts of one split in the order of a version's list."""
    told = json.loads(objects(store)[f"versions/{version:06d}.json"])
    return [str(path) for path in told["configs"]["attempts"]["train"]]


def test_only_files_that_hold_the_rows_are_written_anew(place: MemoryStore) -> None:
    episode = rows_of(place, "trajectories")[0]["episode_id"]
    old = manifest_of(place)
    held = _holding(objects(place), {file.path for file in old.files}, episode)

    take_out(place, episode)

    kept = {file.path for file in old.files} & {file.path for file in manifest_of(place).files}
    of_tasks = [f.path for f in old.files if f.config in ("tasks", "results") and f.night == 1]
    gone = {f.path for f in old.files if f.config or f.night} - kept
    assert set(held) <= gone <= {*held, *of_tasks}


def test_results_and_tallies_are_counted_again(place: MemoryStore) -> None:
    row = rows_of(place, "attempts")[0]

    take_out(place, row["episode_id"])

    manifest = manifest_of(place)
    attempts = rows_of(place, "attempts")
    assert manifest.counts.episodes == len(attempts)
    assert manifest.counts.accepted == sum(one["accepted"] for one in attempts)
    assert manifest.nights[0].withdrawn == 1
    assert manifest.nights[0].published == sum(
        one["accepted"] for one in attempts if one["task_id"] in _tasks_of_night(place, 1)
    )
    left = [one for one in attempts if one["task_id"] == row["task_id"]]
    [result] = [one for one in rows_of(place, "results") if one["task_id"] == row["task_id"]]
    assert result["attempts"] == len(left) == 1


def _tasks_of_night(place: MemoryStore, number: int) -> set[str]:
    there = objects(place)
    files = [f for f in manifest_of(place).files if (f.config, f.night) == ("tasks", number)]
    return {str(task) for f in files for task in table_of(there, f.path)["task_id"].to_pylist()}


def test_a_task_of_which_no_attempt_is_left_goes_too(place: MemoryStore) -> None:
    row = rows_of(place, "attempts")[0]
    both = [r["episode_id"] for r in rows_of(place, "attempts") if r["task_id"] == row["task_id"]]

    take_out(place, *both)

    assert row["task_id"] not in {one["task_id"] for one in rows_of(place, "tasks")}
    assert row["task_id"] not in {one["task_id"] for one in rows_of(place, "results")}


def test_what_was_withdrawn_is_told_and_changes_nothing(place: MemoryStore) -> None:
    episode = rows_of(place, "trajectories")[0]["episode_id"]
    take_out(place, episode)
    before = objects(place)

    report = take_out(place, episode, episode)

    assert (report.withdrawn, report.before) == ((), (episode,))
    assert objects(place) == before


def test_an_unknown_episode_changes_nothing(place: MemoryStore) -> None:
    known, before = rows_of(place, "trajectories")[0]["episode_id"], objects(place)

    with pytest.raises(NotFound, match="has no episode ffff"):
        take_out(place, known, "f" * 32)

    assert objects(place) == before


def test_no_later_publication_brings_it_back(place: MemoryStore) -> None:
    episode = rows_of(place, "trajectories")[0]["episode_id"]
    take_out(place, episode)

    add(night(1), place, 1)
    add(night(4), place, 4)
    again = objects(place)
    add(night(1), place, 1)

    listed = {file.path for file in manifest_of(place).files}
    assert _holding(objects(place), listed, episode) == []
    assert objects(place) == again


def test_cut_anywhere_and_run_again_it_is_withdrawn_once() -> None:
    length = 0
    while True:
        place = MemoryStore()
        add(night(1, rejects=()), place, 1)
        episode = rows_of(place, "trajectories")[0]["episode_id"]
        try:
            take_out(FusedStore(place, Fuse(length)), episode)
            break
        except Cut:
            take_out(place, episode)
            listed = {file.path for file in manifest_of(place).files}
            assert _holding(objects(place), listed, episode) == []
            assert [one.episode for one in manifest_of(place).withdrawn] == [episode]
        length += 9
    assert length > 10


def test_compaction_removes_what_older_versions_have(place: MemoryStore) -> None:
    episode = rows_of(place, "trajectories")[0]["episode_id"]
    take_out(place, episode)
    there = objects(place)
    assert _holding(there, {*there}, episode) != []
    rows = rows_of(place, "attempts")

    report = asyncio.run(tidy(lambda: StoreDestination(place)))

    there = objects(place)
    assert _holding(there, {*there}, episode) == []
    assert rows_of(place, "attempts") == rows
    assert report.versions == (1, 2, 3)
    assert [path for path in there if path.startswith("versions/")] == ["versions/000004.json"]
    assert asyncio.run(verify_published(StoreDestination(place), deep=True)).findings == ()


def test_the_dataset_of_one_run_loses_them_too(tmp_path: Path) -> None:
    published(small_run().seal(), tmp_path)
    place = LocalStore(tmp_path)
    episode = rows_of(place, "trajectories")[0]["episode_id"]
    there = {path: text for path, text in objects(place).items() if path.endswith(".parquet")}

    take_out(place, episode)

    now = objects(place)
    assert _holding(now, {*now}, episode) == []
    assert len([path for path in now if path.endswith(".parquet")]) == len(there)
    card = now["README.md"].decode()
    assert "1 episode was withdrawn after this was published" in card
    assert "plots/filmstrip.png" not in card
    assert "plots/filmstrip.png" not in now
    rows = rows_by_config(manifest_of(place).files)
    assert sum(rows["attempts"].values()) == manifest_of(place).counts.attempts
    report = published(small_run().seal(), tmp_path)
    assert report.episodes == manifest_of(place).counts.episodes
    assert _holding(objects(place), {*objects(place)}, episode) == []


def test_an_empty_place_has_nothing_to_withdraw() -> None:
    with pytest.raises(NotFound, match="holds no published dataset"):
        take_out(MemoryStore(), "f" * 32)


def test_a_run_leaves_out_what_was_withdrawn_from_it(tmp_path: Path) -> None:
    run = MemoryRun()
    episodes = commit_unit(run, 1, TRAIN)
    gone = episodes[0].episode_id
    snapshot = replace(run.seal(), gone=(gone,))

    chosen = select(tables_of(snapshot), RULE, include_rejected=True)

    assert [one.episode_id for one in chosen.candidates] != []
    assert gone not in {one.episode_id for one in chosen.candidates}
    report = published(snapshot, tmp_path, include_rejected=True)
    assert report.episodes == len(episodes) - 1


def test_a_run_records_its_withdrawals_once(tmp_path: Path) -> None:
    store: ObjectStore = LocalStore(tmp_path)
    one, two = (
        RunWithdrawal(
            episode=x * 32, reason="why", day="2026-01-02", task_id="t", attempt=0, unit_id="u"
        )
        for x in "ab"
    )
    heads = [{"unit_id": "u", "task_id": task} for task in ("s", "t", "s")]
    assert asyncio.run(read_withdrawals(store)) == Withdrawals()

    assert asyncio.run(add_withdrawals(store, withdrawals_of([one], heads))) == 1
    assert asyncio.run(add_withdrawals(store, withdrawals_of([one, two], heads[:1]))) == 1
    assert asyncio.run(add_withdrawals(store, withdrawals_of([two], heads))) == 0

    found = asyncio.run(read_withdrawals(store))
    assert found.episodes == (one, two)
    assert found.units == {"u": ("s", "t")}
    path = tmp_path / "withdrawn.json"
    told = json.loads(path.read_text())
    told["episodes"].pop()
    path.write_text(json.dumps(told))
    with pytest.raises(Damaged, match=r"withdrawn\.json: cannot be read"):
        asyncio.run(read_withdrawals(store))
