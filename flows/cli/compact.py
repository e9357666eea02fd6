"""`stepmill compact`: merge a run's small shards and remove what no version needs."""

import os

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored_run
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from storage.maintenance.compact import CompactReport, compact


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    report = signals.run(_compact(args))
    if args.json:
        print_result({"run": args.run, **report.model_dump(mode="json")})
        return ExitCode.DONE
    print_lines(
        f"{name}: {merged.merged} shards merged into {merged.into} ({merged.bytes / 1e6:.1f} MB)"
        for name, merged in report.tables.items()
    )
    if report.removed:
        print_lines([f"removed: {report.removed} shards ({report.removed_bytes / 1e6:.1f} MB)"])
    if report.unfinished:
        print_lines([f"removed: {report.unfinished} unfinished writes"])
    if report.spooled:
        print_lines([f"discarded: {report.spooled} committed units in the spool"])
    if report.let_go:
        print_lines([f"discarded: {report.let_go} old versions that were never published"])
    print_lines([f"{args.run}: compact (version {report.version})"])
    return ExitCode.DONE


async def _compact(args: Arguments) -> CompactReport:
    sources = Sources(config=args.config, settings=tuple(args.settings))
    stored = await open_stored_run(args.run, sources, os.environ)
    await stored.lake.close()
    return await compact(args.run, stored.store, stored.config.storage)
