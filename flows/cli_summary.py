"""What a run holds, and what a command came to, in lines for people."""

from collections.abc import Iterator, Sequence

from flows.cli_terminal import table
from flows.report import Report
from flows.summary import Count, Summary
from storage.publish.publish import PublishReport


def lines(report: Report) -> Iterator[str]:
    """Yield what a command on a run came to, for people."""
    yield f"run      {report.run}  (version {report.summary.version})"
    yield from totals(report.summary)
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
        yield ""
        yield from published(publication)


def published(publication: PublishReport) -> Iterator[str]:
    """Yield where a dataset is, what it holds and how to load it."""
    rows = ", ".join(f"{count} {config}" for config, count in publication.rows.items())
    yield f"dataset  {publication.destination}  ({rows}; {publication.bytes / 1e6:.1f} MB)"
    yield ""
    yield from publication.loading


def totals(summary: Summary) -> Iterator[str]:
    """Yield what a run holds."""
    yield (
        f"episodes {summary.episodes} of {summary.tasks} tasks: {summary.accepted} accepted, "
        f"{summary.rejected} rejected, {summary.unjudged} unjudged; {summary.failed} failed"
    )
    yield f"steps    {summary.steps}"
    if summary.replayed:
        share = 100 * summary.reproduced / summary.replayed
        yield f"replay   {summary.reproduced} of {summary.replayed} reproduced ({share:.1f} %)"


def yields(counts: Sequence[Count], *, policies: bool = False) -> list[str]:
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
