"""`stepmill review`: reviews from a file into a run and back, and what is refused before anything is added."""

import asyncio
import json
from pathlib import Path

import pytest
from conftest import GOLDEN
from support.episodes.factories import MadeRun, make_run, make_whole_run
from support.episodes.reviewed import make_review, withdraw_first
from support.runs.commands import Said, called
from support.stores.faulty_lake import commit

from flows.reviewing.review_file import review_lines
from schemas.verdicts.review import Review, review_id
from storage.lake.reviews import read_reviews

HOSTILE = "\x1b[31m\u202e<b>"


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


def _ids(run: MadeRun) -> list[str]:
    return [episode.episode_id for unit in run.units for episode in unit.episodes]


def _file(folder: Path, *reviews: Review) -> str:
    path = folder / "reviews.jsonl"
    path.write_text("".join(f"{one}\n" for one in review_lines(reviews)), encoding="utf-8")
    return str(path)


async def _called(*args: str) -> Said:
    """Run the command beside this test's event loop, in which it has one of its own."""
    return await asyncio.to_thread(called, *args)


async def _stored(run: MadeRun) -> list[Review]:
    lake = run.lake()
    try:
        return await read_reviews(lake)
    finally:
        await lake.close()


@pytest.mark.parametrize("place", ["folder", "bucket"], indirect=True)
async def test_a_file_is_put_into_a_run_and_comes_out_as_it_was(
    run: MadeRun, tmp_path: Path
) -> None:
    first, second, *_ = _ids(run)
    reviews = [
        make_review(first, "reject", reviewer=HOSTILE, reason=HOSTILE),
        make_review(first, reviewer="ben", after=1),
        make_review(second, after=2),
    ]
    file = _file(tmp_path, *reviews, reviews[0])

    added = await _called("review", run.url, "--import", file, "--json")
    again = await _called("review", run.url, f"--import={file}")
    out = await _called("review", run.url, "--export", str(tmp_path / "out.jsonl"), "--json")

    assert (added.code, added.answer["read"], added.answer["added"]) == (0, 4, 3), added.err
    assert again.out == "reviews  0 added, 4 were there before\n"
    assert (out.answer["reviews"], out.answer["episodes"]) == (3, 2)
    written = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert written == "".join(f"{one}\n" for one in review_lines(reviews))
    assert not (tmp_path / "out.jsonl.new").exists()


async def test_what_people_say_is_counted_and_hostile_names_are_inert(
    run: MadeRun, tmp_path: Path
) -> None:
    first, second, third, *_ = _ids(run)
    reviews = [
        make_review(first),
        make_review(first, "reject", reviewer=HOSTILE),
        make_review(second, "reject"),
        make_review(second, "reject", reviewer=HOSTILE),
        make_review(third, "mark", step=0),
    ]
    await _called("review", run.url, "--import", _file(tmp_path, *reviews))

    counts = (await _called("review", run.url, "--json")).answer
    shown = await _called("review", run.url)

    assert (counts["reviews"], counts["episodes"]) == (5, 2)
    assert counts["results"] == {"accepted": 0, "rejected": 1, "disagreed": 1, "unsure": 0}
    assert "on 1 of 2, Cohen's kappa 0.00\n" in shown.out
    assert "\x1b" not in shown.out
    assert "\u202e" not in shown.out


async def test_show_counts_by_reviews(run: MadeRun, tmp_path: Path) -> None:
    rule = '--set=accept.passed=["outcome"]'
    before = (await _called("show", run.url, rule, "--json")).answer
    reject = make_review(_ids(run)[0], "reject", reason="wrong row")
    await _called("review", run.url, "--import", _file(tmp_path, reject))

    after = (await _called("show", run.url, rule, "--json")).answer
    ignored = (await _called("show", run.url, rule, "--set=accept.reviews=ignore", "--json")).answer

    assert [one["accepted"] for one in (before, after, ignored)] == [8, 7, 8]
    assert after["rejected_by"] == {"review": 1}


async def test_a_run_under_way_takes_reviews_of_what_it_has_committed(
    run: MadeRun, tmp_path: Path
) -> None:
    unit = run.unit(50)
    file = _file(tmp_path, make_review(unit.episodes[0].episode_id))
    early = await _called("review", run.url, "--import", file)

    lake = run.lake()
    await commit(lake, unit)
    await lake.close()
    late = await _called("review", run.url, "--import", file)

    assert early.code == 2
    assert "its unit is not committed yet" in early.err
    assert late.code == 0, late.err


async def _wrong(run: MadeRun, folder: Path, what: str) -> Review:
    """Return a review that a run cannot have, after whatever makes it so."""
    first, second, *_ = _ids(run)
    match what:
        case "withdrawn":
            return make_review(await withdraw_first(run))
        case "another run's":
            other = await make_run(folder / "other")
            return make_review(other.unit(0).episodes[0].episode_id)
        case "unknown":
            return make_review("0" * 32)
        case "somebody else's":
            one = make_review(second, reviewer="ben")
            await _called("review", run.url, "--import", _file(folder, one))
            return make_review(second, "mark", undoes=review_id(one), after=1)
    return make_review(first, step=77)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("withdrawn", "the episode was withdrawn from the run"),
        ("another run's", "the run has no such episode; it is another run's"),
        ("unknown", "the run has no such episode"),
        ("somebody else's", "it is somebody else's"),
        ("no step", "expected a step from 0 to"),
    ],
)
async def test_a_review_that_the_run_cannot_have_refuses_its_whole_file(
    run: MadeRun, tmp_path: Path, what: str, told: str
) -> None:
    wrong = await _wrong(run, tmp_path, what)
    before = await _stored(run)

    said = await _called(
        "review", run.url, f"--import={_file(tmp_path, make_review(_ids(run)[2]), wrong)}"
    )

    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert "nothing was added" in said.err.lower()
    assert await _stored(run) == before


async def test_a_torn_file_adds_nothing(run: MadeRun, tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl"
    line = next(review_lines([make_review(_ids(run)[0])]))
    file.write_text(f"{line}\n{line[:40]}", encoding="utf-8")

    said = await _called("review", run.url, "--import", str(file))

    assert said.code == 2
    assert f"{file}: line 2, column " in said.err
    assert await _stored(run) == []


async def test_a_dataset_is_refused_with_the_command_that_does(tmp_path: Path) -> None:
    to = str(GOLDEN / "published")

    said = await _called("review", to, "--import", _file(tmp_path, make_review()))

    assert said.code == 2
    assert "is a published dataset" in said.err
    assert "`stepmill review RUN --import FILE`, then `stepmill publish RUN --to DEST`" in said.err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--import=a", "--export=b"], "not allowed with argument"),
        (["--export=none/there/out.jsonl"], "none/there/out.jsonl: cannot be written"),
        (["--format=csv"], "invalid choice: 'csv'"),
        (["--set=browser.sessions=2"], "'review' does not use browser.sessions"),
    ],
)
async def test_wrong_flags_are_refused(run: MadeRun, flags: list[str], told: str) -> None:
    said = await _called("review", run.url, *flags)

    assert (said.code, said.out) == (2, "")
    assert told in said.err


async def test_reviews_do_not_change_what_a_run_is(run: MadeRun, tmp_path: Path) -> None:
    before = (run.folder / "run.json").read_bytes()

    await _called("review", run.url, "--import", _file(tmp_path, make_review(_ids(run)[0])))

    assert (run.folder / "run.json").read_bytes() == before
    assert json.loads(before)["identity"].keys() & {"accept.reviews", "reviews"} == set()
