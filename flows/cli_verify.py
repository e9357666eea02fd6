"""`stepmill verify`: judge again what a run has stored."""

import json

from flows import scheduling, signals
from flows.cli_drive import drive, tell_report
from flows.cli_parsers import Arguments
from flows.cli_terminal import log_to_stderr
from flows.report import Report
from flows.run import nothing, open_judging
from flows.settings import Sources


def run(args: Arguments) -> int:
    """Carry the command out and return its exit code."""
    log_to_stderr()
    settings = list(args.settings)
    if args.verifiers is not None:
        names = [name.strip() for name in args.verifiers.split(",") if name.strip()]
        settings.append(f"verify.verifiers={json.dumps(names)}")
    sources = Sources(config=args.config, settings=tuple(settings))
    report = signals.run(_judge(args.run, sources, prefect=not args.no_prefect))
    return tell_report(report, as_json=args.json)


async def _judge(run_url: str, sources: Sources, *, prefect: bool) -> Report:
    parameters = {
        "run": run_url,
        "config": sources.config,
        "settings": list(sources.settings),
    }
    check = scheduling.check if prefect else nothing
    async with open_judging(run_url, sources, check=check) as work:
        return await drive(work, "flows.verify", parameters if prefect else None)
