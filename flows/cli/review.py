"""`stepmill review`: what people say of a run's episodes, taken from a file or written to one."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.reviewing.review_job import (
    Exported,
    Imported,
    ReviewCounts,
    ReviewFormat,
    count_reviews,
    export_reviews,
    import_reviews,
)
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings))
    report = asyncio.run(_report(args, sources))
    if args.json:
        print_result(report.model_dump(mode="json"))
        return ExitCode.DONE
    match report:
        case Imported():
            before = report.read - report.added
            print_lines([f"reviews  {report.added} added, {before} were there before"])
        case Exported():
            print_lines(f"written  {file}" for file in report.files)
            print_lines([f"         {report.reviews} reviews, {report.episodes} episodes"])
        case ReviewCounts():
            print_lines(_lines(report))
    return ExitCode.DONE


async def _report(args: Arguments, sources: Sources) -> Imported | Exported | ReviewCounts:
    format_ = ReviewFormat(args.format)
    if args.source is not None:
        return await import_reviews(args.run, Path(args.source), sources, format_)
    if args.to is not None:
        return await export_reviews(args.run, Path(args.to), sources, format_)
    return await count_reviews(args.run, sources)


def _lines(counts: ReviewCounts) -> Iterator[str]:
    yield f"reviews  {counts.reviews} of {counts.run}"
    said = ", ".join(f"{count} {result}" for result, count in counts.results.items())
    yield f"episodes {counts.episodes}: {said}"
    for name, count in counts.reviewers.items():
        yield f"         {count} by {name}"
    for pair in counts.agreement:
        kappa = "undefined" if pair.kappa is None else f"{pair.kappa:.2f}"
        yield (
            f"agree    {pair.first} and {pair.second} on {pair.agreed} of {pair.episodes}, "
            f"Cohen's kappa {kappa}"
        )
