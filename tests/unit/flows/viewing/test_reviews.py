"""Where the reviews of a window go: into the run, or into a file where it may only be read."""

import os
from pathlib import Path

import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun
from support.episodes.reviewed import make_review

from flows.viewing import reviews as module
from flows.viewing.opening import open_for_view
from flows.viewing.reviews import all_reviews, review_file, save_reviews, visible_reviews
from flows.viewing.shown import Shown
from schemas.errors import Unwritable
from schemas.verdicts.review import identify
from storage.reading.lookup import cache_folder


@pytest.fixture
def run(copy_run: CopyRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeRun:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return copy_run(tmp_path / "run", units=1)


async def shown(run: MadeRun, tmp_path: Path) -> Shown:
    cache = cache_folder({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    return Shown(run.url, await open_for_view(run.url, dict(os.environ)), cache)


async def test_a_run_takes_its_reviews(run: MadeRun, tmp_path: Path) -> None:
    place = await shown(run, tmp_path)
    one = make_review(run.units[0].episodes[0].episode_id)

    await save_reviews(place, [one])
    await save_reviews(place, [one])

    assert await all_reviews(place) == [identify(one)]
    assert not review_file(run.run_id, os.environ).exists()


async def test_the_reviews_of_a_run_that_may_only_be_read_go_to_a_file(
    run: MadeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = await shown(run, tmp_path)
    id_ = run.units[0].episodes[0].episode_id
    before, after = make_review(id_), make_review(id_, after=5, reviewer="ben")
    await save_reviews(place, [before])

    async def refuse(*_given: object) -> int:
        raise Unwritable("the run: access denied")

    monkeypatch.setattr(module, "add_reviews", refuse)
    await save_reviews(place, [after])

    assert await all_reviews(place) == [identify(before), identify(after)]
    assert len(review_file(run.run_id, os.environ).read_text().splitlines()) == 1


async def test_nobody_sees_what_another_said_before_saying_their_own(
    run: MadeRun, tmp_path: Path
) -> None:
    place = await shown(run, tmp_path)
    first, second = (one.episode_id for one in run.units[0].episodes[:2])
    said = [make_review(first, reviewer="ana"), make_review(second, reviewer="ana", after=1)]
    await save_reviews(place, [*said, make_review(second, "reject", reviewer="ben", reason="no")])

    seen = await visible_reviews(place, "ben")

    assert first not in seen
    assert {one.reviewer for one in seen[second]} == {"ana", "ben"}
