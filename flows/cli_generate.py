"""`stepmill generate`: make a run, or go on with it, and say what it came to."""

import os
from collections.abc import Iterator

from flows import scheduling, signals
from flows.cli_parsers import Arguments
from flows.cli_progress import watching
from flows.cli_terminal import answer, log_to_stderr, note, table, tell
from flows.current import at_work
from flows.prepare import Prepared, prepare
from flows.report import Report
from flows.run import nothing, open_generation
from flows.settings import Sources, load
from flows.summary import Count, Summary


def run(args: Arguments) -> int:
    """Carry the command out and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings), run=args.run)
    prepared = prepare(load(sources, os.environ))
    report = signals.run(_make(prepared, None if args.no_prefect else sources))
    for problem in report.problems:
        note(problem)
    if report.interrupted:
        note("interrupted; run the same command again to go on")
    if args.json:
        answer(report.as_json())
    else:
        tell(lines(report))
    return report.exit_code


async def _make(prepared: Prepared, shown: Sources | None) -> Report:
    """Make the run, and show Prefect the flow that `shown` would be the parameters of."""
    check = scheduling.check if shown else nothing
    async with open_generation(prepared, check=check) as generation:
        if not generation.pending:
            return await generation.report()

        def interrupt() -> None:
            generation.interrupt()
            seconds = prepared.config.limits.drain_seconds
            if not generation.stopping_now:
                note(f"finishing what is in flight (at most {seconds:g} s); again to stop now")

        with signals.listening(interrupt) as listen, at_work(generation, listen):
            parameters = shown.model_dump(mode="json") if shown else None
            async with scheduling.shown("flows.generate", parameters) as seen:
                async with watching(generation.progress):
                    report = await generation.report()
                if report.interrupted:
                    seen.hurry()
            return report


def lines(report: Report) -> Iterator[str]:
    """Yield what a `generate` came to, for people."""
    yield f"run      {report.run}  (version {report.summary.version})"
    yield from _totals(report.summary)
    if report.rolled_out:
        rate = report.rolled_out / report.seconds
        yield (
            f"now      {report.rolled_out} episodes and {report.steps} steps in "
            f"{report.seconds:.1f} s  ({rate * 3_600:,.0f} episodes/h)"
        )
    if report.summary.templates:
        yield ""
        yield "yield by family, worst first"
        yield from yields(report.summary.templates)
    for publication in report.publications:
        rows = ", ".join(f"{count} {config}" for config, count in publication.rows.items())
        yield ""
        yield f"dataset  {publication.destination}  ({rows}; {publication.bytes / 1e6:.1f} MB)"
        yield ""
        yield from publication.loading


def _totals(summary: Summary) -> Iterator[str]:
    yield (
        f"episodes {summary.episodes} of {summary.tasks} tasks: {summary.accepted} accepted, "
        f"{summary.rejected} rejected, {summary.unjudged} unjudged; {summary.failed} failed"
    )
    yield f"steps    {summary.steps}"
    if summary.replayed:
        share = 100 * summary.reproduced / summary.replayed
        yield f"replay   {summary.reproduced} of {summary.replayed} reproduced ({share:.1f} %)"


def yields(counts: tuple[Count, ...], *, policies: bool = False) -> list[str]:
    """Return a table of how groups of episodes stand."""
    head = ["family", *(["policy"] if policies else []), "episodes", "accepted", "yield", "steps"]
    return table(
        head,
        (
            [
                count.template,
                *([count.policy] if policies else []),
                str(count.episodes),
                str(count.accepted),
                f"{count.percent:.0f} %",
                str(count.steps),
            ]
            for count in counts
        ),
    )
