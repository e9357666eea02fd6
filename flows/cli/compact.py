"""`stepmill compact`: merge a run's small shards, or tidy a collection; remove what no version needs."""

import os

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources, load
from flows.job.publish_job import holds_dataset
from flows.job.stored_run import open_stored_run
from flows.job.used_keys import check_settings
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from storage.maintenance.compact import CompactReport, compact
from storage.publish.collection.tidy import TidyReport, tidy
from storage.publish.publish import open_destination


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    report = signals.run(_compact(args))
    if isinstance(report, TidyReport):
        return _print_tidy(args, report)
    if args.json:
        print_result({"run": args.run, **report.model_dump(mode="json")})
        return ExitCode.DONE
    print_lines(
        f"{name}: {merged.merged} shards merged into {merged.into} ({merged.bytes / 1e6:.1f} MB)"
        + (f", {merged.withdrawn} rows of withdrawn episodes left out" if merged.withdrawn else "")
        for name, merged in report.tables.items()
    )
    if report.removed:
        print_lines([f"removed: {report.removed} shards ({report.removed_bytes / 1e6:.1f} MB)"])
    if report.unfinished:
        print_lines([f"removed: {report.unfinished} unfinished writes"])
    if report.spooled:
        print_lines([f"discarded: {report.spooled} committed units in the spool"])
    if report.let_go:
        print_lines([f"versions that can be read no more: {report.let_go}"])
    print_lines([f"{args.run}: compact (version {report.version})"])
    return ExitCode.DONE


def _print_tidy(args: Arguments, report: TidyReport) -> int:
    if args.json:
        print_result(report.model_dump(mode="json"))
        return ExitCode.DONE
    if report.removed:
        print_lines([f"removed: {report.removed} files ({report.bytes / 1e6:.1f} MB)"])
    if report.versions:
        named = ", ".join(map(str, report.versions))
        print_lines([f"versions that can be read no more: {named}"])
    print_lines(f"remains: {sentence}" for sentence in report.remains)
    print_lines([f"{report.place}: compact (version {report.version})"])
    return ExitCode.DONE


async def _compact(args: Arguments) -> CompactReport | TidyReport:
    sources = Sources(config=args.config, settings=tuple(args.settings))
    check_settings("compact", sources.settings)
    config = load(sources, os.environ)
    if await holds_dataset(args.run, config):
        return await tidy(lambda: open_destination(args.run, config.publish, config.storage))
    stored = await open_stored_run(args.run, sources, os.environ)
    await stored.lake.close()
    return await compact(args.run, stored.store, stored.config.storage)
