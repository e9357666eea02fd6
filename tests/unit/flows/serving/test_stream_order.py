"""Units have the order of their commits, for every reader and after a compaction too."""

from pathlib import Path

import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun
from support.runs.compaction import UNITS, compacted

from flows.serving.stream import EpisodeStream, StreamOptions
from schemas.configuration.sections import StorageSection
from schemas.errors import Damaged
from storage.lake.file_access import entry_key
from storage.lake.unit_order import UnitOrder
from storage.objects.urls import open_store


@pytest.fixture
def run(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    return copy_run(tmp_path / "run", units=UNITS)


async def test_a_reader_gets_what_was_committed_since(run: MadeRun) -> None:
    order = UnitOrder(run.store)

    assert await order.refresh() == [unit.unit_id for unit in run.units]
    assert await order.refresh() == []
    await compacted(run)
    assert await order.refresh() == []
    assert await UnitOrder(run.store).refresh() == order.units


async def test_a_planned_run_streams_the_same_before_and_after_a_compaction(run: MadeRun) -> None:
    async def read(*, groups: bool) -> list[object]:
        stream = EpisodeStream(run.store, run.lake(), attempts=2)
        await stream.refresh()
        options = StreamOptions(groups=groups)
        items = stream.groups(0, options) if groups else stream.episodes(0, options)
        assert stream.incomplete() == []
        return [item async for item in items]

    before = [await read(groups=groups) for groups in (False, True)]
    await compacted(run)
    after = [await read(groups=groups) for groups in (False, True)]

    assert after == before
    assert [len(items) for items in before] == [UNITS * 4, UNITS * 2]


async def test_a_run_without_a_commit_has_no_units(tmp_path: Path) -> None:
    assert await UnitOrder(open_store(str(tmp_path), StorageSection())).refresh() == []


async def test_a_damaged_entry_of_the_log_is_named(run: MadeRun) -> None:
    (run.folder / entry_key("episodes", 2)).write_text("{")

    with pytest.raises(Damaged, match=r"00002\.json"):
        await UnitOrder(run.store).refresh()
