"""What a large run costs: committing one more unit, and finding one's way in it.

* Committing: one unit's transaction to one table, the question included, on one held handle; the
  mean over 100 commits, which is one checkpoint interval, at 10,000 units against that at 100; in a
  folder, and in a bucket of an S3 server on this machine.
* Finding: a shallow audit and the planning of a resumed run of 10,000 units in a folder, in a
  process of its own. The run is made by our own writers, but its light tables share one shard's
  bytes.

Lines: a commit at 10,000 units at most 4 times as slow as at 100, and at most 0.3 s in the bucket;
audit and planning within 10 s and 500 MB.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from deltalake import CommitProperties, Transaction
from support.servers.seaweedfs import Weed

from bench.measuring.process import alone, peak_mb
from bench.measuring.result import report
from bench.synthetic.runs import make_config, make_run
from flows.job.plan import plan_units
from flows.job.resume_state import read_resume_state
from flows.resources.resources import RunResources
from schemas.base import content_hash
from schemas.configuration.sections import StorageSection
from storage.audit import audit
from storage.lake.delta_stats import AddedFile
from storage.lake.delta_table import CommitEntry, DeltaHandle
from storage.lake.file_access import access_to, table_url
from storage.objects.local import LocalStore
from storage.objects.urls import open_store
from storage.run_file import open_run

MAX_COMMIT_RATIO = 4.0
MAX_COMMIT_MS = 300.0
MAX_SECONDS = 10.0
MAX_MB = 500.0
SAMPLE = 100


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=10_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stepmill-bench-") as folder:
        base = Path(folder)
        figures = committing(base, args.units) | finding(base, args.units)
    held = (
        max(figures["commit_ratio"], figures["bucket_commit_ratio"]) <= MAX_COMMIT_RATIO
        and figures["bucket_commit_ms_at_most"] <= MAX_COMMIT_MS
        and figures["find_seconds"] <= MAX_SECONDS
        and figures["find_peak_mb"] <= MAX_MB
    )
    rounded = {name: round(value, 3) for name, value in figures.items()}
    limits = {
        "max_commit_ratio": MAX_COMMIT_RATIO,
        "max_bucket_commit_ms": MAX_COMMIT_MS,
        "max_find_seconds": MAX_SECONDS,
        "max_find_peak_mb": MAX_MB,
    }
    report({"bench": "large_runs", "units": args.units, **rounded, **limits, "held": held})
    return 0 if held else 1


def committing(base: Path, units: int) -> dict[str, float]:
    """Return what a commit costs in a small and in a large table."""
    figures = compared("commit", str(base / "commits"), units)
    weed = Weed(base)
    weed.start()
    try:
        os.environ |= weed.environment
        return figures | compared("bucket_commit", weed.place(), units)
    finally:
        weed.kill()


def compared(name: str, place: str, units: int) -> dict[str, float]:
    """Return the ms of a commit in a small and in a large table of runs below a place."""
    few, many = (alone(commit_ms, f"{place}-{n}", n) for n in (SAMPLE, units))
    return {f"{name}_ms_at_100": few, f"{name}_ms_at_most": many, f"{name}_ratio": many / few}


def commit_ms(run: str, units: int) -> float:
    """Return the mean ms of a commit to a table of a run that has so many units."""
    access = access_to(open_store(run, StorageSection()))
    handle = DeltaHandle("tasks", table_url(run, "tasks"), access)
    handle.commit_once(CommitEntry("first", 1, []))
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
        handle.commit_once(CommitEntry(unit_id, 1, [added(unit_id)]))
    return (time.perf_counter() - begun) / SAMPLE * 1e3


def added(unit_id: str) -> AddedFile:
    """Return a file of a unit as a commit tells of it."""
    ends = {"unit_id": unit_id, "task_id": unit_id}
    stats = {"numRecords": 4, "minValues": ends, "maxValues": ends, "nullCount": {"unit_id": 0}}
    return AddedFile(
        path=f"{unit_id}-0-{content_hash([unit_id])}{'0' * 32}.parquet",
        size=10_000,
        modified_ms=1_767_322_800_000,
        stats=json.dumps(stats),
    )


def finding(base: Path, units: int) -> dict[str, float]:
    """Return what an audit and the planning of a resumed run cost together."""
    place = base / "run"
    asyncio.run(make_run(place, units))
    return alone(find, place, units)


def find(place: Path, units: int) -> dict[str, float]:
    """Audit a run and plan to go on with it; return the seconds and the most MB that took.

    On a machine that is shared the CPU's seconds tell more than the clock's.
    """

    async def look() -> None:
        config, tasks = make_config(place, units)
        store = LocalStore(place)
        begun = time.perf_counter()
        report = await audit(store, deep=False)
        seconds.append(time.perf_counter() - begun)
        run = await open_run(store)
        async with RunResources(config) as shop:
            plan = plan_units(config, tasks, run_id=run.run_id)
            state = await read_resume_state(shop.lake, shop.spool, shop.panel, plan)
        seconds.append(time.perf_counter() - begun)
        if report.findings or state.pending or len(state.committed) != units:
            raise SystemExit(f"the run is not what was made: {report.findings[:3]}")

    seconds: list[float] = []
    cpu = time.process_time()
    asyncio.run(look())
    return {
        "audit_seconds": seconds[0],
        "find_seconds": seconds[1],
        "find_cpu_seconds": time.process_time() - cpu,
        "find_peak_mb": peak_mb(),
    }


if __name__ == "__main__":
    sys.exit(main())
