"""The `publish` flow: write a version of a run as a dataset."""

from prefect import flow
from prefect.client.schemas.objects import State

from flows.current import joined
from flows.observing import observe_publication
from flows.publication import Publication, open_publication
from flows.settings import Sources


@flow(name="publish", persist_result=False)
async def publish(
    run: str,
    to: str,
    version: int | None = None,
    config: str | None = None,
    settings: list[str] | None = None,
) -> State[None]:
    """Publish a version of the run at a URL, the last one by default, to one destination."""
    sources = Sources(config=config, settings=tuple(settings or ()))
    async with joined(
        Publication, lambda: open_publication(run, sources, to, version)
    ) as publication:
        return await observe_publication(publication)
