"""A compaction that is killed before each of its writes: the rows are there once, and it goes on.

The run has something for every part of it to do: small shards, a unit that the spool still holds,
a version that is too old to be kept, and shards that a compaction replaced long ago.
"""

import asyncio
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from effort import THOROUGH, TIMEOUT
from support.episodes.factories import MadeRun, make_whole_run
from support.runs.chaos import KILLED, fork
from support.runs.commands import Said
from support.runs.kill_at import Doom, Instant
from support.stores.faulty_lake import commit, counts, whole

from schemas.sections import StorageSection
from storage.audit import audit
from storage.maintenance.compact import compact
from storage.objects.local import LocalStore
from storage.spool import Spool

pytestmark = pytest.mark.timeout(TIMEOUT)

AT_ONCE = 2
LUCK = 2
"""How many events fewer a compaction may have than another."""
DAYS = 50
MERGED = ("tasks", "prompts", "observations", "calls", "steps", "episodes")
"""Tables that have two small shards."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeRun:
    return asyncio.run(_make(tmp_path_factory.mktemp("made") / "run"))


async def _make(place: Path) -> MadeRun:
    run = await make_whole_run(place, units=2)
    await compact(run.url, run.store, StorageSection())
    _age(place)
    lake, late = run.lake(), run.unit(500)
    await commit(lake, late)
    await lake.close()
    for episode in late.episodes:
        await Spool(run.store).put(episode)
    run.units.append(late)
    return run


def _age(place: Path) -> None:
    then = time.time() - DAYS * 86_400
    for path in place.rglob("*"):
        os.utime(path, (then, then))


def _compact(made: MadeRun, base: Path, **fate: object) -> Said:
    """Compact a copy of the run in `base`."""
    if not base.exists():
        shutil.copytree(made.folder, base / "run")
    argv = ("compact", str(base / "run"), "--json")
    return fork(Doom.model_validate({"argv": argv, "base": base, **fate}))


async def _assert_whole(made: MadeRun, base: Path) -> None:
    copy = MadeRun(base / "run", made.store, made.run, made.units)
    assert counts(copy) == whole(*made.units) | {"prompts": len(made.units)}
    report = await audit(LocalStore(copy.folder), deep=True)
    assert report.findings == ()


def test_killed_before_any_write_and_run_again_it_is_whole(made: MadeRun, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    said = _compact(made, tmp_path / "whole", trace=trace)
    assert said.code == 0, said.err
    done = said.answer
    names = trace.read_text().splitlines()
    numbers = [n for n, name in enumerate(names, 1) if THOROUGH or _first(names, n - 1)]

    def stop_and_go_on(number: int) -> bool:
        base = tmp_path / str(number)
        killed = _compact(made, base, at=Instant(number=number)).code == KILLED
        asyncio.run(_assert_whole(made, base))
        again = _compact(made, base)
        assert again.code == 0, again.err
        asyncio.run(_assert_whole(made, base))
        shutil.rmtree(base)
        return killed

    with ThreadPoolExecutor(AT_ONCE) as pool:
        came = sum(pool.map(stop_and_go_on, numbers))

    assert done["removed"]
    assert done["let_go"] == 2
    assert done["spooled"] == 1
    assert {f"{when} write_swap {table}" for when in ("before", "after") for table in MERGED} <= {
        *names
    }
    assert came >= sum(number <= len(names) - LUCK for number in numbers)


def _first(names: list[str], place: int) -> bool:
    """Say whether it is the first event of its name, and not of a table that is left out."""
    name = names[place]
    if name.startswith("after "):
        return False  # what comes next is the next event
    table = name.rpartition("/")[2] if "/tables/" in name else name.rpartition(" ")[2]
    others = {"tasks", "prompts", "observations", "reviews"}
    return name not in names[:place] and table not in others
