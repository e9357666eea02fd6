"""Workers that race for the same units, each in a process of its own.

Spawned, never forked: a process that used `deltalake` must not fork.
"""

import asyncio
from pathlib import Path

from factories import MadeRun

from schemas.errors import Conflict
from storage.local import LocalStore
from storage.runs import open_run


def race(folder: str, salt: int, units: int) -> list[str]:
    """Commit every unit of a run with episodes of its own; return how each went."""
    return asyncio.run(_race(Path(folder), salt, units))


async def _race(folder: Path, salt: int, units: int) -> list[str]:
    store = LocalStore(folder)
    run = MadeRun(folder, store, await open_run(store))
    lake = run.lake()
    said = []
    for number in range(units):
        unit = run.unit(number * 10, salt=salt)
        try:
            ours = await lake.commit_unit(unit.unit_id, tasks=unit.tasks, episodes=unit.episodes)
        except Conflict:
            said.append("conflict")
        else:
            said.append("ours" if ours else "theirs")
    await lake.close()
    return said
