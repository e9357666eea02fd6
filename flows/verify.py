"""The `verify` flow: judge again what a run has stored."""

from os import environ

from prefect import flow
from prefect.client.schemas.objects import State

from flows.current import joined
from flows.generation import Generation
from flows.observing import observe
from flows.run import open_judging
from flows.settings import Sources
from flows.stored import open_stored


@flow(name="verify", persist_result=False)
async def verify(
    run: str, config: str | None = None, settings: list[str] | None = None
) -> State[None]:
    """Judge every committed episode of the run at a URL again."""
    sources = Sources(config=config, settings=tuple(settings or ()))
    stored = await open_stored(run, sources, environ)
    async with joined(Generation, lambda: open_judging(stored)) as judging:
        return await observe(judging, "verify")
