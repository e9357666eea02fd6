"""The `verify` flow: judge a run's stored episodes again."""

from prefect.client.schemas.objects import State

from flows.job.config_loader import Sources
from flows.job.job import JudgeJob
from flows.job.open_job import open_judging
from flows.job.report import Report
from flows.orchestration.current_job import get_or_start
from flows.orchestration.observer import observe
from flows.orchestration.scheduled_time import due_time, fill, fill_all
from flows.orchestration.served_flow import served_flow


@served_flow("verify")
async def verify(
    run: str, config: str | None = None, settings: list[str] | None = None
) -> State[Report]:
    """Judge every committed episode of the run at a URL again.

    `{date}` and its like in the URL or a setting are those of `generate`.
    """
    due = await due_time()
    sources = Sources(config=config, settings=fill_all(settings, due))
    async with get_or_start(JudgeJob, lambda: open_judging(fill(run, due), sources)) as judging:
        return await observe(judging, "verify")
