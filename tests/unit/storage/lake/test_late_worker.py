"""A worker that comes late: its unit was committed, compacted and vacuumed in the meantime.

Its shards are gone from the tables and from the store, so nothing that lies there tells it that it
is late. It may not have begun, be in the middle of writing, or be stopped at the worst instant:
between asking whether the unit is in, and saying that it is.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from deltalake import CommitProperties, DeltaTable
from effort import THOROUGH
from support.episodes.factories import MadeRun, Unit, make_verdict, make_whole_run
from support.runs.compaction import compacted, findings
from support.stores.faulty_lake import commit, counts, swap, whole

from storage.lake.delta_stats import AddedFile
from storage.lake.delta_table import DeltaHandle

UNITS = 2

SAME, OTHER = 0, 5
"""The late worker's episodes are those of whoever overtakes it, or others of the same attempts."""


@pytest.fixture
async def run(request: pytest.FixtureRequest, tmp_path: Path) -> MadeRun:
    place = request.getfixturevalue("bucket_url") if request.param == "s3" else tmp_path
    return await make_whole_run(place, units=UNITS)


async def objects(run: MadeRun) -> dict[str, bytes]:
    return {item.key: await run.store.get(item.key) async for item in run.store.list()}


async def overtake(run: MadeRun, unit: Unit) -> None:
    """Commit a unit as another worker, compact the run, and remove what nobody needs any more."""
    lake = run.lake()
    await commit(lake, unit)
    await lake.close()
    assert (await compacted(run)).tables.keys() >= {"tasks", "steps", "episodes"}
    assert (await compacted(run, days=38)).removed


async def assert_once(run: MadeRun, *units: Unit) -> None:
    assert counts(run) == whole(*run.units, *units) | {"prompts": UNITS + len(units)}
    assert await findings(run) == ()


@pytest.mark.parametrize(
    "run", ["local", pytest.param("s3", marks=pytest.mark.full)], indirect=True
)
async def test_who_has_not_begun_changes_nothing(run: MadeRun) -> None:
    await compacted(run)
    assert (await compacted(run, days=38)).removed
    lake = run.lake()
    before = await objects(run)

    for unit in run.units:
        again = run.unit(int(unit.tasks[0].seed), salt=OTHER)
        assert not await commit(lake, unit)
        assert not await commit(lake, again)
        verdicts = [make_verdict(episode) for episode in unit.episodes]
        address = {"verifier": "outcome", "version": "1", "round_": 0}
        assert not await lake.commit_verdicts(unit.unit_id, verdicts=verdicts, **address)  # type: ignore[arg-type] # as told

    assert await objects(run) == before
    await lake.close()


@pytest.mark.parametrize(
    ("run", "salt"),
    [("local", OTHER), *([("local", SAME), ("s3", OTHER)] if THOROUGH else [])],
    indirect=["run"],
)
async def test_who_is_writing_its_shards_changes_no_row(run: MadeRun, salt: int) -> None:
    late, other = run.unit(700, salt=salt), run.unit(700)
    lake = run.lake()

    async with lake.unit(late.unit_id) as writer:
        for episode in late.episodes:
            await writer.add(episode)
        await overtake(run, other)
        await writer.commit(late.tasks)

    await assert_once(run, other)
    await lake.close()


class Stopped(DeltaHandle):
    """Is stopped when it has asked and is about to write, and goes on when much has happened."""

    meanwhile: Callable[[], None] | None = None

    def write(
        self, table: DeltaTable, properties: CommitProperties, files: Sequence[AddedFile]
    ) -> None:
        happens, type(self).meanwhile = type(self).meanwhile, None
        if happens is not None:
            happens()
        super().write(table, properties, files)


@pytest.mark.parametrize(
    ("run", "table", "salt"),
    [
        ("local", "tasks", OTHER),
        ("local", "episodes", SAME),
        *(
            [
                ("local", "tasks", SAME),
                ("local", "episodes", OTHER),
                ("s3", "tasks", OTHER),
                ("s3", "episodes", SAME),
            ]
            if THOROUGH
            else []
        ),
    ],
    indirect=["run"],
)
async def test_who_has_asked_and_not_yet_written_changes_no_row(
    run: MadeRun, table: str, salt: int
) -> None:
    """At `episodes` its own rows are in the other tables already, so who overtakes it has them too."""
    late = run.unit(700, salt=salt)
    other = run.unit(700, salt=salt if table == "episodes" else SAME)
    lake = run.lake()
    swap(lake, table, Stopped)
    Stopped.meanwhile = lambda: asyncio.run(overtake(run, other))

    ours = await commit(lake, late)

    assert Stopped.meanwhile is None
    assert ours == (late.episodes == other.episodes)
    await assert_once(run, other)
    await lake.close()
