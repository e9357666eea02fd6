"""Versions pin the tables; what is lost or torn behind them is named, not made anew."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.episodes.factories import MadeRun, make_run, make_verdict
from support.stores.faulty_lake import commit, whole

from schemas.errors import Damaged, NotFound
from schemas.tables.tables import UNIT_TABLES
from storage.lake.lake import Lake
from storage.lake.versions import version_key


@pytest.fixture
async def run(tmp_path: Path) -> MadeRun:
    return await make_run(tmp_path / "run")


@pytest.fixture
async def lake(run: MadeRun) -> AsyncIterator[Lake]:
    lake = run.lake()
    yield lake
    await lake.close()


async def test_a_version_is_made_only_when_something_is_newer(run: MadeRun, lake: Lake) -> None:
    assert await lake.seal() == 0
    await commit(lake, run.unit(0))

    assert [await lake.seal(), await lake.seal()] == [1, 1]

    await commit(lake, run.unit(10))
    assert await lake.seal() == 2


async def test_a_version_stays_as_it_was(run: MadeRun, lake: Lake) -> None:
    first, second = run.unit(0), run.unit(10)
    await commit(lake, first)
    await lake.seal()
    await commit(lake, second)
    verdict = make_verdict(first.episodes[0])
    await lake.commit_verdicts(
        first.unit_id, verifier="outcome", version="1", round_=0, verdicts=[verdict]
    )
    await lake.seal()

    old, new = await lake.snapshot(1), await lake.snapshot()

    assert (old.version, new.version) == (1, 2)
    for table in UNIT_TABLES:
        dataset, grown = await old.dataset(table), await new.dataset(table)
        assert dataset is not None
        assert dataset.count_rows() == whole(first)[table]
        assert grown is not None
        assert grown.count_rows() == whole(first, second)[table]
    assert await old.dataset("verdicts") is None
    assert await old.dataset("reviews") is None
    assert await lake.verdicts(version=1) == []
    assert await lake.verdicts(version=2) == [verdict]


async def test_a_version_that_does_not_exist_is_named_with_those_that_do(
    run: MadeRun, lake: Lake
) -> None:
    with pytest.raises(NotFound, match="has no version yet"):
        await lake.snapshot()
    await commit(lake, run.unit(0))
    await lake.seal()

    with pytest.raises(NotFound, match="has no version 7; there are: 1"):
        await lake.snapshot(7)


async def test_an_episode_that_does_not_exist_is_named(run: MadeRun, lake: Lake) -> None:
    with pytest.raises(NotFound, match="has no episode cafe"):
        await lake.episode("cafe")
    await commit(lake, run.unit(0))
    with pytest.raises(NotFound, match="has no episode cafe"):
        await lake.episode("cafe")


async def test_a_table_whose_log_is_gone_is_not_made_anew(run: MadeRun, lake: Lake) -> None:
    await commit(lake, run.unit(0))
    await lake.seal()
    for entry in (run.folder / "tables" / "tasks" / "_delta_log").iterdir():
        entry.unlink()

    again = run.lake()
    with pytest.raises(Damaged, match=r"tables/tasks: the log is missing, but versions/1\.json"):
        await commit(again, run.unit(10))
    with pytest.raises(Damaged, match="tables/tasks: the log ends before version 1"):
        await again.seal()
    await again.close()


async def test_a_torn_log_is_named(run: MadeRun, lake: Lake) -> None:
    await commit(lake, run.unit(0))
    entry = run.folder / "tables" / "episodes" / "_delta_log" / f"{1:020d}.json"
    entry.write_bytes(entry.read_bytes()[:50])

    again = run.lake()
    with pytest.raises(Damaged, match="tables/episodes: cannot be read"):
        await again.committed_units()
    await again.close()


async def test_a_lost_shard_is_named(run: MadeRun, lake: Lake) -> None:
    unit = run.unit(0)
    await commit(lake, unit)
    [shard] = (run.folder / "tables" / "steps").glob("*.parquet")
    shard.unlink()

    with pytest.raises(Damaged, match=shard.name):
        await lake.episodes(unit.unit_id)


async def test_a_torn_version_is_named(run: MadeRun, lake: Lake) -> None:
    await run.store.put(version_key(1), b'{"steps": ')

    with pytest.raises(Damaged, match=r"versions/1\.json"):
        await lake.snapshot()
    with pytest.raises(Damaged, match=r"versions/1\.json"):
        await lake.seal()
