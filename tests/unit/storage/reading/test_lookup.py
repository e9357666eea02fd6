"""The look-up of a run: heads, places and words, made once, gone on with, and renewed."""

import os
from pathlib import Path

import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun
from support.episodes.reviewed import make_review
from support.runs.compaction import compacted
from support.stores.faulty_lake import commit

from flows.viewing.opening import open_for_view
from schemas.errors import BadConfig, NotFound, Unwritable
from schemas.verdicts.verdict import Acceptance
from storage.lake.reviews import add_reviews
from storage.lake.withdrawals import RunWithdrawal, add_withdrawals, withdrawals_of
from storage.reading import lookup as module
from storage.reading.lookup import Lookup, cache_folder, forget, lookup_folder, make_lookup
from storage.reading.opened import Opened
from storage.reading.words import Piece, Words


@pytest.fixture
def run(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    return copy_run(tmp_path / "run", units=3)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return cache_folder({"XDG_CACHE_HOME": str(tmp_path / "cache")})


async def opened(run: MadeRun) -> Opened:
    return await open_for_view(run.url, dict(os.environ))


async def made(run: MadeRun, cache: Path) -> Lookup:
    there = await opened(run)
    folder = lookup_folder(cache, there)
    make_lookup(there, folder, lambda _share: None)
    return Lookup(there, folder)


async def test_every_episode_has_a_head_and_is_read_whole(run: MadeRun, cache: Path) -> None:
    lookup = await made(run, cache)

    episodes = {one.episode_id: one for unit in run.units for one in unit.episodes}
    heads = lookup.heads.to_pylist()
    assert {head["id"] for head in heads} == episodes.keys()
    for head in heads:
        found = lookup.places.full(
            head["id"], head["unit"], Acceptance.model_validate_json(head["acceptance"])
        )
        assert found.episode == episodes[head["id"]]
        assert found.task.task_id == head["task"]
        assert (head["n_steps"], head["goal"]) == (
            found.episode.n_steps,
            found.episode.instruction or found.task.instruction,
        )


async def test_merged_shards_are_read_as_well(run: MadeRun, cache: Path) -> None:
    await compacted(run)
    lookup = await made(run, cache)

    for unit in run.units:
        for episode in unit.episodes:
            head = lookup.heads.slice(lookup.numbers[episode.episode_id], 1).to_pylist()[0]
            acceptance = Acceptance.model_validate_json(head["acceptance"])
            found = lookup.places.full(episode.episode_id, episode.unit_id, acceptance)
            assert found.episode == episode


async def test_words_find_the_episodes_that_have_all_of_them(run: MadeRun, cache: Path) -> None:
    lookup = await made(run, cache)
    heads = lookup.heads.to_pylist()
    goal = next(head["goal"] for head in heads if head["goal"])

    found = lookup.words.find(goal, ("goal",))

    assert found == [at for at, head in enumerate(heads) if head["goal"] == goal]
    assert lookup.words.find(goal, ("answer",)) == []
    assert lookup.words.find("zzzz-no-such-word") == []
    with pytest.raises(BadConfig, match="expected a word"):
        lookup.words.find(" ?! ")


@pytest.mark.parametrize("stage", ["places_of", "text_batches"])
async def test_a_look_up_that_was_cut_is_gone_on_with(
    run: MadeRun, cache: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    there = await opened(run)
    folder = lookup_folder(cache, there)
    with monkeypatch.context() as patched:
        patched.setattr(module, stage, _cut)
        with pytest.raises(ZeroDivisionError):
            make_lookup(there, folder, lambda _share: None)
    cut = Lookup(there, folder)
    assert not cut.is_whole
    made_before = {
        name: (folder / name).stat().st_mtime_ns
        for name in os.listdir(folder)  # noqa: PTH208 - of an asynchronous test
        if name.endswith(".arrow")
    }
    assert bool(made_before) == (stage == "text_batches")

    make_lookup(there, folder, lambda _share: None)

    for name, at in made_before.items():
        assert (folder / name).stat().st_mtime_ns == at
    whole = await made(run, cache.parent / "other")
    for word in ("a", "the", "click", "page"):
        assert Lookup(there, folder).words.find(word) == whole.words.find(word)


def _cut(*_given: object, **_named: object) -> object:
    raise ZeroDivisionError


def test_a_batch_that_is_in_is_not_in_twice(tmp_path: Path) -> None:
    words = Words(tmp_path / "words")
    words.add("steps", [(0, [Piece(1, thought="I open the drawer")])])
    words.add("steps", [(1, [Piece(1, thought="I close it"), Piece(2, thought="I open it")])])

    assert words.done("steps") == 2
    assert words.find("open") == [1, 2]
    assert words.find("I clo") == [1]
    assert words.find("open", ("goal",)) == []
    words.close()


@pytest.mark.parametrize("part", ["設定", "定を", "を開"])
def test_any_part_of_a_text_without_gaps_is_found(tmp_path: Path, part: str) -> None:
    words = Words(tmp_path / "words")
    words.add("heads", [(0, [Piece(7, goal="設定を開く"), Piece(8, goal="開く")])])

    assert words.find(part) == [7]
    words.close()


@pytest.mark.parametrize("text", ['"', "a OR b", "goal:x", "x*", "(", "NEAR(a b)", "-a", "^a", "'"])
def test_a_search_is_words_and_never_a_language(tmp_path: Path, text: str) -> None:
    words = Words(tmp_path / "words")
    words.add("heads", [(0, [Piece(1, goal="b")])])
    try:
        assert words.find(text) == []
    except BadConfig:
        assert not any(char.isalnum() for char in text)
    words.close()


async def test_a_run_that_has_grown_gets_a_look_up_of_its_own(run: MadeRun, cache: Path) -> None:
    before = (await made(run, cache)).heads.num_rows
    lake = run.lake()
    await commit(lake, run.unit(700))
    await lake.close()

    second = await made(run, cache)

    assert second.heads.num_rows > before
    place = lookup_folder(cache, second.opened).parent
    assert os.listdir(place) == [second.opened.identity[:32]]  # noqa: PTH208 - of an asynchronous test


async def test_a_verdict_renews_the_heads_and_leaves_the_words(run: MadeRun, cache: Path) -> None:
    first = await made(run, cache)
    folder = lookup_folder(cache, first.opened)
    words = (folder / "words.sqlite").stat().st_ino
    episode = run.units[0].episodes[0]
    before = first.heads.slice(first.numbers[episode.episode_id], 1).to_pylist()[0]
    lake = run.lake()
    await add_reviews(lake, [make_review(episode.episode_id, decision="reject", reason="no")])
    await lake.close()

    second = await made(run, cache)

    assert second.opened.identity == first.opened.identity
    after = second.heads.slice(second.numbers[episode.episode_id], 1).to_pylist()[0]
    assert (before["status"], after["status"]) == ("unjudged", "rejected")
    assert after["reason"].startswith("review: ")
    assert (folder / "words.sqlite").stat().st_ino == words
    assert second.places.verdicts(episode.episode_id, episode.unit_id) is not None


async def test_withdrawn_episodes_are_not_there(run: MadeRun, cache: Path) -> None:
    gone = run.units[0].episodes[0]
    known = {name: getattr(gone, name) for name in ("task_id", "attempt", "unit_id")}
    record = RunWithdrawal(episode=gone.episode_id, reason="a name", day="2026-01-02", **known)
    await add_withdrawals(run.store, withdrawals_of([record], [known]))

    lookup = await made(run, cache)

    assert gone.episode_id not in lookup.numbers
    assert len(lookup.numbers) == sum(len(unit.episodes) for unit in run.units) - 1


async def test_steps_that_are_not_there_are_said(run: MadeRun, cache: Path) -> None:
    lookup = await made(run, cache)

    with pytest.raises(NotFound, match="has no steps of episode ffff"):
        lookup.places.full("ffff", None, Acceptance(accepted=False, assurance="none", split=""))


async def test_a_place_is_forgotten(run: MadeRun, cache: Path) -> None:
    await made(run, cache)

    assert forget(cache, run.url)
    assert not forget(cache, run.url)
    assert os.listdir(cache) == []  # noqa: PTH208 - of an asynchronous test


def test_a_cache_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(Unwritable, match="set XDG_CACHE_HOME to a folder that can be written"):
        cache_folder({"XDG_CACHE_HOME": str(tmp_path / "file")})


def test_the_cache_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12_345)

    with pytest.raises(Unwritable, match="belongs to another user"):
        cache_folder({"XDG_CACHE_HOME": str(tmp_path)})


def test_what_is_kept_is_this_users_alone(tmp_path: Path) -> None:
    folder = cache_folder({"XDG_CACHE_HOME": str(tmp_path)})

    assert folder.stat().st_mode & 0o077 == 0


async def test_a_full_disk_is_said_with_the_remedy(
    run: MadeRun, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = await opened(run)

    def full(*_given: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "heads_of", full)
    with pytest.raises(Unwritable, match="No space left on device: make room there, or set XDG"):
        make_lookup(there, lookup_folder(cache, there), lambda _share: None)
