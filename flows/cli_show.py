"""`stepmill show`: what a run holds, by family and policy."""

import asyncio
import os

from flows.cli_parsers import Arguments
from flows.cli_summary import totals, yields
from flows.cli_terminal import answer, tell
from flows.settings import Sources
from flows.stored import open_stored
from flows.summary import Summary, summarise


def run(args: Arguments) -> int:
    """Carry the command out and return its exit code."""
    summary = asyncio.run(_summary(args))
    if args.json:
        answer({"run": args.run, **summary.model_dump(mode="json")})
        return 0
    tell([f"run      {args.run}  (version {summary.version})", *totals(summary)])
    reasons = ", ".join(f"{count} {reason}" for reason, count in summary.stop_reasons.items())
    tell([f"ended    {reasons}", "", *yields(summary.groups, policies=True)])
    return 0


async def _summary(args: Arguments) -> Summary:
    sources = Sources(config=args.config, settings=tuple(args.settings))
    stored = await open_stored(args.run, sources, os.environ)
    try:
        snapshot = await stored.lake.snapshot(args.version)
        verdicts = await stored.lake.verdicts(version=snapshot.version)
        return await summarise(snapshot, verdicts, stored.config.accept)
    finally:
        await stored.lake.close()
