"""A compaction removes the rows of withdrawn episodes, and an audit finds nothing missing."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun
from support.runs.compaction import UNITS, compacted, findings, rows, shards
from support.stores.faulty_lake import commit

from schemas.episodes.episode import Episode
from schemas.errors import NotFound
from schemas.tables.tables import TABLES
from storage.lake.delta_table import AsyncDeltaTable
from storage.lake.file_access import access_to, table_url
from storage.lake.withdrawals import (
    RunWithdrawal,
    Withdrawals,
    add_withdrawals,
    read_withdrawals,
    withdrawals_of,
)
from storage.maintenance.merge_shards import Merged, SwapHandle, TableMerge
from storage.maintenance.withdrawn_rows import WithdrawnRows

OWNED = ("episodes", "steps", "calls", "observations", "verdicts")


@pytest.fixture
def run(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    return copy_run(tmp_path / "run", units=UNITS)


def withdrawal(episode: Episode) -> RunWithdrawal:
    return RunWithdrawal(
        episode=episode.episode_id,
        reason="shows a name",
        day="2026-01-02",
        task_id=episode.task_id,
        attempt=episode.attempt,
        unit_id=episode.unit_id,
    )


async def withdraw(run: MadeRun, episodes: Sequence[Episode]) -> None:
    heads = [
        {"unit_id": one.unit_id, "task_id": one.task_id}
        for unit in run.units
        for one in unit.episodes
    ]
    new = withdrawals_of([withdrawal(one) for one in episodes], heads)
    await add_withdrawals(run.store, new)


def owners(run: MadeRun, table: str) -> set[str]:
    return {row["episode_id"] for row in rows(run, table)}


def holding(run: MadeRun, episode: Episode) -> list[str]:
    """Return the shards on the disk that hold a row of the episode, live or not."""
    return [
        f"{table}/{path.name}"
        for table in OWNED
        for path in shards(run, table)
        if episode.episode_id in pq.read_table(path, columns=["episode_id"])[0].to_pylist()
    ]


async def test_the_rows_of_a_withdrawn_episode_are_gone_from_every_file(run: MadeRun) -> None:
    gone = run.units[1].episodes[0]
    before = {table: owners(run, table) for table in OWNED}
    assert len(holding(run, gone)) >= 4
    await withdraw(run, [gone])

    report = await compacted(run)

    assert holding(run, gone) == []
    for table in OWNED:
        assert owners(run, table) == before[table] - {gone.episode_id}
    assert report.tables["episodes"].withdrawn == 1
    assert report.tables["steps"].withdrawn == len(gone.steps)
    assert report.tables["tasks"].withdrawn == 0
    assert await findings(run) == ()


async def test_a_second_compaction_finds_nothing_to_do(run: MadeRun) -> None:
    await withdraw(run, [run.units[1].episodes[0]])
    first = await compacted(run)

    again = await compacted(run)

    assert (again.tables, again.removed, again.version) == ({}, 0, first.version)


async def test_what_was_merged_before_is_rewritten_too(run: MadeRun) -> None:
    await compacted(run)
    gone = [run.units[0].episodes[0], run.units[2].episodes[1]]
    await withdraw(run, gone)

    report = await compacted(run)

    assert report.tables["episodes"].merged == 1
    assert report.tables["episodes"].withdrawn == 2
    assert [holding(run, one) for one in gone] == [[], []]
    assert await findings(run) == ()


async def test_a_shard_that_is_large_is_rewritten_alone(run: MadeRun) -> None:
    gone = run.units[1].episodes[0]
    others = {path.name for path in shards(run, "steps") if gone.unit_id not in path.name}
    assert others
    await withdraw(run, [gone])

    merged = await merge_one(run, "steps", [withdrawal(gone)], target=1)

    assert (merged.files, merged.into, merged.dropped) == (1, 1, len(gone.steps))
    assert gone.episode_id not in owners(run, "steps")
    assert others < {path.name for path in shards(run, "steps")}
    assert await findings(run) == ()


async def test_a_unit_stays_committed_when_all_its_episodes_are_withdrawn(run: MadeRun) -> None:
    unit = run.units[1]
    await withdraw(run, unit.episodes)

    await compacted(run)

    lake = run.lake()
    assert unit.unit_id in await lake.committed_units()
    await lake.close()
    assert unit.unit_id not in {row["unit_id"] for row in rows(run, "episodes")}
    assert await findings(run) == ()


async def test_a_run_of_which_nothing_is_left_has_tables_without_rows(run: MadeRun) -> None:
    await withdraw(run, [one for unit in run.units for one in unit.episodes])

    report = await compacted(run)

    assert (report.tables["episodes"].into, shards(run, "episodes")) == (0, [])
    assert [rows(run, table) for table in OWNED] == [[]] * len(OWNED)
    assert await findings(run) == ()
    assert (await compacted(run)).tables == {}


async def test_a_version_that_was_published_goes_with_the_rows(run: MadeRun) -> None:
    lake = run.lake()
    await lake.keep(1)
    await withdraw(run, [run.units[1].episodes[0]])

    report = await compacted(run)

    assert report.let_go == 1
    with pytest.raises(NotFound, match=r"version 1 was released: .* or it had episodes"):
        await lake.snapshot(1)
    assert (await lake.snapshot()).version == report.version
    assert await findings(run) == ()
    await lake.close()


async def test_versions_without_such_rows_stay(run: MadeRun) -> None:
    lake = run.lake()
    late = run.unit(900)
    await commit(lake, late)
    assert await lake.seal() == 2
    for number in (1, 2):
        await lake.keep(number)
    run.units.append(late)
    await withdraw(run, late.episodes[:1])

    report = await compacted(run)

    assert report.let_go == 1
    assert (await lake.snapshot(1)).version == 1
    with pytest.raises(NotFound, match="version 2 was released"):
        await lake.snapshot(2)
    assert holding(run, late.episodes[0]) == []
    assert await findings(run) == ()
    await lake.close()


@pytest.mark.parametrize("table", OWNED)
async def test_a_compaction_that_was_killed_in_between_leaves_nothing_to_find(
    run: MadeRun, table: str
) -> None:
    gone = run.units[1].episodes[0]
    await withdraw(run, [gone])

    await merge_one(run, table, [withdrawal(gone)])

    assert gone.episode_id not in owners(run, table)
    assert await findings(run) == ()
    await compacted(run)
    assert holding(run, gone) == []
    assert await findings(run) == ()


async def test_rows_that_nobody_withdrew_are_missed(run: MadeRun) -> None:
    said, silent = run.units[1].episodes[:2]
    await withdraw(run, [said])

    for table in OWNED:
        await merge_one(run, table, [withdrawal(said), withdrawal(silent)])

    found = " ".join(await findings(run))
    assert f"task {silent.task_id} has the attempts" in found or "is not that of its tasks" in found
    assert said.episode_id not in found


async def merge_one(
    run: MadeRun, table: str, withdrawn: Sequence[RunWithdrawal], *, target: int = 1 << 28
) -> Merged:
    """Compact one table, and leave the others as they are."""
    access = access_to(run.store)
    handle = SwapHandle(table, table_url(run.url, table), access)
    delta = AsyncDeltaTable(handle)
    gone = WithdrawnRows(run.url, access, withdrawn)
    merged = await TableMerge(run.store, handle, delta, target=target, withdrawn=gone).run()
    delta.close()
    return merged


async def test_nothing_is_read_where_nothing_was_withdrawn(run: MadeRun) -> None:
    assert await read_withdrawals(run.store) == Withdrawals()
    none = WithdrawnRows(run.url, access_to(run.store), ())

    assert [none.holders(table, {"no such file": 1}) for table in TABLES] == [frozenset()] * len(
        TABLES
    )
