"""A unit gets into the tables exactly once, whatever happens on the way."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from deltalake import DeltaTable
from support.episodes.factories import MadeRun, commit_whole_unit, make_run, make_verdict
from support.runs.unit_rows import unit_rows
from support.stores.faulty_lake import (
    AnswerLost,
    Broken,
    Cut,
    CutAfter,
    CutBefore,
    FullDisk,
    NeverCommits,
    by_id,
    commit,
    counts,
    fingerprint,
    swap,
    whole,
)

from schemas.backoff import Backoff
from schemas.base import sha256_hex
from schemas.errors import Conflict, Damaged, Unwritable
from schemas.tables.tables import UNIT_TABLES
from schemas.verdicts.verdict import Status
from storage.lake.delta_table import CommitEntry, DeltaHandle
from storage.lake.lake import Lake
from storage.objects.local import LocalStore


@pytest.fixture
async def run(tmp_path: Path) -> MadeRun:
    return await make_run(tmp_path / "run")


@pytest.fixture
async def lake(run: MadeRun) -> AsyncIterator[Lake]:
    lake = run.lake()
    yield lake
    await lake.close()


@pytest.fixture
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "storage.lake.delta_table._BACKOFF", Backoff(first_seconds=0.0, max_seconds=0.0, tries=4)
    )


async def test_a_unit_is_read_back_as_it_was_committed(run: MadeRun, lake: Lake) -> None:
    unit, other = run.unit(0), run.unit(10)
    assert await commit(lake, unit)
    assert await commit(lake, other)

    episodes = await lake.episodes(unit.unit_id)

    assert {e.episode_id: e for e in episodes} == {e.episode_id: e for e in unit.episodes}
    assert {t.task_id: t for t in await lake.tasks(unit.unit_id)} == {
        t.task_id: t for t in unit.tasks
    }
    assert await lake.episode(other.episodes[3].episode_id) == (other.tasks[1], other.episodes[3])


async def test_what_is_committed_is_told_in_one_pass(run: MadeRun, lake: Lake) -> None:
    assert await lake.committed_units() == set()
    assert await lake.committed_episodes() == {}
    units = [run.unit(0), run.unit(10)]
    for unit in units:
        await commit(lake, unit)

    assert await lake.committed_units() == {unit.unit_id for unit in units}
    assert await lake.committed_episodes() == {
        unit.unit_id: {episode.episode_id for episode in unit.episodes} for unit in units
    }


async def test_units_that_share_a_file_are_told_apart(run: MadeRun, lake: Lake) -> None:
    """As they do when small shards were made into a large one."""
    units = [run.unit(0), run.unit(10)]
    for table in UNIT_TABLES:
        rows = [row for unit in units for row in unit_rows(unit.tasks, unit.episodes)[table]]
        files = await lake.put_shards(table, "0" * 32, rows=rows)
        await lake.commit(table, CommitEntry("both", 1, files))

    assert await lake.committed_units() == {unit.unit_id for unit in units}
    for unit in units:
        assert sorted(await lake.episodes(unit.unit_id), key=by_id) == sorted(
            unit.episodes, key=by_id
        )
        assert {t.task_id for t in await lake.tasks(unit.unit_id)} == {
            t.task_id for t in unit.tasks
        }
        assert await lake.episode(unit.episodes[0].episode_id) == (
            unit.tasks[0],
            unit.episodes[0],
        )


async def test_committing_again_changes_no_byte(run: MadeRun, lake: Lake) -> None:
    unit = run.unit(0)
    await commit(lake, unit)
    before = fingerprint(run.folder)

    assert not await commit(lake, unit)
    again = run.lake()
    assert not await commit(again, unit)
    await again.close()

    assert fingerprint(run.folder) == before
    assert counts(run) == whole(unit)


async def test_the_order_of_the_episodes_changes_no_shard(run: MadeRun, tmp_path: Path) -> None:
    unit = run.unit(0)
    names: list[set[str]] = []
    for number, episodes in enumerate((unit.episodes, unit.episodes[::-1])):
        folder = tmp_path / str(number)
        other = MadeRun(folder, LocalStore(folder), run.run)
        lake = other.lake()
        await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=episodes)
        await lake.close()
        names.append({name for name in fingerprint(folder) if name.endswith(".parquet")})

    assert names[0] == names[1]


@pytest.mark.parametrize("table", UNIT_TABLES)
@pytest.mark.parametrize("kind", [CutBefore, CutAfter])
async def test_a_unit_cut_at_any_table_is_finished_by_the_next_worker(
    run: MadeRun, table: str, kind: type[DeltaHandle]
) -> None:
    unit = run.unit(0)
    cut = run.lake()
    swap(cut, table, kind)
    with pytest.raises(Cut):
        await commit(cut, unit)
    await cut.close()

    lake = run.lake()
    done = (await lake.committed_units()) == {unit.unit_id}
    assert done == (table == "episodes" and kind is CutAfter)
    assert await commit(lake, unit) != done
    await lake.close()

    assert counts(run) == whole(unit)


@pytest.mark.usefixtures("_no_pauses")
async def test_a_commit_whose_answer_was_lost_is_found_and_not_repeated(
    run: MadeRun, lake: Lake
) -> None:
    unit = run.unit(0)
    for table in UNIT_TABLES:
        swap(lake, table, AnswerLost)

    assert await commit(lake, unit)

    assert counts(run) == whole(unit)


@pytest.mark.usefixtures("_no_pauses")
@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        (NeverCommits, Conflict, "another writer was first"),
        (FullDisk, Unwritable, "No space left on device"),
        (Broken, Damaged, "the log is broken$"),
    ],
)
async def test_a_log_that_cannot_be_written_is_named(
    run: MadeRun, lake: Lake, kind: type[DeltaHandle], error: type[Exception], text: str
) -> None:
    swap(lake, "steps", kind)

    with pytest.raises(error, match=rf"tables/steps: cannot commit: {text}"):
        await commit(lake, run.unit(0))

    assert await lake.committed_units() == set()


async def test_a_worker_with_an_old_view_commits_nothing_twice(run: MadeRun) -> None:
    """Delta itself would take the rows again from a view that shows the transaction."""
    unit, other = run.unit(0), run.unit(10)
    slow, fast = run.lake(), run.lake()
    await commit(slow, other)
    await commit(fast, unit)

    assert not await commit(slow, unit)

    assert counts(run) == whole(unit, other)
    await slow.close()
    await fast.close()


async def test_two_rollouts_of_one_unit_are_never_mixed(run: MadeRun) -> None:
    first, second = run.unit(0, salt=1), run.unit(0, salt=2)
    cut = run.lake()
    swap(cut, "calls", CutBefore)
    with pytest.raises(Cut):
        await commit(cut, first)
    await cut.close()

    lake = run.lake()
    with pytest.raises(Conflict, match="committed with other episodes"):
        await commit(lake, second)
    assert await commit(lake, first)
    assert not await commit(lake, second)

    assert sorted(await lake.episodes(first.unit_id), key=by_id) == sorted(
        first.episodes, key=by_id
    )
    assert counts(run) == whole(first)
    await lake.close()


async def test_a_shard_that_was_torn_before_its_commit_is_made_whole(
    run: MadeRun, lake: Lake
) -> None:
    unit = run.unit(0)
    swap(lake, "tasks", CutBefore)
    with pytest.raises(Cut):
        await commit(lake, unit)
    [shard] = (run.folder / "tables" / "steps").glob("*.parquet")
    shard.write_bytes(shard.read_bytes()[:100])

    swap(lake, "tasks", DeltaHandle)
    await commit(lake, unit)

    assert sha256_hex(shard.read_bytes()) in shard.name
    assert len(await lake.episodes(unit.unit_id)) == 4


async def test_a_unit_larger_than_a_shard_lies_in_several(run: MadeRun) -> None:
    lake = run.lake()
    lake._shard_bytes = 20_000
    unit = run.unit(0, tasks=8)
    await commit(lake, unit)

    assert len(list((run.folder / "tables" / "steps").glob("*.parquet"))) > 1
    assert counts(run) == whole(unit)
    assert sorted(await lake.episodes(unit.unit_id), key=by_id) == sorted(unit.episodes, key=by_id)
    await lake.close()


async def test_a_table_without_rows_is_not_made(run: MadeRun, lake: Lake) -> None:
    unit = run.unit(0)
    bare = [e.model_copy(update={"calls": (), "prompts": ()}) for e in unit.episodes]
    await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=bare)

    made = {path.name for path in (run.folder / "tables").iterdir()}
    assert made == {"tasks", "observations", "steps", "episodes"}


async def test_what_is_no_unit_is_refused_before_anything_is_written(
    run: MadeRun, lake: Lake
) -> None:
    unit = run.unit(0)
    for tasks, episodes in (
        ([], []),
        (unit.tasks, []),
        (unit.tasks[:1], unit.episodes),
        (unit.tasks, unit.episodes[:2]),
        (unit.tasks, [*unit.episodes, unit.episodes[0]]),
        ([*unit.tasks, unit.tasks[0]], unit.episodes),
        (unit.tasks, run.unit(10).episodes),
    ):
        with pytest.raises(ValueError, match="unit"):
            await commit_whole_unit(lake, unit.unit_id, tasks=tasks, episodes=episodes)

    assert not (run.folder / "tables").exists()


async def test_verdicts_of_a_round_are_committed_once(run: MadeRun, lake: Lake) -> None:
    unit = run.unit(0)
    await commit(lake, unit)
    verdicts = [make_verdict(episode) for episode in unit.episodes]

    async def give(round_: int) -> bool:
        return await lake.commit_verdicts(
            unit.unit_id,
            verifier="outcome",
            version="1",
            round_=round_,
            verdicts=[v.model_copy(update={"round": round_}) for v in verdicts],
        )

    assert [await give(0), await give(0), await give(1), await give(1)] == [True, False] * 2

    found = await lake.verdicts(units={unit.unit_id})
    assert sorted(v.round for v in found) == [0] * 4 + [1] * 4
    assert sorted([v for v in found if not v.round], key=by_id) == sorted(verdicts, key=by_id)
    assert await lake.verdicts(units={"0" * 32}) == []


async def test_verdicts_of_another_address_are_refused(run: MadeRun, lake: Lake) -> None:
    verdict = make_verdict(run.unit(0).episodes[0], status=Status.FAILED)

    with pytest.raises(ValueError, match="is not of"):
        await lake.commit_verdicts(
            verdict.unit_id, verifier="replay", version="1", round_=0, verdicts=[verdict]
        )
    assert not await lake.commit_verdicts(
        verdict.unit_id, verifier="replay", version="1", round_=0, verdicts=[]
    )


async def test_a_file_where_the_tables_should_be_is_named(run: MadeRun, lake: Lake) -> None:
    await run.store.put("tables", b"")

    with pytest.raises(Unwritable, match=r"tables/tasks: cannot be written"):
        await commit(lake, run.unit(0))


async def test_the_log_is_kept_ten_years_and_transactions_for_ever(
    run: MadeRun, lake: Lake
) -> None:
    await commit(lake, run.unit(0))

    for table in UNIT_TABLES:
        configuration = DeltaTable(str(run.folder / "tables" / table)).metadata().configuration
        assert configuration == {"delta.logRetentionDuration": "interval 3650 days"}


async def test_a_read_opens_the_files_of_its_unit_alone(run: MadeRun, lake: Lake) -> None:
    unit, other = run.unit(0), run.unit(10)
    await commit(lake, unit)
    await commit(lake, other)
    for path in (run.folder / "tables").glob(f"*/{other.unit_id}-*.parquet"):
        if path.parent.name != "prompts":
            path.write_bytes(b"unreadable")

    assert len(await lake.episodes(unit.unit_id)) == 4
