"""Workers that race for the same units, each in a process of its own.

Forked from a server that touches no table: a process that used `deltalake` must not fork.
"""

import asyncio
import os
import time
from collections.abc import Mapping

from support.episodes.factories import MadeRun, commit_whole_unit

from schemas.configuration.sections import StorageSection
from schemas.errors import Conflict
from storage.maintenance.compact import CompactReport, compact
from storage.objects.urls import open_store
from storage.run_file import open_run


def race(url: str, salt: int, units: int, environ: Mapping[str, str]) -> list[str]:
    """Commit every unit of a run with episodes of its own; return how each went."""
    os.environ.update(environ)
    return asyncio.run(_race(url, salt, range(units)))


def first(url: str, number: int, at: float, environ: Mapping[str, str]) -> list[str]:
    """Commit one unit of a run, at a moment that others wait for too; return how it went."""
    os.environ.update(environ)
    return asyncio.run(_race(url, 0, range(number, number + 1), at=at))


def compact_run(url: str, environ: Mapping[str, str]) -> CompactReport:
    """Compact a run; return what that did."""
    os.environ.update(environ)
    storage = StorageSection()
    return asyncio.run(compact(url, open_store(url, storage), storage))


async def _race(url: str, salt: int, units: range, *, at: float = 0.0) -> list[str]:
    store = open_store(url, StorageSection())
    run = MadeRun(url, store, await open_run(store))
    lake = run.lake()
    said = []
    await asyncio.sleep(max(0.0, at - time.time()))
    for number in units:
        unit = run.unit(number * 10, salt=salt)
        try:
            ours = await commit_whole_unit(
                lake, unit.unit_id, tasks=unit.tasks, episodes=unit.episodes
            )
        except Conflict:
            said.append("conflict")
        else:
            said.append("ours" if ours else "theirs")
    await lake.close()
    return said
