"""`stepmill withdraw`: take episodes out of a run, a published dataset or a collection, for ever."""

import asyncio

from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.withdraw_job import withdraw_episodes
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings))
    report = asyncio.run(withdraw_episodes(args.place, args.episodes, args.reason, sources))
    if args.json:
        print_result(report.model_dump(mode="json"))
        return ExitCode.DONE
    what = "" if report.version is None else f"  (version {report.version})"
    print_lines([f"withdrawn {len(report.withdrawn)} episodes from {report.place}{what}"])
    if report.before:
        print_lines([f"before    {len(report.before)} of them had been withdrawn already"])
    if report.rewritten:
        print_lines([f"rewritten {report.rewritten} files ({report.bytes / 1e6:.1f} MB)"])
    print_lines(f"remains   {sentence}" for sentence in report.remains)
    return ExitCode.DONE
