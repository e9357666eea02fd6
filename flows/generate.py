"""The `generate` flow: make a run, or go on with it."""

from prefect import flow
from prefect.client.schemas.objects import State

from flows.current import joined
from flows.observing import observe
from flows.settings import Sources


@flow(name="generate", persist_result=False)
async def generate(
    config: str | None = None, settings: list[str] | None = None, run: str | None = None
) -> State[None]:
    """Make the run of a configuration file, `KEY=VALUE` settings over it and a run's URL."""
    async with joined(Sources(config=config, settings=tuple(settings or ()), run=run)) as at_work:
        return await observe(at_work)
