"""The `verify` flow: judge again what a run has stored."""

from prefect.client.schemas.objects import State

from flows.calling import served_flow
from flows.current import joined
from flows.dates import dated, dated_all, scheduled_day
from flows.generation import Generation
from flows.observing import observe
from flows.report import Report
from flows.run import open_judging
from flows.settings import Sources


@served_flow("verify")
async def verify(
    run: str, config: str | None = None, settings: list[str] | None = None
) -> State[Report]:
    """Judge every committed episode of the run at a URL again.

    `{date}` and `{day}` in the URL or a setting are those of `generate`.
    """
    day = scheduled_day()
    sources = Sources(config=config, settings=dated_all(settings, day))
    async with joined(Generation, lambda: open_judging(dated(run, day), sources)) as judging:
        return await observe(judging, "verify")
