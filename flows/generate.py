"""The `generate` flow: make a run, or go on with it."""

from os import environ

from prefect import flow
from prefect.client.schemas.objects import State

from flows.current import joined
from flows.generation import Generation
from flows.observing import observe
from flows.prepare import prepare
from flows.run import open_generation
from flows.settings import Sources, load


@flow(name="generate", persist_result=False)
async def generate(
    config: str | None = None, settings: list[str] | None = None, run: str | None = None
) -> State[None]:
    """Make the run of a configuration file, `KEY=VALUE` settings over it and a run's URL."""
    sources = Sources(config=config, settings=tuple(settings or ()), run=run)
    async with joined(
        Generation, lambda: open_generation(prepare(load(sources, environ)))
    ) as generation:
        return await observe(generation, "generate")
