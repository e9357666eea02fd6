"""What storing costs: writing shards, committing a unit, and finding one's way in a large run.

* Writing: rows of `steps` with JPEG-like pictures of 60 to 160 kB become Parquet files that are on
  the disk when it ends. Ours (shards of the default size, hashed, put into a folder) against
  `datasets` (`Dataset.from_generator`, then `to_parquet`) and against one plain `pq.write_table`
  with our settings of the same rows in memory. Each writer works in a process of its own, on rows
  that it makes one by one outside of the measured time; its peak memory is that process's.
* Committing: one unit's transaction to one table, the question included, on one held handle; the
  mean over 100 commits, which is one checkpoint interval, at 10,000 units against that at 100.
* Finding: a shallow audit and the planning of a resumed run of 10,000 units, in a process of its
  own. The run is made by our own writers, but its light tables share one shard's bytes.

Lines: at least 3 times as fast as `datasets` and 0.8 times as fast as `write_table`; a commit at
10,000 units at most 4 times as slow as at 100; audit and planning within 10 s and 500 MB.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from deltalake import CommitProperties, Transaction

from bench.filling.rows import made_up, step_rows
from flows.plan import PlannedUnit, make_plan
from flows.survey import survey
from flows.wiring import Workshop
from schemas.base import content_hash
from schemas.config import RunConfig
from schemas.sections import RunSection, TasksSection, VerifySection
from schemas.tables import UNIT_TABLES, arrow_schema, row
from schemas.task import Task
from schemas.verdict import Status, Verdict
from storage.audit import audit
from storage.commits import Filling
from storage.delta import Handle
from storage.local import LocalStore
from storage.places import table_url
from storage.runs import create_run, open_run
from storage.shards import MEGABYTE, Shard, batches, shard_name, shards, writer_settings
from storage.statistics import Added, statistics

LEAST_TO_DATASETS = 3.0
LEAST_TO_PLAIN = 0.8
MOST_COMMIT_RATIO = 4.0
MOST_SECONDS = 10.0
MOST_MB = 500.0
SAMPLE = 100
OWN_BYTES = {"episodes", "verdicts"}

T = TypeVar("T")
"""Whatever a measured piece of work returns."""


class Figure(NamedTuple):
    """What one writer took."""

    seconds: float
    """From the first row to the last byte on the disk."""
    megabytes: float
    """Of Parquet."""
    peak_mb: float
    """The most memory of the process beyond what it had before the first row."""

    @property
    def rate(self) -> float:
        """MB a second."""
        return self.megabytes / self.seconds


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--units", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stepmill-bench-") as folder:
        base = Path(folder)
        figures = writing(base, args.steps, args.rounds)
        figures |= committing(base, args.units) | finding(base, args.units)
    held = (
        figures["ours_to_datasets"] >= LEAST_TO_DATASETS
        and figures["ours_to_plain"] >= LEAST_TO_PLAIN
        and figures["commit_ratio"] <= MOST_COMMIT_RATIO
        and figures["find_seconds"] <= MOST_SECONDS
        and figures["find_peak_mb"] <= MOST_MB
    )
    told = {name: round(value, 3) for name, value in figures.items()}
    print(
        json.dumps(
            {"bench": "storage", "steps": args.steps, "units": args.units, **told, "held": held}
        )
    )
    return 0 if held else 1


def alone(work: Callable[..., T], *args: object) -> T:
    """Return what `work` returns in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(work, *args).result()


def peak_mb() -> float:
    """Return the most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


def writing(base: Path, steps: int, rounds: int) -> dict[str, float]:
    """Return how fast each writer is: the best of several rounds, taken in turn."""
    writers = {"ours": write_ours, "datasets": write_datasets, "plain": write_plain}
    found: dict[str, list[Figure]] = {name: [] for name in writers}
    for number in range(rounds):
        for name, write in writers.items():
            found[name].append(alone(write, base / f"{name}-{number}", steps))
    best = {name: max(figures, key=lambda f: f.rate) for name, figures in found.items()}
    out = {f"{name}_mb_per_second": figure.rate for name, figure in best.items()}
    out |= {f"{name}_peak_mb": max(f.peak_mb for f in found[name]) for name in writers}
    return out | {
        "ours_to_datasets": best["ours"].rate / best["datasets"].rate,
        "ours_to_plain": best["ours"].rate / best["plain"].rate,
    }


def write_ours(place: Path, steps: int) -> Figure:
    """Write the rows as a unit's are: an episode at a time, into a folder."""

    async def write() -> None:
        rows = step_rows(steps)
        filling = Filling(LocalStore(place), "steps", "ab" * 16, shard_bytes=256 * MEGABYTE)
        with filling:
            while some := [row for row, _ in zip(rows, range(20), strict=False)]:
                await filling.add(some)
            await filling.end()

    return measured(lambda: asyncio.run(write()), place)


def write_datasets(place: Path, steps: int) -> Figure:
    """Write the rows as whoever uses `datasets` does."""
    import datasets  # type: ignore[import-untyped] # noqa: PLC0415 - only in this process

    features = datasets.Features.from_arrow_schema(arrow_schema("steps"))
    features["screenshot"] = datasets.Image()
    datasets.disable_progress_bars()

    def write() -> None:
        made = datasets.Dataset.from_generator(
            step_rows,
            features=features,
            gen_kwargs={"steps": steps},
            cache_dir=str(place / "cache"),
        )
        made.to_parquet(str(place / "steps.parquet"))
        synced(place / "steps.parquet")

    return measured(write, place)


