"""`stepmill compact`: merge a run's small shards and remove what no version needs."""

import os

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored
from flows.terminal import answer, log_to_stderr, tell
from storage.maintenance.compact import CompactReport, compact


def run(args: Arguments) -> int:
    """Carry the command out and return its exit code."""
    log_to_stderr()
    report = signals.run(_compact(args))
    if args.json:
        answer({"run": args.run, **report.model_dump(mode="json")})
        return 0
    tell(
        f"{name}: {merged.merged} shards merged into {merged.into} ({merged.bytes / 1e6:.1f} MB)"
        for name, merged in report.tables.items()
    )
    if report.removed:
        tell([f"removed: {report.removed} shards ({report.removed_bytes / 1e6:.1f} MB)"])
    if report.unfinished:
        tell([f"removed: {report.unfinished} writes that never ended"])
    if report.spooled:
        tell([f"spool: cleared of {report.spooled} committed units"])
    if report.let_go:
        tell([f"let go: {report.let_go} versions, old and never published"])
    tell([f"{args.run}: compact (version {report.version})"])
    return 0


async def _compact(args: Arguments) -> CompactReport:
    sources = Sources(config=args.config, settings=tuple(args.settings))
    stored = await open_stored(args.run, sources, os.environ)
    await stored.lake.close()
    return await compact(args.run, stored.store, stored.config.storage)
