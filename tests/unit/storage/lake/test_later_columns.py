"""A table that an older version made takes the rows of today, and every reader finds both."""

import asyncio
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.transaction import AddAction
from support.episodes.factories import MadeRun, Unit, make_run
from support.stores.faulty_lake import commit, counts, whole

from schemas.configuration.sections import StorageSection
from schemas.episodes.call import StructuredMode
from schemas.tables.tables import arrow_schema
from storage.audit import audit
from storage.lake.delta_stats import statistics
from storage.lake.delta_table import CONFIGURATION
from storage.lake.parquet_writer import shards
from storage.lake.shard_upload import shard_name
from storage.maintenance.compact import compact

LATER = {"reasoning": "The button is red.", "structured_mode": "json_schema"}
"""Columns of `calls` that came later, and what a call of today holds in them."""


def _before(table: Path, unit_id: str) -> None:
    """Make a table what it would be, had it been made and filled before there were those columns."""
    schema = pa.schema([f for f in arrow_schema("calls") if f.name not in LATER])
    token = DeltaTable(table).transaction_version(unit_id)
    assert token is not None
    rows = DeltaTable(table).to_pyarrow_table().select(schema.names).cast(schema)
    shutil.rmtree(table)
    DeltaTable.create(table, schema=Schema.from_arrow(schema), configuration=CONFIGURATION)
    _append(table, rows, unit_id=unit_id, token=token)


def _append(table: Path, rows: pa.Table, *, unit_id: str, token: int) -> str:
    """Commit rows with the columns that they have, and return their file's name."""
    (shard,) = shards(rows.schema, [rows], shard_bytes=1 << 28)
    name = shard_name(unit_id, 0, shard)
    (table / name).write_bytes(shard.data)
    added = AddAction(
        path=name,
        size=len(shard.data),
        partition_values={},
        modification_time=0,
        data_change=True,
        stats=statistics(shard.data),
    )
    DeltaTable(table).create_write_transaction(
        [added],
        mode="append",
        schema=Schema.from_arrow(rows.schema),
        commit_properties=CommitProperties(app_transactions=[Transaction(unit_id, token)]),
    )
    return name


def _of_today(unit: Unit) -> Unit:
    """Return a unit whose calls hold something in those columns."""
    more = {"reasoning": LATER["reasoning"], "structured_mode": StructuredMode.JSON_SCHEMA}
    return unit._replace(
        episodes=[
            episode.model_copy(
                update={"calls": tuple(call.model_copy(update=more) for call in episode.calls)}
            )
            for episode in unit.episodes
        ]
    )


@pytest.fixture
async def old(tmp_path: Path) -> tuple[MadeRun, Unit]:
    """Return a run that an older version began, and the unit that it committed."""
    run = await make_run(tmp_path / "run")
    unit = run.unit(0)
    lake = run.lake()
    await commit(lake, unit)
    await lake.close()
    _before(run.folder / "tables" / "calls", unit.unit_id)
    return run, unit


def _found(run: MadeRun, unit: Unit) -> set[tuple[str | None, ...]]:
    """Return what any reader of Delta finds in those columns for a unit's calls."""
    calls = DeltaTable(run.folder / "tables" / "calls").to_pyarrow_table()
    rows = calls.select(["unit_id", *LATER]).to_pylist()
    return {tuple(row[name] for name in LATER) for row in rows if row["unit_id"] == unit.unit_id}


async def test_an_older_table_is_read_as_it_is(old: tuple[MadeRun, Unit]) -> None:
    run, unit = old
    lake = run.lake()

    episodes = await lake.episodes(unit.unit_id)
    await lake.close()

    assert sorted(e.episode_id for e in episodes) == sorted(e.episode_id for e in unit.episodes)
    assert {call.reasoning for episode in episodes for call in episode.calls} == {None}


async def test_an_older_run_goes_on_and_is_whole(old: tuple[MadeRun, Unit]) -> None:
    run, unit = old
    more, lake = _of_today(run.unit(10)), run.lake()

    assert await commit(lake, more)
    assert not await commit(lake, unit)
    read = await lake.episodes(more.unit_id)
    await lake.close()

    assert {call.reasoning for e in read for call in e.calls} == {LATER["reasoning"]}
    assert (_found(run, unit), _found(run, more)) == ({(None, None)}, {tuple(LATER.values())})
    assert counts(run) == whole(unit, more)
    assert DeltaTable(run.folder / "tables" / "calls").metadata().configuration == CONFIGURATION
    assert (await audit(run.store, deep=True)).findings == ()


async def test_columns_are_added_once_and_nothing_else_is_written(
    old: tuple[MadeRun, Unit],
) -> None:
    run, _ = old
    log = run.folder / "tables" / "calls" / "_delta_log"
    lake = run.lake()

    for seed in (10, 20):
        await commit(lake, run.unit(seed))
    await lake.close()

    told = ["metaData" in path.read_text() for path in sorted(log.glob("*.json"))]
    assert told == [True, False, True, False, False]


async def test_workers_that_find_an_older_table_together_lose_nothing(
    old: tuple[MadeRun, Unit],
) -> None:
    run, unit = old
    units = [_of_today(run.unit(seed)) for seed in (10, 20, 30, 40)]
    lakes = [run.lake() for _ in units]

    async with asyncio.TaskGroup() as group:
        for lake, more in zip(lakes, units, strict=True):
            group.create_task(commit(lake, more))
            group.create_task(commit(lake, units[0]))
    for lake in lakes:
        await lake.close()

    assert counts(run) == whole(unit, *units)
    assert (await audit(run.store, deep=True)).findings == ()


async def test_files_of_both_kinds_are_merged(old: tuple[MadeRun, Unit]) -> None:
    run, unit = old
    more, lake = _of_today(run.unit(10)), run.lake()
    await commit(lake, more)
    await lake.seal()
    await lake.close()

    await compact(run.url, run.store, StorageSection())

    assert (_found(run, unit), _found(run, more)) == ({(None, None)}, {tuple(LATER.values())})
    assert (await audit(run.store, deep=True)).findings == ()


async def test_a_file_that_lacks_a_column_it_was_made_with_is_still_found(
    old: tuple[MadeRun, Unit],
) -> None:
    run, unit = old
    table = run.folder / "tables" / "calls"
    lake = run.lake()
    await commit(lake, _of_today(run.unit(10)))
    await lake.close()
    (path,) = table.glob(f"{unit.unit_id}-*")
    rows = pq.read_table(path).drop_columns(["finish_reason"])
    name = _append(table, rows, unit_id=unit.unit_id[::-1], token=1)

    findings = (await audit(run.store, deep=True)).findings

    assert any(
        f"{name}: lacks columns that the log declares: ['finish_reason']" in found
        for found in findings
    )
