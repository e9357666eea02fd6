"""Killed anywhere, however often: the same work done again ends with everything there once."""

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path

from effort import THOROUGH
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.episodes.factories import (
    RUN_ID,
    MadeRun,
    commit_whole_unit,
    make_run,
    make_task,
    make_unit,
)
from support.stores.faulty_lake import Cut, by_id, fingerprint
from support.stores.faulty_store import Fuse, FusedStore, fuse_tables
from support.stores.memory_store import MemoryStore

from schemas.configuration.sections import StorageSection
from schemas.episodes.episode import Episode
from storage.audit import audit
from storage.lake.lake import Lake
from storage.spool import Spool

SEEDS = (1, 2)
THINGS_DONE = 60
"""More than a whole run does."""

CUTS = st.lists(st.integers(0, THINGS_DONE), max_size=4)


Ledger = dict[str, Episode]
"""What is remembered outside of the run: the episodes that were said to be safe."""


async def work(run: MadeRun, *, salt: int, cut: int | None, ledger: Ledger) -> int:
    """Do what is left of the run, until the cut."""
    fuse = Fuse(cut)
    store = FusedStore(run.store, fuse)
    lake = Lake(str(run.folder), store, StorageSection())
    fuse_tables(lake, fuse)
    spool = Spool(store)
    try:
        committed, spooled = await lake.committed_units(), await spool.listing()
        for seed in SEEDS:
            task = make_task(seed)
            unit, made = make_unit([task], attempts=2, n_steps=1, run_id=run.run_id, salt=salt)
            if unit not in committed:
                for episode in made:
                    if episode.episode_id not in spooled.get(unit, ()):
                        assert episode.episode_id not in ledger
                        await spool.put(episode)
                        ledger[episode.episode_id] = episode
                episodes = [await spool.get(unit, episode.episode_id) for episode in made]
                await commit_whole_unit(lake, unit, tasks=[task], episodes=episodes)
            await spool.discard(unit)
        return await lake.seal()
    finally:
        await lake.close()


async def live_through(folder: Path, cuts: list[int]) -> None:
    run = await make_run(folder)
    ledger: Ledger = {}
    for salt, cut in enumerate(cuts):
        with suppress(Cut):
            await work(run, salt=salt, cut=cut, ledger=ledger)
        assert (await audit(run.store, deep=True)).findings == ()
    version = await work(run, salt=99, cut=None, ledger=ledger)

    lake = run.lake()
    committed = await lake.committed_units()
    found = [episode for unit in committed for episode in await lake.episodes(unit)]
    await lake.close()
    report = await audit(run.store, deep=True)
    assert (report.findings, report.leftovers, report.counts["units"]) == ((), (), len(SEEDS))
    assert len(found) == 2 * len(SEEDS)
    assert all(ledger.get(episode.episode_id, episode) == episode for episode in found)
    before = fingerprint(folder)
    assert await work(run, salt=100, cut=None, ledger=ledger) == version
    assert fingerprint(folder) == before


@settings(max_examples=12 if THOROUGH else 3)
@given(cuts=CUTS)
@example(cuts=[1, 1, 1, 1])
@example(cuts=[8, 9, 10, 11])
def test_a_run_cut_anywhere_ends_with_every_episode_once(cuts: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live_through(Path(folder) / "run", cuts))


@given(salts=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12))
def test_the_spool_keeps_the_first_of_every_attempt(salts: list[tuple[int, int]]) -> None:
    async def put_all() -> None:
        spool, first = Spool(MemoryStore()), dict[str, Episode]()
        for seed, salt in salts:
            unit, [episode] = make_unit([make_task(seed)], n_steps=0, run_id=RUN_ID, salt=salt)
            assert await spool.put(episode) == (unit not in first)
            first.setdefault(unit, episode)
        listing = await spool.listing()
        assert listing == {unit: {episode.episode_id} for unit, episode in first.items()}
        read = [await spool.get(unit, *ids) for unit, ids in listing.items()]
        assert sorted(read, key=by_id) == sorted(first.values(), key=by_id)

    asyncio.run(put_all())
