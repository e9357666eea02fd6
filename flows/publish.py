"""The `publish` flow: write a version of a run as a dataset."""

from prefect.client.schemas.objects import State

from flows.job.config_loader import Sources
from flows.job.publish_job import PublishJob, open_publication
from flows.orchestration.current_job import get_or_start
from flows.orchestration.observer import observe_publication
from flows.orchestration.scheduled_time import due_time, fill, fill_all
from flows.orchestration.served_flow import served_flow
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

    `{date}` and its like in a URL or a setting are those of `generate`.
    """
    due = await due_time()
    sources = Sources(config=config, settings=fill_all(settings, due))
    async with get_or_start(
        PublishJob,
        lambda: open_publication(fill(run, due), sources, fill(to, due), version),
    ) as publication:
        return await observe_publication(publication)
