"""Publishing to a folder: only the difference, and the same bytes every time."""

import asyncio
from pathlib import Path

import pyarrow.parquet as pq
from support.episodes.factories import make_verdict
from support.runs.memory_run import (
    RULE,
    STORAGE,
    TRAIN,
    MemoryRun,
    commit_unit,
    contents,
    findings,
    make_run_file,
    published,
    small_run,
    two_versions,
    written_at,
)

from schemas.configuration.sections import PublishSection
from schemas.verdicts.verdict import Status
from storage.publish.publish import publish
from storage.publish.verify import Discrepancy


def test_the_same_version_again_changes_nothing(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    first = published(snapshot, tmp_path / "to")
    before, times = contents(tmp_path), written_at(tmp_path)

    second = published(snapshot, tmp_path / "to")

    assert (contents(tmp_path), written_at(tmp_path)) == (before, times)
    assert (first.put, second.put, second.deleted) == (len(before), 0, 0)
    assert second.model_copy(update={"put": first.put}) == first


def test_the_report_says_what_there_is(tmp_path: Path) -> None:
    report = published(small_run().seal(), tmp_path)

    files = contents(tmp_path)
    assert report.files == len(files) - 1
    assert report.bytes == sum(map(len, files.values())) - len(files["manifest.json"])
    assert report.rows == {
        "trajectories": 10,
        "steps": 30,
        "tasks": 6,
        "attempts": 12,
        "results": 6,
        "verdicts": 12 * len(RULE.passed),
        "observations": 30,
        "calls": 8,
        "prompts": 1,
    }
    assert (report.episodes, report.accepted, report.rejected, report.unjudged) == (12, 10, 2, 0)
    assert (report.version, report.destination) == (1, str(tmp_path))


def test_a_later_version_touches_only_what_it_must(tmp_path: Path) -> None:
    before, after = two_versions()
    fresh, grown = tmp_path / "fresh" / "to", tmp_path / "grown" / "to"
    published(before, grown)
    old, times = contents(grown), written_at(grown)

    report = published(after, grown)
    published(after, fresh)

    new = contents(grown)
    assert new == contents(fresh)
    assert findings(grown) == []
    assert not list(grown.glob("data/steps/test-*"))
    changed = {path for path in new if new[path] != old.get(path)}
    assert report.put == len(changed)
    assert report.deleted == len(old.keys() - new.keys()) > 0
    kept = {str(grown / path) for path in new.keys() - changed}
    assert any("tasks" in path for path in kept)
    assert {path: written_at(grown)[path] for path in kept} == {path: times[path] for path in kept}


def test_an_earlier_version_can_be_put_back(tmp_path: Path) -> None:
    before, after = two_versions()
    published(before, tmp_path)
    original = contents(tmp_path)
    published(after, tmp_path)

    published(before, tmp_path)

    assert contents(tmp_path) == original


def test_the_same_version_is_the_same_bytes_in_any_folder_of_the_name(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    for parent in ("here", "there"):
        published(snapshot, tmp_path / parent / "to")

    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_rejected_episodes_come_labelled_when_asked_for_and_go_again(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    published(snapshot, tmp_path)
    original = contents(tmp_path)

    report = published(snapshot, tmp_path, include_rejected=True)
    assert report.rows["trajectories"] == 12
    published(snapshot, tmp_path)

    assert contents(tmp_path) == original


def test_a_new_judgement_changes_the_labels(tmp_path: Path) -> None:
    run = MemoryRun()
    episode, *_ = commit_unit(run, 1, TRAIN)
    published(run.seal(), tmp_path, include_rejected=True)
    run.judge([make_verdict(episode, verifier="replay", round_=1, status=Status.FAILED)])

    report = published(run.seal(), tmp_path, include_rejected=True)

    [path] = tmp_path.glob("data/trajectories/*.parquet")
    rows = pq.read_table(path).to_pylist()
    assert [row["episode_id"] for row in rows if not row["accepted"]] == [episode.episode_id]
    assert (report.put, report.deleted) == (8, 4)  # four files, strip, plot, card and manifest


def test_a_file_that_was_removed_or_cut_short_is_put_back(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    published(snapshot, tmp_path)
    original = contents(tmp_path)
    first, second, *_ = sorted(tmp_path.rglob("*.parquet"))
    first.unlink()
    second.write_bytes(second.read_bytes()[:-1])
    (tmp_path / "README.md").write_text("mine now")

    report = published(snapshot, tmp_path)

    assert contents(tmp_path) == original
    assert report.put == 3


def test_what_somebody_else_put_beside_a_dataset_stays(tmp_path: Path) -> None:
    before, after = two_versions()
    published(before, tmp_path)
    (tmp_path / "LICENSE").write_text("theirs")
    (tmp_path / "data/steps/notes.txt").write_text("theirs")

    published(after, tmp_path)

    assert (tmp_path / "LICENSE").read_text() == "theirs"
    assert findings(tmp_path) == [
        (Discrepancy.FOREIGN, "LICENSE"),
        (Discrepancy.FOREIGN, "data/steps/notes.txt"),
    ]


def test_progress_counts_the_planned_files(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    asyncio.run(
        publish(
            small_run().seal(),
            make_run_file(),
            RULE,
            f"file://{tmp_path}/to",
            terms=PublishSection(),
            storage=STORAGE,
            progress=lambda done, total: seen.append((done, total)),
        )
    )

    assert seen == [(number, 23) for number in range(1, 24)]
