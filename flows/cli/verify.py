"""`stepmill verify`: judge a run's stored episodes again."""

import json

from flows import signals
from flows.cli.job_in_terminal import drive, print_report
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.open_job import check_nothing, open_judging
from flows.job.report import Report
from flows.orchestration import observed_flow
from flows.terminal import log_to_stderr


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    settings = list(args.settings)
    if args.verifiers is not None:
        names = [name.strip() for name in args.verifiers.split(",") if name.strip()]
        settings.append(f"verify.verifiers={json.dumps(names)}")
    sources = Sources(config=args.config, settings=tuple(settings))
    report = signals.run(_judge(args.run, sources, prefect=not args.no_prefect))
    return print_report(report, as_json=args.json)


async def _judge(run_url: str, sources: Sources, *, prefect: bool) -> Report:
    parameters = {
        "run": run_url,
        "config": sources.config,
        "settings": list(sources.settings),
    }
    check = observed_flow.check_server_setting if prefect else check_nothing
    async with open_judging(run_url, sources, check=check) as work:
        return await drive(work, "flows.verify", parameters if prefect else None)
