"""The `generate` flow: make a run, or go on with it."""

from os import environ

from prefect.client.schemas.objects import State

from flows.job.config_loader import Sources, load
from flows.job.job import GenerateJob
from flows.job.open import open_generation
from flows.job.report import Report
from flows.job.validate import validate
from flows.orchestration.current_job import get_or_start
from flows.orchestration.observer import observe
from flows.orchestration.served_flow import fill_date, fill_dates, scheduled_day, served_flow


@served_flow("generate")
async def generate(
    config: str | None = None, settings: list[str] | None = None, run: str | None = None
) -> State[Report]:
    """Make the run of a configuration file, `KEY=VALUE` settings over it and a run's URL.

    `{date}` in a setting or the URL is the day the flow was scheduled for, `{day}` its number.
    """
    day = scheduled_day()
    sources = Sources(
        config=config,
        settings=fill_dates(settings, day),
        run=None if run is None else fill_date(run, day),
    )
    async with get_or_start(
        GenerateJob, lambda: open_generation(validate(load(sources, environ)))
    ) as job:
        return await observe(job, "generate")
