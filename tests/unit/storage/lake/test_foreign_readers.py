"""The run's tables are read by the tools people have, without a line of this program."""

import asyncio

import duckdb
import polars as pl
import pytest
from deltalake import DeltaTable
from support.episodes.factories import MadeRun, make_whole_run

from schemas.base import sha256_hex


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> MadeRun:
    return asyncio.run(make_whole_run(tmp_path_factory.mktemp("run"), units=3))


def table(run: MadeRun, name: str) -> str:
    return str(run.folder / "tables" / name)


def test_polars_scans_every_table(run: MadeRun) -> None:
    for name in ("tasks", "episodes", "steps", "calls", "prompts", "observations", "verdicts"):
        expected = DeltaTable(table(run, name)).to_pyarrow_dataset().count_rows()

        assert pl.scan_delta(table(run, name)).collect().height == expected > 0


def test_polars_finds_each_row_by_what_rows_are_looked_up_by(run: MadeRun) -> None:
    """A wrong range in the log would make rows vanish here."""
    steps = pl.scan_delta(table(run, "steps"))
    for unit in run.units:
        for episode in unit.episodes:
            mine = steps.filter(
                (pl.col("unit_id") == unit.unit_id)
                & (pl.col("episode_id") == episode.episode_id)
                & (pl.col("at") >= episode.steps[0].at)
                & (pl.col("at") <= episode.steps[-1].at)
            )
            found = mine.sort("step").collect()
            pictures = found["screenshot"].struct.field("bytes")
            assert found["step"].to_list() == [0, 1, 2]
            assert [sha256_hex(data) for data in pictures] == [
                step.screenshot_sha256 for step in episode.steps
            ]


def test_duckdb_joins_the_tables(run: MadeRun) -> None:
    with duckdb.connect() as connection:
        for name in ("episodes", "steps", "verdicts"):
            dataset = DeltaTable(table(run, name)).to_pyarrow_dataset()
            connection.register(name, dataset)
        rows = connection.execute(
            """
            select episode_id, any_value(v.status), count(*), sum(octet_length(s.screenshot.bytes))
            from episodes e join steps s using (episode_id) join verdicts v using (episode_id)
            where e.reward >= 1 and e.started_at < now() group by episode_id
            """
        ).fetchall()

    assert {row[0] for row in rows} == {e.episode_id for unit in run.units for e in unit.episodes}
    assert {row[1:3] for row in rows} == {("passed", 3)}
    assert all(row[3] > 1_000 for row in rows)


def test_pandas_reads_a_table(run: MadeRun) -> None:
    frame = DeltaTable(table(run, "episodes")).to_pandas()

    assert sorted(frame["unit_id"].unique()) == sorted(unit.unit_id for unit in run.units)
    assert frame["n_steps"].sum() == sum(e.n_steps for unit in run.units for e in unit.episodes)
