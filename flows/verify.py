"""The `verify` flow: judge again what a run has stored."""

from prefect import flow
from prefect.client.schemas.objects import State

from flows.current import joined
from flows.generation import Generation
from flows.observing import observe
from flows.run import open_judging
from flows.settings import Sources


@flow(name="verify", persist_result=False)
async def verify(
    run: str, config: str | None = None, settings: list[str] | None = None
) -> State[None]:
    """Judge every committed episode of the run at a URL again."""
    sources = Sources(config=config, settings=tuple(settings or ()))
    async with joined(Generation, lambda: open_judging(run, sources)) as judging:
        return await observe(judging, "verify")
