"""The time at which a flow run was due by its schedule, and its placeholders in parameters.

A flow that is scheduled repeatedly with the same parameters may have placeholders for times in them.
They stand for the time at which its run was due, in the schedule's own zone, and not for the actual
start: a flow run that is late, or started again the next day, goes on with the same run. Without a
schedule the zone is UTC.

| in a text | stands for | on 21 November 2026 at 02:30 |
|---|---|---|
| `{date}` | the day | `2026-11-21` |
| `{hour}` | the hour of the day | `2026-11-21T02` |
| `{time}` | the second | `2026-11-21T02-30-00` |
| `{day}` | the day's number, which grows by one every day and is never used twice | `739941` |

Where clocks are put back an hour comes twice; the second time the hour and what is in it end in `b`. So two times
of one schedule never have the same text.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import ObjectNotFound
from prefect.runtime import deployment, flow_run

DATE, HOUR, TIME, DAY = "{date}", "{hour}", "{time}", "{day}"
"""The placeholder of a time in a text."""

SKIPPED = "Skipped"
"""The state of a skipped flow run: later ones of its schedule are due."""


def fill(text: str, due: datetime) -> str:
    """Return `text` with the time that a flow run was due, in its schedule's zone, in every place for it."""
    twice = "b" if due.fold else ""
    filled = {
        DATE: f"{due:%Y-%m-%d}",
        HOUR: f"{due:%Y-%m-%dT%H}{twice}",
        TIME: f"{due:%Y-%m-%dT%H-%M-%S}{twice}",
        DAY: str(due.toordinal()),
    }
    for place, value in filled.items():
        text = text.replace(place, value)
    return text


def fill_all(texts: Iterable[str] | None, due: datetime) -> tuple[str, ...]:
    """Return every text, filled."""
    return tuple(fill(text, due) for text in texts or ())


async def due_time() -> datetime:
    """Return when this flow run was due, in its schedule's zone; now, by UTC, outside of a flow run."""
    due: datetime | None = flow_run.scheduled_start_time
    return (due or datetime.now(UTC)).astimezone(await _zone())


async def _zone() -> ZoneInfo:
    """Return the zone of the schedule that made this flow run, or else of the deployment's first; UTC without one."""
    own: str | None = deployment.id
    run: str | None = flow_run.id
    if own is None or run is None:
        return ZoneInfo("UTC")
    async with get_client() as client:
        try:
            schedules = (await client.read_deployment(UUID(own))).schedules
        except ObjectNotFound:  # it is gone, and the run is not
            return ZoneInfo("UTC")
        made = (await client.read_flow_run(UUID(run))).created_by
    by = made.id if made is not None else None
    first = min(schedules, key=lambda one: one.id != by, default=None)
    zone: str | None = getattr(first and first.schedule, "timezone", None)
    return ZoneInfo(zone or "UTC")


async def later_due() -> int:
    """Return how many later flow runs of this one's schedule are due already or have begun.

    0 for a flow run that was started by hand, and for one that goes on after a crash.
    """
    own: str | None = deployment.id
    run: str | None = flow_run.id
    if own is None or run is None:
        return 0
    async with get_client() as client:
        this = await client.read_flow_run(UUID(run))
        if not this.auto_scheduled or this.run_count > 1:
            return 0
        return len(await _later(client, this, UUID(own)))


async def _later(client: PrefectClient, this: FlowRun, own: UUID) -> list[FlowRun]:
    """Return the flow runs of one's own schedule that were due after it, and are due now or have begun."""
    states = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING, StateType.COMPLETED]
    runs = await client.read_flow_runs(
        flow_run_filter=FlowRunFilter(
            deployment_id=FlowRunFilterDeploymentId(any_=[own]),
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=states)),
            expected_start_time=FlowRunFilterExpectedStartTime.model_validate(
                {"after_": this.expected_start_time, "before_": datetime.now(UTC)}
            ),
        )
    )
    own_schedule = this.created_by.id if this.created_by is not None else None
    return [
        one
        for one in runs
        if one.auto_scheduled
        and one.id != this.id
        and one.created_by is not None
        and one.created_by.id == own_schedule
        and one.state_name != SKIPPED
    ]
