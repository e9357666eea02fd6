"""From a configuration to open seats: the run, its browsers and sites, and what an earlier server left.

`open_seats` is also the door of programs in this process: `async with open_seats(config) as seats`.
"""

import contextlib
from collections.abc import AsyncIterator

from flows.job.context import JobContext
from flows.job.judging import UnitJudge
from flows.job.open_job import make_context
from flows.job.provenance import provenance
from flows.job.unit_runner import RolloutSetup
from flows.job.validate import check_verifiers
from flows.resources.resources import RunResources
from flows.serving.keeper import EpisodeKeeper
from flows.serving.seating import Seats
from flows.serving.task_desk import TaskDesk
from generators.policy.factory import PolicyFactory
from generators.tasks.on_demand import TaskPool
from schemas.configuration.config import RunConfig
from storage.run_file import create_run
from storage.served import number_of_server


@contextlib.asynccontextmanager
async def open_seats(config: RunConfig) -> AsyncIterator[Seats]:
    """Open the seats of a run, which may be a new one; every episode is committed when the block ends.

    Raises:
        BadConfig: a value cannot be honoured, or the site of a plug-in cannot be made.
        BadTasks: a task source is unreadable or selects nothing.
        OtherRun: the URL holds a run of another identity, or another server serves this one.
        Unwritable: the run cannot be written.
        NoBrowser: a browser is needed and none starts.
    """
    check_verifiers(config)
    pool = TaskPool(config)
    async with contextlib.AsyncExitStack() as stack:
        resources = await stack.enter_async_context(RunResources(config, policies=False))
        await resources.store.probe()
        await resources.start(pool.sites, rollouts=True)
        run = await create_run(resources.store, config, provenance=provenance(config, ()))
        first = await stack.enter_async_context(number_of_server(resources.store))
        context = make_context(resources, config, run)
        keeper = _keeper(context, config)
        await keeper.take_up()
        setup = RolloutSetup.of(
            config,
            run.run_id,
            (),
            sites=resources.sites,
            sessions=resources.rollouts,
            policies=PolicyFactory(config),
        )
        seats = Seats(
            config,
            setup,
            keeper,
            desk=TaskDesk(config, pool, run_id=run.run_id, first_attempt=first),
            slots=resources.slots,
            memory=resources.memory,
        )
        try:
            yield seats
        finally:
            await seats.drain(0.0)


def _keeper(context: JobContext, config: RunConfig) -> EpisodeKeeper:
    return EpisodeKeeper(
        context,
        UnitJudge(context),
        unit_size=config.tasks.unit_size,
        commit_seconds=config.seats.commit_seconds,
    )
