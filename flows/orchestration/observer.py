"""Shows a run to Prefect: a task run for each unit, its log, a progress artifact, a summary table.

The work does not happen here and does not depend on it: each task run waits for a unit that is in
flight. A few wait at the same time at most, so that a server on SQLite is never flooded. Prefect
is sent ids, counts, small tables and lines of text, and its pages show what these quote as text.
"""

import asyncio
import contextlib
import itertools
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
from prefect.runtime import deployment, flow_run
from prefect.states import Cancelled, Completed, Crashed, Failed

from flows.job.context import UnitState
from flows.job.job import RunJob
from flows.job.publish_job import PublishJob
from flows.job.report import Report
from flows.job.report_lines import publication_lines, report_lines
from flows.orchestration.current_job import current_job
from flows.orchestration.dataset_events import publication_sentence, tell_publication
from flows.orchestration.inert_text import literal
from flows.orchestration.run_log import RunLog, calm_cancellation, run_log
from flows.orchestration.scheduled_time import SKIPPED
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

LOG_EVERY = 12
"""Updates of the artifact for each line of progress in the flow run's log: a line a minute."""

_MET_AGAIN = (
    "the run was complete already, and nothing was made (where a schedule is finer than the run's URL, {hour} or {time} "
    "in it make another)"
)
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


@task(name="unit", task_run_name="{title}", cache_policy=NO_CACHE, persist_result=False)
async def unit(unit_id: str, title: str) -> State[None]:
    """Wait for a unit of the running job, and return how it ended; pages call it by its title."""
    del title
    ended = await current_job(RunJob).unit(unit_id)
    if ended.state is UnitState.DONE:
        return Completed(message="committed and judged")
    if ended.state is UnitState.INTERRUPTED:
        return Cancelled(message="interrupted; finished episodes are stored")
    return Failed(message=visible(ended.reason))


async def observe(job: RunJob, flow: str) -> State[Report]:
    """Show a running job to Prefect until it ends; return the state of its `flow`."""
    task_runs, met = _LastTaskRuns(), not job.pending
    if deployment.id is not None:
        calm_cancellation()
    with run_log() as log:
        async with _progress_artifact(job, artifact_key(flow, "progress"), log):
            window = asyncio.Semaphore(MAX_TASK_RUNS)
            async with asyncio.TaskGroup() as group:
                for unit_id in job.pending:
                    await window.acquire()
                    if job.interrupted:
                        break
                    showing = group.create_task(
                        _observe_unit(unit_id, job.title(unit_id), task_runs)
                    )
                    showing.add_done_callback(lambda _: window.release())
            report = await job.report()
        log.lines(report_lines(report))
        warnings = (sentence for one in report.publications for sentence in one.warnings)
        for problem in (*report.problems, *warnings):
            log.problem(problem)
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
    for one in report.publications:
        await tell_publication(one, report.run, artifact_key(flow, "dataset"))
    await task_runs.wait_until_recorded()
    return await _state(report, met=met and flow == "generate")


@task(name="publication", task_run_name="publication", cache_policy=NO_CACHE, persist_result=False)
async def publication() -> None:
    """Wait for the running publication."""
    await current_job(PublishJob).report()


async def observe_publication(job: PublishJob) -> State[PublishReport]:
    """Show a running publication to Prefect until it ends; return the state of its flow."""
    task_runs = _LastTaskRuns()
    with run_log() as log:
        task_run = cast("Awaitable[State[object]]", publication(return_state=True))
        task_runs.add(await task_run)
        report = await job.report()
        log.lines(publication_lines(report))
    await tell_publication(report, job.run, artifact_key("publish", "summary"))
    await task_runs.wait_until_recorded()
    message = visible(f"{report.put} files written to {publication_sentence(report)}")
    return Completed(message=message, data=report)


def artifact_key(flow: str, what: str) -> str:
    """Return the key under which an artifact of a flow has its history: that of the deployment, if it is run by one.

    Prefect takes lower-case letters, digits and dashes.
    """
    name: str = deployment.name or flow
    return f"{_NO_KEY.sub('-', name.lower()).strip('-') or flow}-{what}"


async def _observe_unit(unit_id: str, title: str, task_runs: _LastTaskRuns) -> None:
    # Awaited here, in the flow's own loop, where the work is; never submitted to another one.
    task_run = cast("Awaitable[State[object]]", unit(unit_id, visible(title), return_state=True))
    task_runs.add(await task_run)


@contextlib.asynccontextmanager
async def _progress_artifact(job: RunJob, key: str, log: RunLog) -> AsyncIterator[None]:
    artifact = await acreate_progress_artifact(0.0, key=key)
    updating = asyncio.create_task(_update(artifact, job, log))
    try:
        yield
        log.progress(job.progress().sentence)
        await _set(artifact, job)
    finally:
        updating.cancel()


async def _update(artifact: UUID, job: RunJob, log: RunLog) -> None:
    for number in itertools.count():
        if number % LOG_EVERY == 0:
            log.progress(job.progress().sentence)
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


async def _state(report: Report, *, met: bool) -> State[Report]:
    """Return the state that a flow ends in; `met`: its run was complete when it began."""
    if report.interrupted:
        if await _was_stopped():
            return Crashed(message="its process was ended from outside; started again, it goes on")
        return Cancelled(message="interrupted; run it again to go on")
    if report.reached is not None and not report.problems:
        return Completed(message=visible(report.reached.sentence), data=report)
    if report.exit_code:
        return Failed(message=visible("; ".join(report.problems)) or "nothing was accepted")
    places = "".join(f"; {publication_sentence(one)}" for one in report.publications)
    written = any(one.put for one in report.publications)
    first: bool = deployment.id is not None and flow_run.run_count == 1
    again = f"; {_MET_AGAIN}" if met and first and not written else ""
    return Completed(message=visible(f"{_description(report)}{places}{again}"), data=report)


def skip_state(later: int) -> State[Report]:
    """Return the state of a flow run that is not made because later ones of its schedule are due."""
    runs = (
        "a later run of its schedule is"
        if later == 1
        else f"{later} later runs of its schedule are"
    )
    message = f"missed, and {runs} due (parameter `missed`)"
    return cast("State[Report]", Completed(name=SKIPPED, message=message))


async def _was_stopped() -> bool:
    """Return whether a deployment's flow run was interrupted but not cancelled, as when its machine stops."""
    run: str | None = flow_run.id
    if deployment.id is None or run is None:
        return False
    async with get_client() as client:
        state = (await client.read_flow_run(UUID(run))).state
    return state is None or not (state.is_cancelling() or state.is_cancelled())
