"""The `generate` flow: make a run, or go on with it."""

from os import environ

from prefect.client.schemas.objects import State

from flows.calling import served_flow
from flows.current import joined
from flows.dates import dated, dated_all, scheduled_day
from flows.generation import Generation
from flows.observing import observe
from flows.prepare import prepare
from flows.report import Report
from flows.run import open_generation
from flows.settings import Sources, load


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
        settings=dated_all(settings, day),
        run=None if run is None else dated(run, day),
    )
    async with joined(
        Generation, lambda: open_generation(prepare(load(sources, environ)))
    ) as generation:
        return await observe(generation, "generate")
