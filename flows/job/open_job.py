"""From a configuration to a running job, without Prefect.

`open_generation` opens the run and reads its state. If work is missing it starts a browser, and then
writes `run.json` if the run has none. A run with nothing pending starts nothing and changes nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from os import environ

from flows.job.config_loader import Sources
from flows.job.context import JobContext, StopSignal
from flows.job.job import GenerateJob, JudgeJob, worker_count
from flows.job.judging import UnitJudge, panel_id
from flows.job.min_reward_warnings import warn_of_stored_thresholds
from flows.job.plan import plan_units
from flows.job.progress import ProgressCounter
from flows.job.provenance import provenance
from flows.job.publish_job import Publisher, check_destination
from flows.job.resume_state import ResumeState, count_judged, count_work, read_resume_state
from flows.job.run_limits import RunLimits
from flows.job.stored_run import open_stored_run
from flows.job.summary import read_task_kinds
from flows.job.unit_runner import RolloutSetup, UnitRunner
from flows.job.used_keys import check_settings
from flows.job.validate import ValidConfig, check_dialects, check_stored_probes
from flows.job.work_account import WorkAccount, open_limits
from flows.resources.engines import PolicyRuntime
from flows.resources.resources import RunResources
from schemas.configuration.config import RunConfig
from schemas.errors import NotFound, OtherRun
from storage.objects.protocol import ObjectStore
from storage.run_file import RunFile, create_run, open_run

Check = Callable[[], Awaitable[None]]
"""A check that may refuse a command before anything is written or started."""


async def check_nothing() -> None:
    """Accept every command."""


@contextlib.asynccontextmanager
async def open_generation(
    prepared: ValidConfig, *, check: Check = check_nothing
) -> AsyncIterator[GenerateJob]:
    """Open the run of `prepared`, which may be a new one, and begin to work on it.

    Raises:
        BadConfig: the site of a plug-in cannot be made, or an application does not start.
        OtherRun: the URL holds a run of another identity, or the remains of one.
        Unwritable: the run or a destination cannot be written.
        NoBrowser: a browser is needed and none starts.
        Damaged: the run cannot be read.
    """
    config = prepared.config
    resources = RunResources(config)
    async with WorkAccount(resources.store, resources.meter) as account, resources:
        run_id = await _find_run(resources.store)
        for to in config.publish.to:
            await check_destination(to, config, run_id)
        for name in _sites(prepared):
            _ = resources.sites[name]  # that of a plug-in is made now
        runtime: PolicyRuntime | None = None
        if run_id is None:
            runtime = await _start(resources, check, _sites(prepared), rollouts=True)
        run = await create_run(
            resources.store, config, provenance=provenance(config, prepared.tasks)
        )
        plan = plan_units(config, prepared.tasks, run_id=run.run_id)
        waiting = plan_units(config, prepared.waiting, run_id=run.run_id)
        state = await read_resume_state(
            resources.lake, resources.spool, resources.panel, plan, waiting=waiting
        )
        context = make_context(resources, config, run, account=account)
        count_work(context.progress, state, plan)
        if run_id is not None and state.pending:
            context = await _limit(context, resources, config, state)
            if not context.is_stopped():
                rollouts = bool(state.missing)
                runtime = await _start(resources, check, _sites(prepared), rollouts=rollouts)
        elif run_id is None:
            context = await _limit(context, resources, config, state)
        judge = UnitJudge(context)
        job = GenerateJob(
            context,
            state,
            judge,
            runner=_runner(resources, prepared, context, judge, runtime),
            runtime=runtime,
            publisher=Publisher(resources.lake, run, config),
            destinations=config.publish.to,
            workers=worker_count(config.tasks.unit_size, resources.slots.limit),
        )
        async with (
            _kept_account(context, at_work=bool(state.pending)),
            asyncio.TaskGroup() as group,
        ):
            job.pool.begin(group)
            job.begin(group)
            yield job


async def _limit(
    context: JobContext, resources: RunResources, config: RunConfig, state: ResumeState
) -> JobContext:
    """Return the context with the limits of the run, which count what earlier commands made.

    Raises:
        Damaged: the run cannot be read.
    """
    if config.limits.accepted is not None:
        await count_judged(resources.lake, context.progress, state)
    limits = await open_limits(
        config.limits,
        context.account,
        context.progress,
        lake=resources.lake,
        store=resources.store,
        spooled=state.spooled,
        panel=panel_id(resources.panel),
    )
    return replace(context, limits=limits)


def _kept_account(context: JobContext, *, at_work: bool) -> AbstractAsyncContextManager[None]:
    """Return a context that keeps the command's record in the work log; of one without work there is none."""
    if at_work and not context.stopping.asked:
        return context.account.keep(context.progress, panel_id(context.panel))
    return contextlib.nullcontext()


