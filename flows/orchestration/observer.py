"""What Prefect sees of a run: a task run for each unit, a progress artifact, a summary table.

The work does not happen here and does not depend on it: each task run waits for a unit that is in
flight. A few wait at the same time at most, so that a server on SQLite is never flooded. Prefect
is sent nothing but ids, counts and small tables, and its pages show what these quote as text.
"""

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable
from typing import cast
from uuid import UUID

from prefect import task
from prefect.artifacts import (
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import TaskRunFilter, TaskRunFilterId
from prefect.client.schemas.objects import State
from prefect.runtime import deployment
from prefect.states import Cancelled, Completed, Failed

from flows.job.context import UnitState
from flows.job.job import RunJob
from flows.job.publish_job import PublishJob
from flows.job.report import Report
from flows.orchestration.current_job import current_job
from flows.orchestration.shown import literal
from storage.publish.card.escape import visible
from storage.publish.publish import PublishReport

MAX_TASK_RUNS = 16
"""Task runs at the same time."""

PROGRESS_SECONDS = 5.0
"""Between two updates of the progress artifact."""

MAX_LAST = 100
"""The last task runs, which a flow waits for: those that ended before them were sent before."""

RECORD_SECONDS = 30.0
"""How long the flow waits for them."""

_PAUSE_SECONDS = 0.25
_NO_KEY = re.compile(r"[^a-z0-9]+")


class _LastTaskRuns:
    """The last task runs that ended, and whether the server knows how.

    The states of task runs reach the server as events of their own, and may still be in flight
    when the flow is over. A server that is stopped then would never know, so a flow waits.
    """

    def __init__(self) -> None:
        self._last: deque[UUID] = deque(maxlen=MAX_LAST)

    def add(self, state: State[object]) -> None:
        """Remember a task run by its last state."""
        if state.state_details.task_run_id is not None:
            self._last.append(state.state_details.task_run_id)

    async def wait_until_recorded(self) -> None:
        """Wait until the server knows how they ended, or for RECORD_SECONDS."""
        wanted = TaskRunFilter(id=TaskRunFilterId(any_=list(self._last)))
        loop = asyncio.get_running_loop()
        deadline = loop.time() + RECORD_SECONDS
        async with get_client() as client:
            while loop.time() < deadline:
                runs = await client.read_task_runs(task_run_filter=wanted, limit=MAX_LAST)
                if sum(run.state is not None and run.state.is_final() for run in runs) == len(
                    self._last
                ):
                    return
                await asyncio.sleep(_PAUSE_SECONDS)


@task(name="unit", task_run_name="unit-{unit_id}", cache_policy=NO_CACHE, persist_result=False)
async def unit(unit_id: str) -> State[None]:
    """Wait for a unit of the running job, and return how it ended."""
    ended = await current_job(RunJob).unit(unit_id)
    if ended.state is UnitState.DONE:
        return Completed(message="committed and judged")
    if ended.state is UnitState.INTERRUPTED:
        return Cancelled(message="interrupted; what is finished is stored")
    return Failed(message=visible(ended.reason))


async def observe(job: RunJob, flow: str) -> State[Report]:
    """Show a running job to Prefect until it ends; return the state of its `flow`."""
    task_runs = _LastTaskRuns()
    async with _progress_artifact(job, artifact_key(flow, "progress")):
        window = asyncio.Semaphore(MAX_TASK_RUNS)
        async with asyncio.TaskGroup() as group:
            for unit_id in job.pending:
                await window.acquire()
                if job.interrupted:
                    break
                showing = group.create_task(_observe_unit(unit_id, task_runs))
                showing.add_done_callback(lambda _: window.release())
        report = await job.report()
    await acreate_table_artifact(
        table=[
            {
                "template": literal(count.template),
                "episodes": count.episodes,
                "accepted": count.accepted,
                "yield": f"{count.percent:.0f} %",
                "steps": count.steps,
                "reason": literal(count.reasons[0][0]) if count.reasons else "",
            }
            for count in report.summary.templates
        ],
        key=artifact_key(flow, "summary"),
        description=literal(_description(report)),
    )
    await task_runs.wait_until_recorded()
    return _state(report)


@task(name="publication", task_run_name="publication", cache_policy=NO_CACHE, persist_result=False)
async def publication() -> None:
    """Wait for the running publication."""
    await current_job(PublishJob).report()


async def observe_publication(job: PublishJob) -> State[PublishReport]:
    """Show a running publication to Prefect until it ends; return the state of its flow."""
    task_runs = _LastTaskRuns()
    task_run = cast("Awaitable[State[object]]", publication(return_state=True))
    task_runs.add(await task_run)
    report = await job.report()
    await acreate_table_artifact(
        table=[{"config": literal(config), "rows": rows} for config, rows in report.rows.items()],
        key=artifact_key("publish", "summary"),
        description=literal(f"{report.destination}, version {report.version}"),
    )
    await task_runs.wait_until_recorded()
    message = visible(f"{report.put} files written to {report.destination}")
    return Completed(message=message, data=report)


def artifact_key(flow: str, what: str) -> str:
    """Return the key under which an artifact of a flow has its history: that of the deployment, if it is run by one.

    Prefect takes lower-case letters, digits and dashes.
    """
    name: str = deployment.name or flow
    return f"{_NO_KEY.sub('-', name.lower()).strip('-') or flow}-{what}"


async def _observe_unit(unit_id: str, task_runs: _LastTaskRuns) -> None:
    # Awaited here, in the flow's own loop, where the work is; never submitted to another one.
    task_run = cast("Awaitable[State[object]]", unit(unit_id, return_state=True))
    task_runs.add(await task_run)


@contextlib.asynccontextmanager
async def _progress_artifact(job: RunJob, key: str) -> AsyncIterator[None]:
    artifact = await acreate_progress_artifact(0.0, key=key)
    updating = asyncio.create_task(_update(artifact, job))
    try:
        yield
        await _set(artifact, job)
    finally:
        updating.cancel()


async def _update(artifact: UUID, job: RunJob) -> None:
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        await _set(artifact, job)


async def _set(artifact: UUID, job: RunJob) -> None:
    now = job.progress()
    await aupdate_progress_artifact(artifact, now.percent, description=now.sentence)


def _description(report: Report) -> str:
    summary = report.summary
    return (
        f"{report.run}, version {summary.version}: {summary.accepted} of {summary.episodes} "
        f"episodes accepted"
    )


def _state(report: Report) -> State[Report]:
    if report.interrupted:
        return Cancelled(message="interrupted; run it again to go on")
    if report.exit_code:
        return Failed(message=visible("; ".join(report.problems)) or "nothing was accepted")
    return Completed(message=visible(_description(report)), data=report)
