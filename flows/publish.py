"""The `publish` flow: write a version of a run as a dataset."""

from prefect.client.schemas.objects import State

from flows.calling import served_flow
from flows.current import joined
from flows.dates import dated, dated_all, scheduled_day
from flows.observing import observe_publication
from flows.publication import Publication, open_publication
from flows.settings import Sources
from storage.publish.publish import PublishReport


@served_flow("publish")
async def publish(
    run: str,
    to: str,
    version: int | None = None,
    config: str | None = None,
    settings: list[str] | None = None,
) -> State[PublishReport]:
    """Publish a version of the run at a URL, the last one by default, to one destination.

    `{date}` and `{day}` in a URL or a setting are those of `generate`.
    """
    day = scheduled_day()
    sources = Sources(config=config, settings=dated_all(settings, day))
    async with joined(
        Publication,
        lambda: open_publication(dated(run, day), sources, dated(to, day), version),
    ) as publication:
        return await observe_publication(publication)