def write_plain(place: Path, steps: int) -> Figure:
    """Write the rows, all in memory, with one call."""
    import pyarrow as pa  # noqa: PLC0415 - only in this writer's process
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = arrow_schema("steps")
    place.mkdir(parents=True)
    rows = list(step_rows(steps))

    def write() -> None:
        table = pa.Table.from_pylist(rows, schema=schema)
        pq.write_table(table, place / "steps.parquet", **writer_settings(schema))
        synced(place / "steps.parquet")

    return measured(write, place)


def measured(write: Callable[[], None], place: Path) -> Figure:
    """Return what `write`, which writes Parquet below `place`, takes."""
    next(step_rows(1))
    before, begun = peak_mb(), time.perf_counter()
    write()
    seconds = time.perf_counter() - begun
    size = sum(path.stat().st_size for path in place.rglob("*.parquet"))
    return Figure(seconds, size / 1e6, peak_mb() - before)


def synced(path: Path) -> None:
    """Have the disk hold a file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def committing(base: Path, units: int) -> dict[str, float]:
    """Return what a commit costs in a small and in a large table."""
    few, many = (alone(commit_ms, base / f"commits-{n}", n) for n in (SAMPLE, units))
    return {"commit_ms_at_100": few, "commit_ms_at_most": many, "commit_ratio": many / few}


def commit_ms(place: Path, units: int) -> float:
    """Return the mean ms of a commit to a table that has so many units."""
    handle = Handle("tasks", str(place))
    handle.attempt("first", 1, [])
    table = handle.refresh()
    if table is None:
        raise SystemExit("the table was made and is not there")
    ids = [content_hash(["unit", number]) for number in range(units + SAMPLE)]
    transactions = [Transaction(unit_id, 1) for unit_id in ids[:units]]
    handle.write(
        table, CommitProperties(app_transactions=transactions), [added(u) for u in ids[:units]]
    )
    table.update_incremental()
    table.create_checkpoint()
    handle.refresh()
    begun = time.perf_counter()
    for unit_id in ids[units:]:
        handle.attempt(unit_id, 1, [added(unit_id)])
    return (time.perf_counter() - begun) / SAMPLE * 1e3


def added(unit_id: str) -> Added:
    """Return a file of a unit as a commit tells of it."""
    ends = {"unit_id": unit_id, "task_id": unit_id}
    stats = {"numRecords": 4, "minValues": ends, "maxValues": ends, "nullCount": {"unit_id": 0}}
    return Added(
        path=f"{unit_id}-0-{content_hash([unit_id])}{'0' * 32}.parquet",
        size=10_000,
        modified_ms=1_767_322_800_000,
        stats=json.dumps(stats),
    )


def finding(base: Path, units: int) -> dict[str, float]:
    """Return what an audit and the planning of a resumed run cost together."""
    place = base / "run"
    asyncio.run(lay_out(place, units))
    seconds, peak = alone(find, place, units)
    return {"find_seconds": seconds, "find_peak_mb": peak}


def configured(place: Path, units: int) -> tuple[RunConfig, list[Task]]:
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
    plan = make_plan(config, tasks, run_id=run.run_id)
    for table in (*UNIT_TABLES, "verdicts"):
        lay_table(place, table, plan)


def lay_table(place: Path, table: str, plan: Sequence[PlannedUnit]) -> None:
    """Make one table: a shard and a log entry for each unit, and a checkpoint."""
    folder = Path(table_url(str(place), table))
    handle, first = Handle(table, str(folder)), shard_of(table, plan[0])
    theirs = put(folder, plan[0].unit_id, first)
    handle.attempt(plan[0].unit_id, 1, [theirs])
    entry = (folder / "_delta_log" / f"{1:020d}.json").read_text()
    for number, unit in enumerate(plan[1:], 2):
        if table in OWN_BYTES:
            told = put(folder, unit.unit_id, shard_of(table, unit))
        else:
            told = put(folder, unit.unit_id, first, like=theirs)
        actions = [json.loads(line) for line in entry.splitlines()]
        for action in actions:
            if "add" in action:
                action["add"] |= {"path": told.path, "size": told.size, "stats": told.stats}
            if "txn" in action:
                action["txn"]["appId"] = unit.unit_id
        lines = "\n".join(map(json.dumps, actions))
        (folder / "_delta_log" / f"{number:020d}.json").write_text(lines)
    held = handle.refresh()
    if held is not None:
        held.create_checkpoint()


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
        made = row(verdict_on(unit))
    told = {name: value for name, value in ids.items() if name in made}
    schema = arrow_schema(table)
    [shard] = shards(schema, batches([made | told], schema), shard_bytes=MEGABYTE)
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


def put(folder: Path, unit_id: str, shard: Shard, *, like: Added | None = None) -> Added:
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
    return Added(
        path=path.name,
        size=len(shard.draft),
        modified_ms=1_767_322_800_000,
        stats=json.dumps(stats),
    )


def find(place: Path, units: int) -> tuple[float, float]:
    """Audit a run and plan to go on with it; return the seconds and the most MB that took."""

    async def look() -> None:
        config, tasks = configured(place, units)
        store = LocalStore(place)
        begun = time.perf_counter()
        report = await audit(store, deep=False)
        seconds.append(time.perf_counter() - begun)
        run = await open_run(store)
        async with Workshop(config) as shop:
            found = await survey(shop, make_plan(config, tasks, run_id=run.run_id))
        seconds.append(time.perf_counter() - begun)
        if report.findings or found.pending or len(found.committed) != units:
            raise SystemExit(f"the run is not what was made: {report.findings[:3]}")

    seconds: list[float] = []
    asyncio.run(look())
    print(f"audit {seconds[0]:.1f} s, planning {seconds[1] - seconds[0]:.1f} s", file=sys.stderr)
    return seconds[-1], peak_mb()


if __name__ == "__main__":
    sys.exit(main())
