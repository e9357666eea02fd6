"""Reviews on their way into a dataset: rows, card and versions, in a folder and a bucket."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from support.episodes.factories import MadeRun, make_whole_run
from support.episodes.reviewed import make_review, withdraw_first

from schemas.configuration.sections import (
    AcceptSection,
    PublishSection,
    ReviewRule,
    StorageSection,
)
from schemas.errors import Unwritable
from schemas.verdicts.acceptance import AcceptanceStatus
from schemas.verdicts.review import review_id
from storage.audit import audit
from storage.diff.diff import diff
from storage.diff.sides import open_run_side
from storage.lake.lake import Lake
from storage.lake.reviews import add_reviews
from storage.maintenance.compact import compact
from storage.publish.destinations.store import FolderDestination
from storage.publish.publish import PublishReport, publish
from storage.publish.verify import verify_published

RULE = AcceptSection(passed=("outcome",))
STORAGE = StorageSection()
HOSTILE = "<script>alert(1)</script> | \u202e [x](javascript:alert(1)) `a` \x1b[31m"


@pytest.fixture
async def run(tmp_path: Path) -> MadeRun:
    return await make_whole_run(tmp_path / "run")


@pytest.fixture
async def lake(run: MadeRun) -> AsyncIterator[Lake]:
    lake = run.lake()
    yield lake
    await lake.close()


async def _published(
    run: MadeRun, lake: Lake, to: Path, rule: AcceptSection = RULE, **terms: Any
) -> PublishReport:
    snapshot = await lake.reviewed_snapshot()
    section = PublishSection(**terms)
    return await publish(snapshot, run.run, rule, str(to), terms=section, storage=STORAGE)


def _rows(to: Path, config: str) -> dict[str, dict[str, Any]]:
    found = ds.dataset(to / "data" / config).to_table().to_pylist()
    return {row["episode_id"]: row for row in found}


def _ids(run: MadeRun) -> list[str]:
    return [episode.episode_id for unit in run.units for episode in unit.episodes]


def _card(to: Path) -> str:
    return (to / "README.md").read_text(encoding="utf-8")


async def test_a_rejected_episode_leaves_the_dataset_and_comes_back_when_that_is_withdrawn(
    run: MadeRun, lake: Lake, tmp_path: Path
) -> None:
    to, bad = tmp_path / "to", _ids(run)[0]
    whole = await _published(run, lake, to)
    reject = make_review(bad, "reject", reason=HOSTILE, reviewer="ben")
    await add_reviews(lake, [reject, make_review(_ids(run)[1])])

    fewer = await _published(run, lake, to)

    assert (whole.accepted, fewer.accepted, fewer.rejected) == (8, 7, 1)
    assert fewer.version == whole.version + 1
    assert bad not in _rows(to, "trajectories")
    attempt = _rows(to, "attempts")[bad]
    assert attempt["deciding_reason"] == f"review: rejected: ben: {HOSTILE}"
    assert (attempt["status"], attempt["review"]) == ("rejected", "rejected")
    assert _rows(to, "trajectories")[_ids(run)[1]]["review"] == "accepted"
    assert (
        await verify_published(FolderDestination(to), run_id=run.run_id, deep=True)
    ).findings == ()

    undo = make_review(bad, "mark", reviewer="ben", undoes=review_id(reject), after=1)
    await add_reviews(lake, [undo])
    again = await _published(run, lake, to)

    assert (again.accepted, again.rejected) == (8, 0)
    assert (await audit(run.store, deep=True, copies=[FolderDestination(to)])).findings == ()


async def test_a_dataset_is_the_same_bytes_after_a_compaction(
    run: MadeRun, lake: Lake, tmp_path: Path
) -> None:
    for number, id_ in enumerate(_ids(run)[:3]):
        await add_reviews(lake, [make_review(id_, "reject", reason="no", after=number)])
    before = await _published(run, lake, tmp_path / "to")

    await compact(run.url, run.store, STORAGE)
    after = await _published(run, lake, tmp_path / "to")

    assert (before.accepted, after.accepted, after.deleted) == (5, 5, 0)
    assert [path for path in (tmp_path / "to" / "data").rglob("*") if path.is_file()]


async def test_only_what_was_reviewed_is_published_where_the_rule_requires_it(
    run: MadeRun, lake: Lake, tmp_path: Path
) -> None:
    first, second, third, *_ = _ids(run)
    await add_reviews(
        lake,
        [
            make_review(first),
            make_review(first, reviewer="ben"),
            make_review(second),
            make_review(second, "reject", reviewer="ben"),
            make_review(third, "mark", instruction="Sort by name"),
        ],
    )
    required = RULE.model_copy(update={"reviews": ReviewRule.REQUIRE})
    ignored = RULE.model_copy(update={"reviews": ReviewRule.IGNORE})

    report = await _published(run, lake, tmp_path / "require", required)
    await _published(run, lake, tmp_path / "ignore", ignored)

    assert (report.accepted, report.unjudged) == (1, 7)
    assert {*_rows(tmp_path / "require", "trajectories")} == {first}
    rows = _rows(tmp_path / "ignore", "trajectories")
    assert len(rows) == 8
    assert rows[second]["review"] == "disagreed"
    assert rows[third]["reviewed_instruction"] == "Sort by name"
    assert rows[third]["review"] is None


async def test_the_card_counts_reviews_and_says_how_far_two_people_agree(
    run: MadeRun, lake: Lake, tmp_path: Path
) -> None:
    await _published(run, lake, tmp_path / "none")
    assert (
        "eview" not in _card(tmp_path / "none").partition("| column |")[0].partition("## Accept")[2]
    )
    first, second, third, fourth, *_ = _ids(run)
    await add_reviews(
        lake,
        [
            *(make_review(id_) for id_ in (first, second, third)),
            make_review(fourth, "reject", reason=HOSTILE),
            make_review(first, reviewer=HOSTILE),
            make_review(second, "reject", reviewer=HOSTILE),
            make_review(fourth, "reject", reviewer=HOSTILE),
        ],
    )

    await _published(run, lake, tmp_path / "to")

    card = _card(tmp_path / "to")
    assert (
        "People reviewed 4 of the episodes (2 reviewers): they accept\n"
        "2, reject 1, disagree on\n1 and are unsure of 0."
    ) in card
    assert "agree on 2 of 3: Cohen's kappa 0.40." in card
    assert "| review: rejected | 1 |" in card
    assert "<script>" not in card
    assert "\u202e" not in card


async def test_reviews_of_withdrawn_episodes_count_nowhere(
    run: MadeRun, lake: Lake, tmp_path: Path
) -> None:
    gone = _ids(run)[0]
    await add_reviews(lake, [make_review(gone, "reject")])
    assert await withdraw_first(run) == gone

    report = await _published(run, lake, tmp_path / "to")

    assert (report.accepted, report.rejected) == (7, 0)
    assert "People reviewed" not in _card(tmp_path / "to")


async def test_a_comparison_of_two_versions_shows_what_a_review_changed(
    run: MadeRun, lake: Lake
) -> None:
    before = await lake.reviewed_snapshot()
    await add_reviews(lake, [make_review(_ids(run)[0], "reject", reason="wrong row")])
    after = await lake.reviewed_snapshot()

    sides = [
        await open_run_side(snapshot, RULE, address=name, run_id=run.run_id)
        for name, snapshot in (("a", before), ("b", after))
    ]
    found = diff(*sides)

    changed = [one for one in sides[1].episodes if one.status is AcceptanceStatus.REJECTED]
    assert [one.reason for one in changed] == ["review: rejected: ana: wrong row"]
    assert found.results == {"accepted → accepted": 7, "accepted → rejected": 1}
    assert [one.verifier for one in found.verdicts] == ["review"]


async def test_a_version_is_sealed_for_reviews_and_for_nothing_else(
    run: MadeRun, lake: Lake
) -> None:
    assert (await lake.reviewed_snapshot()).version == 1
    await add_reviews(lake, [make_review(_ids(run)[0])])
    assert (await lake.reviewed_snapshot(1)).version == 1
    assert [(await lake.reviewed_snapshot()).version for _ in range(2)] == [2, 2]

    unit = run.unit(50)
    async with lake.unit(unit.unit_id) as writer:
        for episode in unit.episodes:
            await writer.add(episode)
        await writer.commit(unit.tasks)
    await add_reviews(lake, [make_review(_ids(run)[1])])

    assert (await lake.reviewed_snapshot()).version == 2  # the run is under way: its end seals


async def test_who_may_only_read_gets_the_version_that_is_there(
    run: MadeRun, lake: Lake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await add_reviews(lake, [make_review(_ids(run)[0])])

    async def refuse(*_: object) -> bool:
        raise Unwritable("access denied")

    monkeypatch.setattr(run.store, "put_new", refuse)

    assert (await lake.reviewed_snapshot()).version == 1
    assert "reviews since version 1 are left out: access denied" in caplog.text