def _sites(prepared: ValidConfig) -> set[str]:
    return {task.site for task in prepared.tasks}


@contextlib.asynccontextmanager
async def open_judging(
    url: str, sources: Sources, *, check: Check = check_nothing
) -> AsyncIterator[JudgeJob]:
    """Begin to judge every committed episode of the run at `url` again.

    Raises:
        BadConfig: a setting is of a key that judging does not use, or a dialect is not installed.
        NotFound: there is no run, nothing is committed, or a verifier or a task's probe does not exist.
        Unwritable: the run cannot be written.
        NoBrowser: a browser is needed and none starts.
        Damaged: the run cannot be read.
    """
    check_settings("verify", sources.settings)
    stored = await open_stored_run(url, sources, environ)
    await stored.lake.close()
    config = stored.config
    check_dialects(config)
    async with RunResources(config) as resources:
        state = await read_resume_state(resources.lake, resources.spool, resources.panel, ())
        if not state.committed:
            raise NotFound(f"{resources.store.url}: holds no committed episode to judge")
        snapshot, _ = await resources.lake.current()
        await warn_of_stored_thresholds(snapshot, config.accept)
        sites = {kind.site for kind in (await read_task_kinds(snapshot)).values()}
        if config.sites:  # else every task would be read for nothing
            await asyncio.to_thread(check_stored_probes, await snapshot.dataset("tasks"))
        await _start(resources, check, sites, rollouts=False)
        context = make_context(resources, config, stored.run)
        count_work(context.progress, state, (), again=True)
        job = JudgeJob(
            context,
            state.committed,
            state.known,
            UnitJudge(context),
            workers=worker_count(config.tasks.unit_size, resources.slots.limit),
        )
        async with asyncio.TaskGroup() as group:
            job.pool.begin(group)
            job.begin(group)
            yield job


def make_context(
    resources: RunResources,
    config: RunConfig,
    run: RunFile,
    *,
    account: WorkAccount | None = None,
) -> JobContext:
    """Return the context of a job on `run`, with nothing done yet and no limits.

    `account` is that of the command; None: one that is not written.
    """
    sessions = resources.slots.limit
    return JobContext(
        store=resources.store,
        url=resources.store.url,
        run=run,
        lake=resources.lake,
        spool=resources.spool,
        panel=resources.panel,
        rule=config.accept,
        drain_seconds=config.limits.drain_seconds,
        slots=resources.slots,
        attempts=asyncio.Semaphore(sessions + (sessions + 1) // 2),
        progress=ProgressCounter(rule=config.accept),
        stopping=StopSignal(),
        account=account or WorkAccount(resources.store, resources.meter),
        limits=RunLimits(),
    )


async def _start(
    resources: RunResources, check: Check, sites: Collection[str], *, rollouts: bool
) -> PolicyRuntime | None:
    """Probe the store and start the required resources, before a row or `run.json` is written."""
    await check()
    await resources.store.probe()
    return await resources.start(sites, rollouts=rollouts)


def _runner(
    resources: RunResources,
    prepared: ValidConfig,
    context: JobContext,
    judge: UnitJudge,
    runtime: PolicyRuntime | None,
) -> UnitRunner | None:
    """Return the runner of units; None where no policies were started."""
    if runtime is None:
        return None
    setup = RolloutSetup.of(
        prepared.config,
        context.run.run_id,
        prepared.tasks,
        sites=resources.sites,
        sessions=resources.rollouts,
        policies=runtime.policies,
    )
    return UnitRunner(
        context,
        judge,
        setup,
        slots=resources.live_episodes,
        live=runtime.live,
        memory=resources.memory,
    )


async def _find_run(store: ObjectStore) -> str | None:
    """Return the id of the run at the URL; None if the URL holds nothing of any run."""
    try:
        return (await open_run(store)).run_id
    except NotFound:
        async for entry in store.list("tables/"):
            raise OtherRun(
                f"{store.url}: holds tables of a run ({entry.key}), but its run.json is "
                "missing: put it back, or give another folder"
            ) from None
        return None
