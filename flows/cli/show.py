"""`stepmill show`: what a run holds, by template and policy; finished, under way, cancelled or killed."""

import asyncio
import os
from collections.abc import Iterator

from flows.cli.parser import Arguments
from flows.cli.summary import total_lines, unjudged_lines, yield_table
from flows.job.config_loader import Sources
from flows.job.stored_run import Completion, open_stored_run, view_run
from flows.job.summary import Summary, summarise
from flows.job.thresholds import warn_of_stored_thresholds
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from schemas.verdict import Verdict
from storage.lake import readers
from storage.lake.lake_reader import Snapshot


def run(args: Arguments) -> int:
    """Carry the command out and return its exit code."""
    log_to_stderr()
    summary, made = asyncio.run(_summary(args))
    if args.json:
        counts = made and {"complete": made.complete, **made.model_dump(mode="json")}
        print_result({"run": args.run, **summary.model_dump(mode="json"), "made": counts})
    else:
        print_lines(_lines(args.run, summary, made))
    return ExitCode.DONE


async def _summary(args: Arguments) -> tuple[Summary, Completion | None]:
    """Return what a run holds now and how much of it is made, or what a version of it holds."""
    sources = Sources(config=args.config, settings=tuple(args.settings))
    stored = await open_stored_run(args.run, sources, os.environ)
    rule = stored.config.accept
    try:
        if args.version is not None:
            snapshot = await stored.lake.snapshot(args.version)
            await warn_of_stored_thresholds(snapshot, rule)
            return await summarise(snapshot, await _verdicts(snapshot), rule), None
        now = await view_run(stored)
        await warn_of_stored_thresholds(now.snapshot, rule)
        verdicts = await _verdicts(now.snapshot)
        return await summarise(now.snapshot, verdicts, rule, episodes=now.episodes), now.made
    finally:
        await stored.lake.close()


async def _verdicts(snapshot: Snapshot) -> list[Verdict]:
    return await asyncio.to_thread(readers.read_verdicts, await snapshot.dataset("verdicts"))


def _lines(url: str, summary: Summary, made: Completion | None) -> Iterator[str]:
    """Yield the summary, for people."""
    version = f"version {summary.version}" if summary.version else "no version yet"
    more = ", and what was committed since" if made and summary.version and not made.sealed else ""
    yield f"run      {url}  ({version}{more})"
    if made is not None and not made.complete:
        yield from _incomplete(made)
    if not summary.episodes:
        return
    yield from total_lines(summary)
    yield from unjudged_lines(summary.unjudged, url)
    reasons = ", ".join(f"{count} {reason}" for reason, count in summary.stop_reasons.items())
    yield from (f"ended    {reasons}", "", *yield_table(summary.groups, policies=True))


def _incomplete(made: Completion) -> Iterator[str]:
    """Yield the progress of a run that is not complete, or may not be."""
    planned = "" if made.planned is None else f" of {made.planned} planned"
    failed = f" ({made.spooled_failed} of them failed)" if made.spooled_failed else ""
    yield f"made     {made.committed}{planned} episodes committed, {made.spooled} spooled{failed}"
    if made.spooled_unreadable:
        yield (
            f"         {made.spooled_unreadable} spooled objects hold no episode: "
            "`stepmill audit RUN --deep` names them"
        )
    if made.last_ended_at is not None:
        yield f"         the last one ended at {made.last_ended_at:%Y-%m-%d %H:%M:%S} UTC"
    if made.complete is False:
        yield "         not complete: under way, or the same `stepmill generate` goes on with it"
