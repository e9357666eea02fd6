"""From a configuration to a run at work; nothing of it knows Prefect.

`open_generation` opens the run and surveys it and, only where something is missing, starts a
browser, and only then writes `run.json` where there was none. A run with nothing pending starts
nothing and changes nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from os import environ

from flows.job.config_loader import Sources
from flows.job.job import Generation
from flows.job.plan import make_plan
from flows.job.provenance import provenance
from flows.job.resume_state import everything, survey
from flows.job.stored_run import open_stored
from flows.job.used_keys import check_settings
from flows.job.validate import Prepared
from flows.job.validate_destination import check_destination
from flows.resources.resources import Workshop
from schemas.errors import NotFound, OtherRun
from schemas.sections import PublishSection
from storage.run_file import create_run, open_run


async def nothing() -> None:
    """Refuse nothing."""


@contextlib.asynccontextmanager
async def open_generation(
    prepared: Prepared, *, check: Callable[[], Awaitable[None]] = nothing
) -> AsyncIterator[Generation]:
    """Open the run that `prepared` tells of and begin to work on it.

    Where there is work, `check` is asked before anything is written or started; it may refuse.

    Raises:
        OtherRun: a run of another identity lies there, or what is left of one.
        Unwritable: the run or a destination cannot be written.
        NoBrowser: one is needed and none starts.
        Damaged: what lies there cannot be read.
    """
    config = prepared.config
    async with Workshop(config) as shop:
        known = await _known(shop)
        for to in config.publish.to:
            await check_destination(to, config, known)
        if known is None:
            await check()
            await shop.store.probe()
            await shop.start(rollouts=True)
        run = await create_run(shop.store, config, provenance=provenance())
        plan = make_plan(config, prepared.tasks, run_id=run.run_id)
        found = await survey(shop, plan)
        generation = Generation(shop, config, run=run, plan=plan, found=found)
        if generation.pending and known is not None:
            await check()
            await shop.store.probe()
            await shop.start(rollouts=bool(found.missing))
        async with asyncio.TaskGroup() as group:
            generation.begin(group)
            yield generation


@contextlib.asynccontextmanager
async def open_judging(
    url: str, sources: Sources, *, check: Callable[[], Awaitable[None]] = nothing
) -> AsyncIterator[Generation]:
    """Begin to judge every committed episode of the run at `url` again.

    Raises:
        BadConfig: a setting is of a key that judging does not use.
        NotFound: there is no run, nothing is committed, or a verifier does not exist.
        Unwritable: the run cannot be written.
        NoBrowser: one is needed and none starts.
        Damaged: what lies there cannot be read.
    """
    check_settings("verify", sources.settings)
    stored = await open_stored(url, sources, environ)
    await stored.lake.close()
    config = stored.config.model_copy(update={"publish": PublishSection()})
    async with Workshop(config) as shop:
        found = everything(await survey(shop, ()))
        if not found.committed:
            raise NotFound(f"{shop.store.url}: holds no committed episode to judge")
        await check()
        await shop.store.probe()
        await shop.start(rollouts=False)
        judging = Generation(shop, config, run=stored.run, plan=(), found=found, again=True)
        async with asyncio.TaskGroup() as group:
            judging.begin(group)
            yield judging


async def _known(shop: Workshop) -> str | None:
    """Return the id of the run that lies there; None if there is nothing of any run."""
    try:
        return (await open_run(shop.store)).run_id
    except NotFound:
        async for found in shop.store.list("tables/"):
            raise OtherRun(
                f"{shop.store.url}: holds tables of a run ({found.key}), but its run.json is "
                "missing: put it back, or give another folder"
            ) from None
        return None
