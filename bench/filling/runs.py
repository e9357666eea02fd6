"""A run of many committed units on the disk, each with one episode and a verdict on it.

It is made by our own writers, but its light tables share one shard's bytes, and the log's entries
after the first are copies of it that speak of other files.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from deltalake import Transaction

from bench.filling.rows import made_up
from flows.job.judging import panel_id
from flows.job.plan import PlannedUnit, plan_units
from flows.resources.resources import RunResources
from schemas.base import content_hash
from schemas.config import RunConfig
from schemas.ids import verdict_transaction
from schemas.sections import RunSection, TasksSection, VerifySection
from schemas.tables import UNIT_TABLES, arrow_schema, to_row
from schemas.task import Task
from schemas.verdict import Status, Verdict
from storage.lake.delta_access import table_url
from storage.lake.delta_stats import AddedFile, statistics
from storage.lake.delta_table import CommitEntry, DeltaHandle
from storage.lake.judged_units import JudgedMark
from storage.lake.parquet_writer import MEGABYTE, Shard, shards
from storage.lake.shard_commit import shard_name
from storage.objects.local import LocalStore
from storage.run_file import create_run

OWN_BYTES = {"episodes", "verdicts"}
"""Tables whose shards are each one's own."""


def configured(place: Path | str, units: int) -> tuple[RunConfig, list[Task]]:
    """Return a run's configuration and its tasks, one a unit."""
    config = RunConfig(
        run=RunSection(url=str(place)),
        tasks=TasksSection(unit_size=1),
        verify=VerifySection(verifiers=("structure",)),
    )
    tasks = [
        Task(
            task_id=content_hash(["task", number]),
            template_id="made-up",
            source="made-up",
            site="miniwob",
            start_url="http://miniwob.localhost/",
            instruction="Do it.",
            split="train",
        )
        for number in range(units)
    ]
    return config, tasks


async def lay_out(place: Path, units: int) -> None:
    """Make a run of so many committed units, each with one episode and a verdict on it."""
    config, tasks = configured(place, units)
    store = LocalStore(place)
    run = await create_run(store, config, provenance={})
    plan = plan_units(config, tasks, run_id=run.run_id)
    async with RunResources(config) as shop:
        mark = JudgedMark(panel_id(shop.panel), rows=1)
    for table in (*UNIT_TABLES, "verdicts"):
        lay_table(place, table, plan, mark=mark)


def lay_table(place: Path, table: str, plan: Sequence[PlannedUnit], *, mark: JudgedMark) -> None:
    """Make one table: a shard and a log entry for each unit, and a checkpoint."""
    folder = Path(table_url(str(place), table))
    handle, first = DeltaHandle(table, str(folder)), shard_of(table, plan[0])
    theirs = put(folder, plan[0].unit_id, first)
    [transaction, *also] = noted(table, plan[0].unit_id, mark)
    handle.commit_once(CommitEntry(transaction.app_id, 1, [theirs], also[0] if also else None))
    entry = (folder / "_delta_log" / f"{1:020d}.json").read_text()
    for number, unit in enumerate(plan[1:], 2):
        if table in OWN_BYTES:
            added = put(folder, unit.unit_id, shard_of(table, unit))
        else:
            added = put(folder, unit.unit_id, first, like=theirs)
        actions = [json.loads(line) for line in entry.splitlines()]
        named = iter(noted(table, unit.unit_id, mark))
        for action in actions:
            if "add" in action:
                action["add"] |= {"path": added.path, "size": added.size, "stats": added.stats}
            if "txn" in action:
                action["txn"]["appId"] = next(named).app_id
        lines = "\n".join(map(json.dumps, actions))
        (folder / "_delta_log" / f"{number:020d}.json").write_text(lines)
    held = handle.refresh()
    if held is not None:
        held.create_checkpoint()


def noted(table: str, unit_id: str, mark: JudgedMark) -> list[Transaction]:
    """Return what a commit notes of a unit in a table."""
    if table != "verdicts":
        return [Transaction(unit_id, 1)]
    transaction = verdict_transaction(unit_id, "structure", "1", 0)
    return [Transaction(transaction, 1), Transaction(mark.transaction(unit_id), mark.rows)]


def shard_of(table: str, unit: PlannedUnit) -> Shard:
    """Return the shard of a unit in a table."""
    [planned] = unit.attempts
    ids = {
        "unit_id": unit.unit_id,
        "episode_id": planned.episode_id,
        "task_id": planned.task.task_id,
    }
    made = made_up(table)
    if table == "verdicts":
        made = to_row(verdict_on(unit))
    known = {name: value for name, value in ids.items() if name in made}
    [shard] = shards(arrow_schema(table), [[made | known]], shard_bytes=MEGABYTE)
    return shard


def verdict_on(unit: PlannedUnit) -> Verdict:
    """Return what the verifier says of a unit's episode."""
    return Verdict(
        episode_id=unit.attempts[0].episode_id,
        unit_id=unit.unit_id,
        verifier="structure",
        verifier_version="1",
        round=0,
        status=Status.PASSED,
        reason="Whole.",
        seconds=0.0,
        judged_at=datetime(2026, 1, 2, tzinfo=UTC),
    )


def put(folder: Path, unit_id: str, shard: Shard, *, like: AddedFile | None = None) -> AddedFile:
    """Have a unit's shard lie in a table's folder, linked to a file `like` it if there is one."""
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
