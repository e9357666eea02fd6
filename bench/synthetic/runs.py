"""A run of many committed units on the disk, each with one episode and a verdict on it.

Our own writers make the first unit. To save time, the shards of the small tables are links to one
file, and the log's entries after the first are copies of it with other file names.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from deltalake import Transaction

from bench.synthetic.rows import synthetic_row
from flows.job.judging import panel_id
from flows.job.plan import PlannedUnit, plan_units
from flows.resources.resources import RunResources
from generators.verify.structure import Structure
from schemas.base import content_hash
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import RunSection, TasksSection, VerifySection
from schemas.ids import verdict_transaction
from schemas.tables.tables import UNIT_TABLES, arrow_schema, to_row
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Status, Verdict
from storage.lake.delta_stats import AddedFile, statistics
from storage.lake.delta_table import CommitEntry, DeltaHandle
from storage.lake.file_access import table_url
from storage.lake.judged_units import JudgedMark
from storage.lake.parquet_writer import MEGABYTE, Shard, shards
from storage.lake.shard_upload import shard_name
from storage.objects.local import LocalStore
from storage.run_file import create_run

UNSHARED = {"episodes", "verdicts"}
"""Tables in which each unit has a shard of its own."""


def make_config(place: Path | str, units: int) -> tuple[RunConfig, list[Task]]:
    """Return a run's configuration and its tasks, one for each unit."""
    config = RunConfig(
        run=RunSection(url=str(place)),
        tasks=TasksSection(unit_size=1),
        verify=VerifySection(verifiers=("structure",)),
    )
    tasks = [
        Task(
            task_id=content_hash(["task", number]),
            template_id="synthetic",
            source="synthetic",
            site="miniwob",
            start_url="http://miniwob.localhost/",
            instruction="Do it.",
            split="train",
        )
        for number in range(units)
    ]
    return config, tasks


async def make_run(place: Path, units: int) -> None:
    """Write a run of `units` committed units, each with one episode and a verdict on it."""
    config, tasks = make_config(place, units)
    store = LocalStore(place)
    run = await create_run(store, config, provenance={})
    plan = plan_units(config, tasks, run_id=run.run_id)
    async with RunResources(config) as resources:
        mark = JudgedMark(panel_id(resources.panel), rows=1)
    for table in (*UNIT_TABLES, "verdicts"):
        make_table(place, table, plan, mark=mark)


def make_table(place: Path, table: str, plan: Sequence[PlannedUnit], *, mark: JudgedMark) -> None:
    """Write a table: a shard and a log entry for each unit, and a checkpoint."""
    folder = Path(table_url(str(place), table))
    handle, first = DeltaHandle(table, str(folder)), shard_of(table, plan[0])
    shared = put_shard(folder, plan[0].unit_id, first)
    [transaction, *also] = transactions_of(table, plan[0].unit_id, mark)
    handle.commit_once(CommitEntry(transaction.app_id, 1, [shared], also[0] if also else None))
    entry = (folder / "_delta_log" / f"{1:020d}.json").read_text()
    for number, unit in enumerate(plan[1:], 2):
        if table in UNSHARED:
            added = put_shard(folder, unit.unit_id, shard_of(table, unit))
        else:
            added = put_shard(folder, unit.unit_id, first, like=shared)
        actions = [json.loads(line) for line in entry.splitlines()]
        transactions = iter(transactions_of(table, unit.unit_id, mark))
        for action in actions:
            if "add" in action:
                action["add"] |= {"path": added.path, "size": added.size, "stats": added.stats}
            if "txn" in action:
                action["txn"]["appId"] = next(transactions).app_id
        lines = "\n".join(map(json.dumps, actions))
        (folder / "_delta_log" / f"{number:020d}.json").write_text(lines)
    delta_table = handle.refresh()
    if delta_table is not None:
        delta_table.create_checkpoint()


def transactions_of(table: str, unit_id: str, mark: JudgedMark) -> list[Transaction]:
    """Return the application transactions of a unit's commit to a table."""
    if table != "verdicts":
        return [Transaction(unit_id, 1)]
    transaction = verdict_transaction(unit_id, Structure.name, Structure.version, 0)
    return [Transaction(transaction, 1), Transaction(mark.transaction(unit_id), mark.rows)]


def shard_of(table: str, unit: PlannedUnit) -> Shard:
    """Return the shard of a unit in a table."""
    [planned] = unit.attempts
    ids = {
        "unit_id": unit.unit_id,
        "episode_id": planned.episode_id,
        "task_id": planned.task.task_id,
    }
    row = to_row(make_verdict(unit)) if table == "verdicts" else synthetic_row(table)
    row |= {name: value for name, value in ids.items() if name in row}
    [shard] = shards(arrow_schema(table), [[row]], shard_bytes=MEGABYTE)
    return shard


def make_verdict(unit: PlannedUnit) -> Verdict:
    """Return a verdict on a unit's episode."""
    return Verdict(
        episode_id=unit.attempts[0].episode_id,
        unit_id=unit.unit_id,
        verifier=Structure.name,
        verifier_version=Structure.version,
        round=0,
        status=Status.PASSED,
        reason="Whole.",
        seconds=0.0,
        judged_at=datetime(2026, 1, 2, tzinfo=UTC),
    )


def put_shard(
    folder: Path, unit_id: str, shard: Shard, *, like: AddedFile | None = None
) -> AddedFile:
    """Write a unit's shard into a table's folder, or link it to the file `like`."""
    path = folder / shard_name(unit_id, 0, shard)
    if like is not None:
        path.hardlink_to(folder / like.path)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shard.data)
    stats = json.loads(statistics(shard.draft) if like is None else like.stats)
    for end in ("minValues", "maxValues"):
        if "unit_id" in stats[end]:
            stats[end]["unit_id"] = unit_id
    return AddedFile(
        path=path.name,
        size=len(shard.draft),
        modified_ms=1_767_322_800_000,
        stats=json.dumps(stats),
    )
