"""The `publish` flow: write a version of a run as a dataset."""

from prefect.client.schemas.objects import State

from flows.job.config_loader import Sources
from flows.job.publish_job import PublishJob, open_publication
from flows.orchestration.current_job import get_or_start
from flows.orchestration.observer import observe_publication
from flows.orchestration.served_flow import fill_date, fill_dates, scheduled_day, served_flow
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
    sources = Sources(config=config, settings=fill_dates(settings, day))
    async with get_or_start(
        PublishJob,
        lambda: open_publication(fill_date(run, day), sources, fill_date(to, day), version),
    ) as publication:
        return await observe_publication(publication)
