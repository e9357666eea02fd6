"""Reviews get into a run once each, whoever adds them, and whatever is cut between."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path

import pytest
from support.episodes.factories import MadeRun, make_run, make_whole_run
from support.episodes.reviewed import make_review, withdraw_first
from support.stores.faulty_lake import AnswerLost, Cut, commit, count, swap

from schemas.configuration.sections import StorageSection
from schemas.errors import BadReview, NotFound
from schemas.tables.tables import to_row
from schemas.verdicts.review import Review, identify, review_id
from storage.audit import audit
from storage.lake.delta_stats import AddedFile
from storage.lake.delta_table import DeltaHandle
from storage.lake.lake import Lake
from storage.lake.reviews import add_reviews, read_reviews
from storage.maintenance.compact import compact

STRANGE = "\x1b[31m\u202e"


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    found: str = (
        request.getfixturevalue("bucket_url")
        if getattr(request, "param", "folder") == "bucket"
        else str(tmp_path / "run")
    )
    return found


@pytest.fixture
async def run(place: str) -> MadeRun:
    return await make_whole_run(place)


@pytest.fixture
async def lake(run: MadeRun) -> AsyncIterator[Lake]:
    lake = run.lake()
    yield lake
    await lake.close()


def _reviews(run: MadeRun, *, reviewer: str = "ana") -> list[Review]:
    """Return a review of each episode of a run."""
    episodes = [episode.episode_id for unit in run.units for episode in unit.episodes]
    return [make_review(one, reviewer=reviewer, after=n) for n, one in enumerate(episodes)]


async def _assert_whole(run: MadeRun) -> None:
    report = await audit(run.store, deep=True)
    assert report.findings == ()


@pytest.mark.parametrize("place", ["folder", "bucket"], indirect=True)
async def test_reviews_read_back_once_each_and_do_not_reach_a_sealed_version(
    run: MadeRun, lake: Lake
) -> None:
    reviews = _reviews(run)

    assert await add_reviews(lake, reviews[:2]) == 2
    assert await add_reviews(lake, [*reversed(reviews), reviews[0]]) == len(reviews) - 2
    assert await add_reviews(lake, reviews) == 0

    assert await read_reviews(lake) == [identify(one) for one in reviews]
    assert await read_reviews(await lake.snapshot()) == []
    await lake.seal()
    assert await read_reviews(await lake.snapshot()) == [identify(one) for one in reviews]
    await _assert_whole(run)


async def test_no_review_makes_no_table(run: MadeRun, lake: Lake) -> None:
    assert await add_reviews(lake, []) == 0
    assert await read_reviews(lake) == []
    assert not (run.folder / "tables/reviews").exists()


async def test_a_large_batch_goes_in_by_parts(run: MadeRun, lake: Lake) -> None:
    episode = run.units[0].episodes[0].episode_id
    many = [make_review(episode, reviewer=f"r{number}") for number in range(230)]

    assert await add_reviews(lake, many) == 230
    assert count(run, "reviews") == 230
    await _assert_whole(run)


@pytest.mark.parametrize("place", ["folder", "bucket"], indirect=True)
async def test_writers_at_once_all_get_in_and_what_they_share_is_there_once(run: MadeRun) -> None:
    shared = _reviews(run)
    own = [_reviews(run, reviewer=name) for name in ("ben", "cleo", "dan")]
    lakes = [run.lake() for _ in own]

    async with asyncio.TaskGroup() as group:
        adding = [
            group.create_task(add_reviews(lake, [*shared, *mine]))
            for lake, mine in zip(lakes, own, strict=True)
        ]

    total = len(shared) + sum(map(len, own))
    assert sum(task.result() for task in adding) == total
    assert count(run, "reviews") == total
    assert {one.review_id for one in await read_reviews(lakes[0])} == {
        review_id(one) for one in [*shared, *(one for mine in own for one in mine)]
    }
    for lake in lakes:
        await lake.close()
    await _assert_whole(run)


class _CutBefore(DeltaHandle):
    """Is killed when the shard is written and the log is not."""

    def commit_rows_once(
        self,
        transactions: object,  # noqa: ARG002
        token: int,  # noqa: ARG002
        files: Sequence[AddedFile],  # noqa: ARG002
    ) -> dict[str, int]:
        raise Cut


class _CutAfter(DeltaHandle):
    """Is killed when the log is written."""

    def commit_rows_once(
        self, transactions: Collection[str], token: int, files: Sequence[AddedFile]
    ) -> dict[str, int]:
        super().commit_rows_once(transactions, token, files)
        raise Cut


class _CutInSecond(DeltaHandle):
    """Is killed between two commits of one batch."""

    done = False

    def commit_rows_once(
        self, transactions: Collection[str], token: int, files: Sequence[AddedFile]
    ) -> dict[str, int]:
        if self.done:
            raise Cut
        self.done = True
        return super().commit_rows_once(transactions, token, files)


@pytest.mark.parametrize(("kind", "left"), [(_CutBefore, 150), (_CutAfter, 50), (_CutInSecond, 50)])
async def test_a_batch_cut_anywhere_is_finished_by_the_same_command(
    run: MadeRun, lake: Lake, kind: type[DeltaHandle], left: int
) -> None:
    episode = run.units[0].episodes[0].episode_id
    many = [make_review(episode, reviewer=f"r{number}") for number in range(150)]
    cut = run.lake()
    swap(cut, "reviews", kind)
    with pytest.raises(Cut):
        await add_reviews(cut, many)
    await cut.close()

    assert await add_reviews(lake, many) == left

    assert count(run, "reviews") == 150
    await _assert_whole(run)


async def test_a_commit_whose_answer_was_lost_counts_as_ours(run: MadeRun, lake: Lake) -> None:
    swap(lake, "reviews", AnswerLost)

    assert await add_reviews(lake, _reviews(run)) == len(_reviews(run))
    assert count(run, "reviews") == len(_reviews(run))


async def test_a_compaction_keeps_every_review(run: MadeRun, lake: Lake) -> None:
    for one in _reviews(run):
        await add_reviews(lake, [one])

    report = await compact(run.url, run.store, StorageSection())

    assert report.tables["reviews"].merged == len(_reviews(run))
    assert await read_reviews(lake) == [identify(one) for one in _reviews(run)]
    assert await add_reviews(lake, _reviews(run)) == 0
    await _assert_whole(run)


async def test_rows_of_a_table_without_ids_are_read_and_added_to(tmp_path: Path) -> None:
    """A table that was made before reviews had ids gets the column at the next commit."""
    run = await make_whole_run(tmp_path / "run")
    lake = run.lake()
    episode = run.units[0].episodes[0].episode_id
    old = make_review(episode, "reject")
    swap(lake, "reviews", _WithoutIds)
    await lake.commit_rows("reviews", [review_id(old)], [to_row(old)])
    await lake.close()
    lake = run.lake()

    assert await read_reviews(lake) == [identify(old)]
    assert await add_reviews(lake, [old, make_review(episode, after=1)]) == 1
    assert len(await read_reviews(lake)) == 2
    await lake.close()
    await _assert_whole(run)


class _WithoutIds(DeltaHandle):
    def create(self) -> None:
        schema = self._schema
        self._schema = schema.remove(schema.get_field_index("review_id"))
        super().create()
        self._schema = schema

    def _missing_columns(self, table: object) -> list[object]:  # type: ignore[override]  # noqa: ARG002
        return []


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"episode_id": "0" * 32}, "the run has no such episode; it is another run's"),
        ({"step": 99}, "expected a step from 0 to [0-9]+, got 99"),
        ({"undoes": "0" * 32}, f"cannot withdraw {'0' * 32}: there is no such review"),
    ],
)
async def test_a_batch_with_a_wrong_review_adds_nothing(
    run: MadeRun, lake: Lake, wrong: dict[str, object], told: str
) -> None:
    right = _reviews(run)
    bad = Review.model_validate(right[0].model_dump() | {"reviewer": STRANGE} | wrong)

    with pytest.raises((BadReview, NotFound), match=told):
        await add_reviews(lake, [*right, bad])

    assert await read_reviews(lake) == []


async def test_an_episode_of_another_run_is_refused(lake: Lake, tmp_path: Path) -> None:
    other = await make_run(tmp_path / "other")
    unit = other.unit(0)

    with pytest.raises(NotFound, match="it is another run's, or its unit is not committed yet"):
        await add_reviews(lake, [make_review(unit.episodes[0].episode_id)])


async def test_an_episode_is_reviewed_as_soon_as_it_is_committed(run: MadeRun, lake: Lake) -> None:
    """A run may be under way: what is in the spool alone is refused until its unit is committed."""
    unit = run.unit(50)
    review = make_review(unit.episodes[0].episode_id)
    with pytest.raises(NotFound):
        await add_reviews(lake, [review])

    writer = run.lake()
    await commit(writer, unit)
    await writer.close()

    assert await add_reviews(lake, [review]) == 1


async def test_a_withdrawn_episode_is_not_reviewed(run: MadeRun, lake: Lake) -> None:
    await add_reviews(lake, _reviews(run))
    episode = await withdraw_first(run)

    with pytest.raises(BadReview, match="the episode was withdrawn from the run"):
        await add_reviews(lake, [make_review(episode, after=1)])
    await _assert_whole(run)

    await compact(run.url, run.store, StorageSection())
    fresh = run.lake()

    assert [one for one in await read_reviews(fresh) if one.episode_id == episode] == []
    with pytest.raises(BadReview, match="the episode was withdrawn from the run"):
        await add_reviews(fresh, [make_review(episode, after=1)])
    await fresh.close()
    await _assert_whole(run)


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "in the same batch"])
async def test_only_ones_own_earlier_review_is_withdrawn(
    run: MadeRun, lake: Lake, *, stored: bool
) -> None:
    first, second = (unit.episodes[0].episode_id for unit in run.units)
    one = make_review(first)
    if stored:
        await add_reviews(lake, [one])
    also = [] if stored else [one]
    undo = make_review(first, "mark", undoes=review_id(one), after=1)

    for wrong, told in (
        ({"reviewer": "ben"}, "it is somebody else's"),
        ({"episode_id": second}, "it is of another episode"),
        ({"at": one.at}, "or was not given before"),
    ):
        with pytest.raises(BadReview, match=told):
            await add_reviews(lake, [*also, undo.model_copy(update=wrong)])
    assert await add_reviews(lake, [undo, *also]) == 1 + len(also)
