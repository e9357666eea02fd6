"""`stepmill generate`: make a run, or go on with it, and print its report."""

import os

from flows import signals
from flows.cli.job_in_terminal import drive, print_report
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources, load
from flows.job.open_job import check_nothing, open_generation
from flows.job.report import Report
from flows.job.validate import ValidConfig, validate
from flows.orchestration import observed_flow
from flows.terminal import log_to_stderr


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings), run=args.run)
    prepared = validate(load(sources, os.environ))
    report = signals.run(_make(prepared, None if args.no_prefect else sources))
    return print_report(report, as_json=args.json)


async def _make(prepared: ValidConfig, sources: Sources | None) -> Report:
    """Make the run, and show it to Prefect as a flow with `sources` as parameters."""
    async with open_generation(
        prepared, check=observed_flow.check_server_setting if sources else check_nothing
    ) as work:
        if not work.pending:
            return await work.report()
        parameters = sources.model_dump(mode="json") if sources else None
        return await drive(work, "flows.generate", parameters)
