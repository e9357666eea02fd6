"""The `verify` flow: judge again what a run has stored."""

from prefect.client.schemas.objects import State

from flows.job.config_loader import Sources
from flows.job.job import JudgeJob
from flows.job.open import open_judging
from flows.job.report import Report
from flows.orchestration.current_job import joined
from flows.orchestration.date_templates import dated, dated_all, scheduled_day
from flows.orchestration.observer import observe
from flows.orchestration.served_flow import served_flow


@served_flow("verify")
async def verify(
    run: str, config: str | None = None, settings: list[str] | None = None
) -> State[Report]:
    """Judge every committed episode of the run at a URL again.

    `{date}` and `{day}` in the URL or a setting are those of `generate`.
    """
    day = scheduled_day()
    sources = Sources(config=config, settings=dated_all(settings, day))
    async with joined(JudgeJob, lambda: open_judging(dated(run, day), sources)) as judging:
        return await observe(judging, "verify")
