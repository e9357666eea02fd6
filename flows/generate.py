"""The `generate` flow: make a run, or go on with it."""

from os import environ

from prefect.client.schemas.objects import State

from flows.job.config_loader import Sources, load
from flows.job.job import GenerateJob
from flows.job.open_job import open_generation
from flows.job.report import Report
from flows.job.validate import validate
from flows.orchestration.current_job import get_or_start
from flows.orchestration.observer import observe, skip_state
from flows.orchestration.scheduled_time import due_time, fill, fill_all, later_due
from flows.orchestration.served_flow import served_flow


@served_flow("generate")
async def generate(
    config: str | None = None,
    settings: list[str] | None = None,
    run: str | None = None,
    missed: int = 1,
) -> State[Report]:
    """Make the run of a configuration file, `KEY=VALUE` settings over it and a run's URL.

    `{date}`, `{hour}`, `{time}` and `{day}` in a setting or the URL are filled with the time at which
    the flow was due.

    `missed` is the number of missed runs of the schedule that are still made: the last ones.
    """
    if (later := await later_due()) >= max(1, missed):
        return skip_state(later)
    due = await due_time()
    sources = Sources(
        config=config,
        settings=fill_all(settings, due),
        run=None if run is None else fill(run, due),
    )
    async with get_or_start(
        GenerateJob, lambda: open_generation(validate(load(sources, environ)))
    ) as job:
        return await observe(job, "generate")
