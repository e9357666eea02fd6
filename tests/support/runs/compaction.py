"""Compacting a small run, and what is looked at before and after."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from deltalake import DeltaTable
from support.episodes.factories import MadeRun

from schemas.configuration.sections import StorageSection
from schemas.tables.tables import Row
from storage.audit import audit
from storage.maintenance.compact import CompactReport, compact

NOW = datetime.now(UTC)
UNITS = 4


async def compacted(run: MadeRun, *, days: float = 0, shard_mb: int = 256) -> CompactReport:
    """Compact a run as if so many days had passed."""
    storage = StorageSection(shard_mb=shard_mb)
    return await compact(run.url, run.store, storage, now=NOW + timedelta(days=days))


async def findings(run: MadeRun) -> tuple[str, ...]:
    return (await audit(run.store, deep=True)).findings


def shards(run: MadeRun, table: str) -> list[Path]:
    return sorted((run.folder / "tables" / table).glob("*.parquet"))


def rows(run: MadeRun, table: str) -> list[Row]:
    """Return a table's rows as they are now, in an order of their own."""
    place = run.folder / "tables" / table
    if not DeltaTable.is_deltatable(str(place)):
        return []
    found: list[Row] = DeltaTable(str(place)).to_pyarrow_dataset().to_table().to_pylist()
    return sorted(found, key=repr)
