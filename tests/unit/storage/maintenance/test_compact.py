"""A compaction changes which files hold the rows, and nothing else that anybody can see."""

import gc
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import CopyRun
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from effort import THOROUGH
from support.episodes.factories import MadeRun, make_episode, make_run, make_task
from support.runs.commands import called
from support.runs.compaction import UNITS, compacted, findings, rows, shards
from support.stores.faulty_lake import commit, counts, fingerprint, whole

from schemas.episodes.observation import Screenshot
from schemas.errors import Damaged
from schemas.tables.tables import TABLES
from storage.audit import audit
from storage.lake.delta_stats import AddedFile
from storage.lake.delta_table import AsyncDeltaTable
from storage.lake.parquet_writer import Shard
from storage.lake.shard_upload import put_shard
from storage.maintenance.merge_shards import Swap, SwapHandle, TableMerge
from storage.objects.protocol import ObjectStore
from storage.spool import Spool


@pytest.fixture
def run(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    return copy_run(tmp_path / "run", units=UNITS)


async def test_the_rows_are_the_same_before_and_after(run: MadeRun) -> None:
    before = {table: rows(run, table) for table in TABLES}

    report = await compacted(run)

    assert {table: rows(run, table) for table in TABLES} == before
    assert {told.merged for told in report.tables.values()} == {UNITS}
    assert {told.into for told in report.tables.values()} == {1}
    assert report.version == 2
    assert await findings(run) == ()


async def test_units_are_read_and_resumed_as_before(run: MadeRun) -> None:
    lake = run.lake()
    units = [await lake.episodes(unit.unit_id) for unit in run.units]
    known = await lake.committed_episodes()
    await compacted(run)

    assert [await lake.episodes(unit.unit_id) for unit in run.units] == units
    assert await lake.committed_episodes() == known
    assert await lake.committed_units() == known.keys()
    for unit in run.units:
        assert len(await lake.tasks(unit.unit_id)) == len(unit.tasks)
        assert await lake.content_hashes(unit.unit_id) == {
            episode.episode_id: episode.content_sha256 for episode in unit.episodes
        }
    await lake.close()


async def test_a_second_compaction_changes_nothing(run: MadeRun) -> None:
    await compacted(run)
    before = fingerprint(run.folder)

    report = await compacted(run)

    assert report.tables == {}
    assert fingerprint(run.folder) == before


async def test_the_merged_shard_is_written_by_our_own_writer(run: MadeRun) -> None:
    [small, *_] = shards(run, "steps")
    await compacted(run)
    [merged] = (path for path in shards(run, "steps") if path.name.startswith("compact-1-"))

    was, found = pq.ParquetFile(small), pq.ParquetFile(merged)
    assert found.schema_arrow.metadata == was.schema_arrow.metadata
    assert b"huggingface" in found.schema_arrow.metadata
    for number in range(found.metadata.num_columns):
        old, new = (file.metadata.row_group(0).column(number) for file in (was, found))
        assert (new.path_in_schema, new.compression) == (old.path_in_schema, old.compression)
        assert new.has_offset_index == old.has_offset_index


async def test_shards_are_merged_up_to_the_target_size(run: MadeRun) -> None:
    lake = run.lake()
    more, tasks = (50, 2) if THOROUGH else (10, 10)
    for number in range(UNITS, UNITS + more):
        await commit(lake, run.unit(number * 10, tasks=tasks))
    await lake.close()
    total = sum(path.stat().st_size for path in shards(run, "steps"))
    assert total > 1 << 20

    report = await compacted(run, shard_mb=1)

    sizes = [file.size for file in SwapHandle("steps", f"{run.folder}/tables/steps").state().files]
    assert report.tables["steps"].into >= 1
    assert all(size <= 1 << 20 for size in sizes)
    assert sum(size > 1 << 19 for size in sizes) >= len(sizes) - 1


async def test_a_shard_that_is_large_enough_is_left_alone(run: MadeRun) -> None:
    handle = SwapHandle("steps", str(run.folder / "tables" / "steps"))
    table = AsyncDeltaTable(handle)
    least = min(file.size for file in handle.state().files)

    merged = await TableMerge(run.store, handle, table, target=2 * least).run()

    assert merged.files == 0
    table.close()


async def test_a_torn_shard_is_merged_with_nothing(run: MadeRun) -> None:
    torn = shards(run, "steps")[1]
    data = bytearray(torn.read_bytes())
    data[100] ^= 1
    torn.write_bytes(data)

    with pytest.raises(Damaged, match=rf"{torn.name}: is torn or altered"):
        await compacted(run)

    assert len(DeltaTable(str(run.folder / "tables" / "steps")).file_uris()) == UNITS
    assert not list((run.folder / "tables" / "steps").glob(".tmp-*"))


async def test_what_a_kill_left_in_the_spool_goes(run: MadeRun) -> None:
    spool = Spool(run.store)
    committed, other = run.units[0], run.unit(900)
    for episode in (*committed.episodes, *other.episodes):
        await spool.put(episode)

    report = await compacted(run)

    assert report.spooled == 1
    assert (await spool.listing()).keys() == {other.unit_id}


async def test_a_unit_committed_during_a_merge_stays(
    run: MadeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the swap."""
    lake, late = run.lake(), run.unit(500)

    async def put_late(store: ObjectStore, key: str, shard: Shard) -> AddedFile:
        if not await lake.has(late.unit_id):
            await commit(lake, late)
        return await put_shard(store, key, shard)

    monkeypatch.setattr("storage.maintenance.merge_shards.put_shard", put_late)
    await compacted(run)

    assert counts(run) == whole(*run.units, late) | {"prompts": UNITS + 1}
    assert await findings(run) == ()
    await lake.close()


async def test_a_swap_whose_answer_was_lost_counts_once(
    run: MadeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = SwapHandle.write_swap

    def exchange(handle: SwapHandle, table: DeltaTable, swap: Swap) -> None:
        real(handle, table, swap)
        raise CommitFailedError("the connection was reset")

    monkeypatch.setattr(SwapHandle, "write_swap", exchange)
    report = await compacted(run)

    assert {told.into for told in report.tables.values()} == {1}
    assert counts(run) == whole(*run.units)
    assert await findings(run) == ()


async def test_a_compactor_that_comes_second_looks_anew(run: MadeRun) -> None:
    """Both looked at the same version; only one may swap."""
    first, second = (SwapHandle("steps", str(run.folder / "tables" / "steps")) for _ in "ab")
    look, same = first.state(), second.state()
    assert look == same
    await compacted(run)
    taken = {file.path for file in second.state().files}
    swap = Swap(same.number + 1, added=_added("late.parquet"), removed=same.files)

    assert not second.swap(swap)
    assert {file.path for file in second.state().files} == taken


def _added(path: str) -> AddedFile:
    return AddedFile(path=path, size=1, modified_ms=0, stats='{"numRecords":1}')


async def test_of_two_swaps_of_one_view_delta_takes_one(run: MadeRun) -> None:
    """Even if both asked before either committed."""
    handles = [SwapHandle("tasks", str(run.folder / "tables" / "tasks")) for _ in "ab"]
    tables = [handle.refresh() for handle in handles]
    swaps = [
        Swap(1, added=_added(f"{name}.parquet"), removed=handles[0].state().files) for name in "ab"
    ]
    assert all(tables)

    handles[0].write_swap(tables[0], swaps[0])  # type: ignore[arg-type] # it is there
    with pytest.raises(CommitFailedError):
        handles[1].write_swap(tables[1], swaps[1])  # type: ignore[arg-type] # it is there


async def test_an_empty_run_has_nothing_to_compact(tmp_path: Path) -> None:
    run = await make_run(tmp_path / "run")

    report = await compacted(run)

    assert (report.version, report.tables) == (0, {})


def test_where_no_run_lies_nothing_is_compacted(tmp_path: Path) -> None:
    said = called("compact", str(tmp_path))

    assert said.code == 2
    assert "run.json" in said.err
    assert list(tmp_path.iterdir()) == []


async def test_a_quick_audit_believes_a_checkpoint_and_looks_for_what_it_stands_for(
    run: MadeRun,
) -> None:
    log = run.folder / "tables" / "steps" / "_delta_log"
    DeltaTable(str(log.parent)).create_checkpoint()
    await compacted(run)
    assert (await audit(run.store, deep=False)).findings == ()
    [gone, torn] = (log / f"{UNITS - number:020d}" for number in (1, 0))
    gone.with_suffix(".json").unlink()

    [missing] = (await audit(run.store, deep=False)).findings
    assert (
        missing
        == f"tables/steps/_delta_log/{gone.name}.json: is missing: an entry of the table's log"
    )

    torn.with_suffix(".checkpoint.parquet").write_bytes(b"PAR1")
    assert any("is torn" in found for found in (await audit(run.store, deep=False)).findings)


async def test_a_unit_of_any_size_is_written_within_a_few_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow's memory and Python's, told apart: neither grows with the unit."""
    group = 1 << 20
    monkeypatch.setattr("storage.lake.parquet_writer.ROW_GROUP_BYTES", group)
    run = await make_run(tmp_path / "run")
    lake, [task] = run.lake(), [make_task(1)]
    picture = Random(1).randbytes(100_000)
    most = 0
    gc.collect()  # what tests before this one left is not the unit's
    before = pa.total_allocated_bytes()
    async with lake.unit("ab" * 16) as writer:
        for attempt in range(40):
            episode = make_episode(task, attempt=attempt, unit_id="ab" * 16, run_id=run.run_id)
            steps = [
                step.model_copy(update={"screenshot": Screenshot(bytes=picture, path="a.jpg")})
                for step in episode.steps
            ]
            await writer.add(episode.model_copy(update={"steps": tuple(steps)}))
            most = max(most, pa.total_allocated_bytes() - before)
        assert await writer.commit([task])

    assert sum(path.stat().st_size for path in shards(run, "steps")) > 10 * group
    assert most < 3 * group
    await lake.close()


def test_what_is_published_before_and_after_is_the_same(run: MadeRun, tmp_path: Path) -> None:
    to = tmp_path / "to"
    argv = ("publish", run.url, "--to", str(to), "--no-prefect", '--set=accept.passed=["outcome"]')
    first = called(*argv)
    assert first.code == 0, first.err
    before = fingerprint(to / "data")
    assert (run.folder / "keeping" / "1.json").exists()

    said = called("compact", run.url, "--json")
    assert said.code == 0, said.err
    assert said.answer["version"] == 2
    again = called(*argv)

    assert again.code == 0, again.err
    assert fingerprint(to / "data") == before
    old = called(*argv, "--version", "1")
    assert old.code == 0, old.err
