"""How long it takes until something happens: help, a dry run, and what Prefect costs a unit.

Two lines to hold: `stepmill --help` in 0.4 s and `stepmill generate --dry-run` in 1.5 s, each the
best of a few, because only other work can make one slower. The cost of a task run is measured on
an embedded server, many at a time as in a run, and has no line.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.measuring.result import report
from flows.orchestration.server import embedded_server
from flows.orchestration.settings import set_up

ROOT = Path(__file__).parents[1]
MAX_HELP_SECONDS = 0.4
MAX_DRY_RUN_SECONDS = 1.5
TIMES = 5
UNITS = 60
AT_ONCE = 16


def seconds(*arguments: str) -> float:
    """Return how long the command takes, at best."""
    best = float("inf")
    for _ in range(TIMES):
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "flows.cli", *arguments],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        best = min(best, time.perf_counter() - begun)
    return best


async def overhead_ms() -> float:
    """Return what a task run costs a unit, in milliseconds."""
    set_up(os.environ, silent=True)
    async with embedded_server() as url:
        os.environ["PREFECT_API_URL"] = url
        return await _measured()


async def _measured() -> float:
    # Imported here, because whatever Prefect reads from its surroundings is set by now.
    from prefect import flow, task  # noqa: PLC0415
    from prefect.cache_policies import NO_CACHE  # noqa: PLC0415

    @task(name="unit", cache_policy=NO_CACHE, persist_result=False)
    async def unit(number: int) -> int:
        return number

    @flow(name="overhead", persist_result=False)
    async def overhead() -> float:
        await _all(unit)  # the first ones connect
        begun = time.perf_counter()
        await _all(unit)
        return time.perf_counter() - begun

    took = await overhead()
    return took / UNITS * 1_000


async def _all(unit: Callable[[int], Awaitable[int]]) -> None:
    window = asyncio.Semaphore(AT_ONCE)

    async def run_unit(number: int) -> None:
        async with window:
            await unit(number)

    async with asyncio.TaskGroup() as group:
        for number in range(UNITS):
            group.create_task(run_unit(number))


def main() -> int:
    """Run the benchmark; the exit status says whether both lines are held."""
    help_seconds = seconds("--help")
    dry_run_seconds = seconds("generate", "--dry-run", "--config", "configs/demo.toml")
    with tempfile.TemporaryDirectory() as home:
        os.environ["PREFECT_HOME"] = home
        unit_ms = asyncio.run(overhead_ms())
    held = help_seconds <= MAX_HELP_SECONDS and dry_run_seconds <= MAX_DRY_RUN_SECONDS
    figures = {
        "bench": "startup",
        "help_seconds": round(help_seconds, 3),
        "max_help_seconds": MAX_HELP_SECONDS,
        "dry_run_seconds": round(dry_run_seconds, 3),
        "max_dry_run_seconds": MAX_DRY_RUN_SECONDS,
        "flow_overhead_ms_per_unit": round(unit_ms, 2),
        "held": held,
    }
    report(figures)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
