"""A run gone on with by another version of pyarrow: the same rows in other bytes.

A shard is named by its hash, so what another version writes has another name. What the first one
left half done must not count beside it. A writer of other settings stands for the other version;
with a real one the footer alone differs, or the pages too.
"""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun, make_run
from support.runs.compaction import compacted
from support.runs.memory_run import contents, findings, published, two_versions
from support.stores.faulty_lake import Cut, CutAfter, CutBefore, commit, counts, swap, whole

from schemas.tables.tables import UNIT_TABLES
from storage.audit import audit
from storage.lake.delta_table import DeltaHandle
from storage.maintenance.merge_shards import Swap, SwapHandle
from storage.publish.destinations.store import FolderDestination


class OtherWriter(pq.ParquetWriter):
    """Lays pages out in another way."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings | {"data_page_version": "2.0"})


def upgrade(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("storage.lake.parquet_writer.pq.ParquetWriter", OtherWriter)


async def assert_whole(run: MadeRun) -> None:
    report = await audit(run.store, deep=True)
    assert report.findings == ()


def shards(run: MadeRun, table: str) -> set[str]:
    return {path.name for path in (run.folder / "tables" / table).glob("*.parquet")}


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        (CutBefore, "steps"),
        (CutAfter, "episodes"),
        *(
            pytest.param(kind, table, marks=pytest.mark.full)
            for kind, tables in ((CutBefore, UNIT_TABLES), (CutAfter, ("tasks",)))
            for table in tables
            if table != "steps"
        ),
    ],
)
async def test_a_unit_cut_at_any_table_is_finished_with_its_rows_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, kind: type[DeltaHandle]
) -> None:
    run = await make_run(tmp_path / "run")
    unit = run.unit(0)
    cut = run.lake()
    swap(cut, table, kind)
    with pytest.raises(Cut):
        await commit(cut, unit)
    await cut.close()
    before = shards(run, "steps")

    upgrade(monkeypatch)
    lake = run.lake()
    await commit(lake, unit)
    await lake.seal()

    assert counts(run) == whole(unit)
    done = table == "episodes" and kind is CutAfter
    assert len(shards(run, "steps") - before) == int(not done)
    await assert_whole(run)
    await compacted(run, days=8)
    assert counts(run) == whole(unit)
    await lake.close()


@pytest.mark.full
async def test_in_a_bucket_too(bucket_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = await make_run(bucket_url)
    unit = run.unit(0)
    cut = run.lake()
    swap(cut, "steps", CutBefore)
    with pytest.raises(Cut):
        await commit(cut, unit)
    await cut.close()

    upgrade(monkeypatch)
    lake = run.lake()
    assert await commit(lake, unit)
    await lake.seal()

    assert counts(run) == whole(unit)
    assert len([item async for item in run.store.list("tables/steps/") if "0-" in item.key]) >= 2
    await assert_whole(run)
    await lake.close()


@pytest.fixture
def whole_run(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    return copy_run(tmp_path / "run", units=3)


@pytest.mark.parametrize("late", [False, True], ids=["before its commit", "after its commit"])
async def test_a_compaction_that_was_cut_is_gone_on_with(
    whole_run: MadeRun, monkeypatch: pytest.MonkeyPatch, *, late: bool
) -> None:
    exchange = SwapHandle.write_swap

    def cut(handle: SwapHandle, table: object, swap: Swap) -> None:
        if late:
            exchange(handle, table, swap)  # type: ignore[arg-type] # as it came
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr(SwapHandle, "write_swap", cut)
        with pytest.raises(Cut):
            await compacted(whole_run)

    upgrade(monkeypatch)
    await compacted(whole_run, days=8)

    assert counts(whole_run) == whole(*whole_run.units) | {"prompts": 3}
    await assert_whole(whole_run)


@pytest.mark.parametrize(
    "puts", [3, *(pytest.param(puts, marks=pytest.mark.full) for puts in (1, 6))]
)
def test_a_publication_that_was_cut_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, puts: int
) -> None:
    before, after = two_versions()
    published(before, tmp_path / "to")
    put, left = FolderDestination.put, iter(range(puts))

    async def cut(folder: FolderDestination, path: str, data: bytes) -> None:
        if next(left, None) is None:
            raise Cut
        await put(folder, path, data)

    with monkeypatch.context() as patch:
        patch.setattr(FolderDestination, "put", cut)
        with pytest.raises(Cut):
            published(after, tmp_path / "to")

    upgrade(monkeypatch)
    published(after, tmp_path / "to")
    once = contents(tmp_path / "to")
    published(after, tmp_path / "anew")
    anew = contents(tmp_path / "anew")

    assert findings(tmp_path / "to") == []
    assert once.keys() != anew.keys()  # what the first version wrote stays
    assert sorted(map(_stretch, once)) == sorted(map(_stretch, anew))
    published(after, tmp_path / "to")
    assert contents(tmp_path / "to") == once


def _stretch(path: str) -> str:
    """Return what a published file holds, without the hash in its name."""
    return path.rpartition("-")[0] if path.endswith(".parquet") else path
