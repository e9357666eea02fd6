"""`stepmill show`: the contents of a run by site, template and policy, or a comparison of two runs.

Single attempts are shown by `flows.cli.looking.attempts`. A run may be finished, under way, cancelled or killed.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence

from flows.cli.looking import attempts
from flows.cli.looking.flags import FILE_FLAGS
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.judging import by_episode
from flows.job.min_reward_warnings import warn_of_stored_thresholds
from flows.job.pass_rates import TaskAttempts, compare_runs, count_attempts, pass_rates
from flows.job.report_lines import (
    SHOWN,
    comparison_lines,
    pass_rate_lines,
    total_lines,
    unjudged_lines,
    worst_lines,
    yield_table,
)
from flows.job.stored_run import Completion, open_stored_run, view_run
from flows.job.summary import Summary, read_episodes, read_task_kinds, summarise
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from schemas.base import Record
from schemas.errors import BadConfig
from schemas.tables.tables import Row
from schemas.verdicts.verdict import Verdict
from storage.engine_limits import EngineLimits, read_engine_limits
from storage.lake import readers
from storage.lake.lake_reader import Snapshot
from storage.work_log import WorkLog


class _Look(Record):
    """The contents of a run."""

    summary: Summary
    """Its summary."""
    attempts: tuple[TaskAttempts, ...]
    """The attempts that count, by task and policy."""
    limits: EngineLimits | None
    """What was allowed at its engine when it was last looked at; None: it has none, or a version was requested."""
    made: Completion | None
    """How much of it is made; None if a version was requested."""


def run(args: Arguments) -> int:
    """Run the command and return its exit code.

    Raises:
        BadConfig: a version or a k was named beside two runs.
    """
    log_to_stderr()
    wanted = args.failed is not None or args.template is not None
    if wanted or attempts.names_attempt(args.other):
        return attempts.run(args)
    for name in FILE_FLAGS:
        if getattr(args, name) is not None:
            raise BadConfig(f"--{name}: is for one episode: name its id behind the run")
    if args.other is not None:
        return _compare(args)
    look = asyncio.run(_look(args, args.run))
    rates = pass_rates(look.attempts, k=args.k)
    if args.json:
        counts = look.made and {"complete": look.made.complete, **look.made.model_dump(mode="json")}
        print_result(
            {
                "run": args.run,
                **look.summary.model_dump(mode="json"),
                "made": counts,
                "engine_limits": look.limits and look.limits.model_dump(mode="json"),
                "pass_rates": [rate.model_dump(mode="json") for rate in rates],
            }
        )
    else:
        print_lines(_lines(args.run, look, whole=args.all))
        print_lines(pass_rate_lines(rate for rate in rates if args.all or rate.template is None))
    return ExitCode.DONE


def _compare(args: Arguments) -> int:
    given = [name for name in ("version", "k") if getattr(args, name) is not None]
    if given:
        raise BadConfig(
            f"--{given[0]}: is for one run; two are compared as they are now, by pass@1"
        )
    first, second = (asyncio.run(_look(args, url)).attempts for url in (args.run, args.other))
    found = compare_runs(first, second)
    if args.json:
        templates = [one.model_dump(mode="json") for one in found]
        print_result({"run": args.run, "other": args.other, "templates": templates})
    else:
        print_lines(comparison_lines(found, args.run, args.other))
    return ExitCode.DONE


async def _look(args: Arguments, url: str) -> _Look:
    """Return the contents and progress of a run now, or the contents of a version."""
    sources = Sources(config=args.config, settings=tuple(args.settings))
    stored = await open_stored_run(url, sources, os.environ)
    rule = stored.config.accept
    try:
        if args.version is not None:
            snapshot, made, limits = await stored.lake.snapshot(args.version), None, None
            episodes: Sequence[Row] = await read_episodes(snapshot)
        else:
            now = await view_run(stored)
            snapshot, made, episodes = now.snapshot, now.made, now.episodes
            limits = await read_engine_limits(stored.store)
        await warn_of_stored_thresholds(snapshot, rule)
        verdicts = await _verdicts(snapshot)
        works = await WorkLog(stored.store).read() if args.version is None else ()
        summary = await summarise(snapshot, verdicts, rule, episodes=episodes, works=works)
        kinds = await read_task_kinds(snapshot)
        attempts = count_attempts(episodes, kinds, by_episode(verdicts), rule)
        return _Look(summary=summary, attempts=attempts, made=made, limits=limits)
    finally:
        await stored.lake.close()


async def _verdicts(snapshot: Snapshot) -> list[Verdict]:
    return await asyncio.to_thread(readers.read_verdicts, await snapshot.dataset("verdicts"))


def _lines(url: str, look: _Look, *, whole: bool) -> Iterator[str]:
    """Yield the summary for people: in full, or as much as fits a screen."""
    summary, made = look.summary, look.made
    version = f"version {summary.version}" if summary.version else "no version yet"
    more = ", and what was committed since" if made and summary.version and not made.sealed else ""
    yield f"run      {url}  ({version}{more})"
    if made is not None and not made.complete:
        yield from _incomplete(made)
    if not summary.episodes:
        return
    yield from total_lines(summary)
    if look.limits is not None:
        for one in look.limits.endpoints:
            yield f"live     {one.engine}: {one.live_limit} episodes, {one.request_limit} requests ({one.because})"
    yield from unjudged_lines(summary.unjudged, url)
    reasons = ", ".join(f"{count} {reason}" for reason, count in summary.stop_reasons.items())
    yield from (f"ended    {reasons}", "")
    yield from worst_lines(summary.templates, url, most=None if whole else SHOWN)
    if whole:
        yield from ("", *yield_table(summary.groups, policies=True))


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
    for why, count in made.waiting.items():
        yield f"         {count} tasks wait: {why}"
    if made.last_ended_at is not None:
        yield f"         the last one ended at {made.last_ended_at:%Y-%m-%d %H:%M:%S} UTC"
    if made.complete is False:
        yield "         not complete: under way, or the same `stepmill generate` goes on with it"
