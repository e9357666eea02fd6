"""From a configuration to a run at work; nothing of it knows Prefect.

`prepare` refuses whatever is wrong in the configuration and the tasks. `open_generation` opens the
run and surveys it and, only where something is missing, starts a browser, and only then writes
`run.json` where there was none. A run with nothing pending starts nothing and changes nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from flows.destinations import check_destinations
from flows.generation import Generation
from flows.plan import make_plan
from flows.provenance import provenance
from flows.survey import survey
from flows.wiring import Workshop
from generators.policy.make import check_policy
from generators.tasks.sources import load_tasks
from generators.verify.make import check_names
from schemas.config import RunConfig, Runner
from schemas.errors import BadConfig, NotFound, OtherRun
from schemas.task import Task
from storage.runs import create_run, open_run


@dataclass(frozen=True, slots=True)
class Prepared:
    """A configuration that was found fit."""

    config: RunConfig
    """Resolved."""
    tasks: tuple[Task, ...]
    """What is to be attempted."""


def prepare(config: RunConfig) -> Prepared:
    """Return `config` with its tasks; nothing is opened or written.

    Raises:
        BadConfig: a value cannot be honoured by this version.
        BadTasks: the task source is unreadable or selects nothing.
        NotFound: a verifier does not exist.
    """
    if config.scale.runner is not Runner.LOCAL:
        raise BadConfig(
            f"scale.runner: this version runs on one machine, without '{config.scale.runner}'; "
            "use local"
        )
    for section in config.mix:
        check_policy(section)
    check_names(config.verify.verifiers)
    return Prepared(config, tuple(load_tasks(config.tasks)))


@contextlib.asynccontextmanager
async def open_generation(prepared: Prepared) -> AsyncIterator[Generation]:
    """Open the run that `prepared` tells of and begin to work on it.

    Raises:
        OtherRun: a run of another identity lies there, or what is left of one.
        Unwritable: the run or a destination cannot be written.
        NoBrowser: one is needed and none starts.
        Damaged: what lies there cannot be read.
    """
    config = prepared.config
    async with Workshop(config) as shop:
        known = await _known(shop)
        await check_destinations(config, known)
        if known is None:
            await shop.store.probe()
            await shop.start()
        run = await create_run(shop.store, config, provenance=provenance())
        plan = make_plan(config, prepared.tasks, run_id=run.run_id)
        found = await survey(shop, plan)
        generation = Generation(shop, config, run=run, plan=plan, found=found)
        if generation.pending:
            await shop.store.probe()
            await shop.start()
        async with asyncio.TaskGroup() as group:
            generation.begin(group)
            yield generation


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
