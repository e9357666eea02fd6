"""A compaction that is killed before each of its writes: the rows are there once, and it goes on.

What a kill would leave is kept while one compaction goes all the way, and each of these runs is looked
at and compacted in this process; `make test-full` kills before every event.

The run has something for every part of it to do: small shards, a unit that the spool still holds,
a version that is too old to be kept, and shards that a compaction replaced long ago.
"""

import asyncio
import os
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from effort import THOROUGH, TIMEOUT
from support.episodes.factories import MadeRun, make_whole_run
from support.runs.chaos import KILLED, fork
from support.runs.commands import Said, called
from support.runs.kill_at import BASE, NAME, Doom, Instant
from support.stores.faulty_lake import commit, counts, whole

from schemas.configuration.sections import StorageSection
from storage.audit import audit
from storage.maintenance.compact import compact
from storage.objects.local import LocalStore
from storage.spool import Spool

pytestmark = pytest.mark.timeout(TIMEOUT)

AT_ONCE = 2
LUCK = 2
"""How many events fewer a compaction may have than another."""
DAYS = 50
STANDS = re.compile(
    r"before write_swap (steps|episodes|verdicts)|(link|remove) run/tables/(steps|episodes)"
    r"|remove run/spool|(link|rename) run/(versions|keeping)"
)
"""Events that stand for the others: for what comes after them, and for the same of other tables."""
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


def test_whatever_a_kill_leaves_is_whole_and_is_gone_on_from(made: MadeRun, tmp_path: Path) -> None:
    keep = tmp_path / "keep"
    said = _compact(made, tmp_path / "whole", keep=keep, trace=tmp_path / "trace")
    assert said.code == 0, said.err
    assert said.answer["removed"]
    assert said.answer["let_go"] == 2
    assert said.answer["spooled"] == 1
    names = {*(tmp_path / "trace").read_text().splitlines()}
    assert {
        f"{when} write_swap {table}" for when in ("before", "after") for table in MERGED
    } <= names
    kept = {(moment / NAME).read_text(): moment / BASE for moment in keep.iterdir()}
    assert kept.keys() == names

    for name, base in kept.items():
        if THOROUGH or STANDS.fullmatch(name):
            try:
                asyncio.run(_assert_whole(made, base))
                again = called("compact", str(base / "run"), "--json")
                assert again.code == 0, again.err
                asyncio.run(_assert_whole(made, base))
            except AssertionError as error:
                error.add_note(f"this is what a kill leaves before: {name}")
                raise


@pytest.mark.full
def test_killed_before_any_write_and_run_again_it_is_whole(made: MadeRun, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    said = _compact(made, tmp_path / "whole", trace=trace)
    assert said.code == 0, said.err
    names = trace.read_text().splitlines()

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
        came = sum(pool.map(stop_and_go_on, range(1, len(names) + 1)))

    assert came >= len(names) - LUCK
