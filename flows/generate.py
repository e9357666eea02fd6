"""The `generate` flow: make a run, or go on with it."""

from datetime import UTC, datetime
from os import environ

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run

from flows.current import joined
from flows.dates import dated
from flows.generation import Generation
from flows.observing import observe
from flows.prepare import prepare
from flows.run import open_generation
from flows.settings import Sources, load


@flow(name="generate", persist_result=False)
async def generate(
    config: str | None = None, settings: list[str] | None = None, run: str | None = None
) -> State[None]:
    """Make the run of a configuration file, `KEY=VALUE` settings over it and a run's URL.

    `{date}` in a setting or the URL is the day the flow was scheduled for, `{day}` its number.
    """
    day = flow_run.scheduled_start_time or datetime.now(UTC)
    sources = Sources(
        config=config,
        settings=tuple(dated(setting, day) for setting in settings or ()),
        run=None if run is None else dated(run, day),
    )
    async with joined(
        Generation, lambda: open_generation(prepare(load(sources, environ)))
    ) as generation:
        return await observe(generation, "generate")
