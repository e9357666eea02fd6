"""`stepmill audit`: check a run and its published copies, and list the findings."""

import os
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.progress import Progress

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources, load
from flows.terminal import ExitCode, print_lines, print_result
from schemas.configuration.config import RunConfig
from schemas.errors import BadConfig, Damaged, NotFound
from storage.audit import AuditReport, audit
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.publish.publish import open_destination
from storage.run_file import KEY, open_run


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    sources = Sources(config=args.config, settings=tuple(args.settings), run=args.run)
    report = signals.run(_audit(sources, args.run, deep=args.deep))
    if args.json:
        states = {
            "whole": not report.run_findings,
            "copies_whole": all(copy.whole for copy in report.published),
        }
        print_result({"run": args.run, **states, **report.model_dump(mode="json")})
    else:
        print_lines(_lines(args.run, report))
    return ExitCode.SHORT if report.findings else ExitCode.DONE


def _lines(url: str, report: AuditReport) -> Iterator[str]:
    """Yield the report, for people."""
    yield from (f"not whole: {finding}" for finding in report.run_findings)
    for copy in report.published:
        state = "not whole" if copy.unproven is None else "not proven"
        yield from (f"copy {state}: {finding}" for finding in copy.findings)
    yield from (f"left behind (harmless): {leftover}" for leftover in report.leftovers)
    counts = ", ".join(f"{count} {what}" for what, count in report.counts.items())
    yield f"{url}: {'NOT WHOLE' if report.run_findings else 'whole'} ({counts})"
    for copy in report.published:
        if copy.version is None and copy.whole:
            yield f"{copy.destination}: no published version is to be seen there yet"
            continue
        details = "" if copy.version is None else f" (version {copy.version}, {copy.files} files)"
        state = "NOT PROVEN" if copy.unproven is not None else "NOT WHOLE"
        yield f"{copy.destination}: {'whole' if copy.whole else state}{details}"


async def _audit(sources: Sources, url: str, *, deep: bool) -> AuditReport:
    base = load(sources, os.environ)
    store = open_store(url, base.storage)
    config = await _config(sources, store) or base
    copies = [open_destination(to, config.publish, config.storage) for to in config.publish.to]
    if not sys.stderr.isatty():
        return await audit(store, deep=deep, copies=copies)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("objects", total=None)
        return await audit(
            store,
            deep=deep,
            copies=copies,
            progress=lambda done, total: progress.update(bar, completed=done, total=total),
        )


async def _config(sources: Sources, store: ObjectStore) -> RunConfig | None:
    """Return the run's configuration under the user's settings; None if it cannot be read."""
    try:
        made = await open_run(store)
        return load(sources, os.environ, (f"{store.url}/{KEY}", made.config))
    except (NotFound, Damaged, BadConfig):
        return None  # the audit reports a broken run file
