"""`stepmill audit`: prove a run whole, or list what is not."""

import os
import sys

from rich.console import Console
from rich.progress import Progress

from flows import signals
from flows.cli_parsers import Arguments
from flows.cli_terminal import answer, tell
from flows.settings import Sources, load
from storage.audit import AuditReport, audit
from storage.places import open_store


def run(args: Arguments) -> int:
    """Carry the command out and return its exit code."""
    report = signals.run(_audit(args.run, deep=args.deep))
    if args.json:
        answer({"run": args.run, "whole": not report.findings, **report.model_dump(mode="json")})
    else:
        tell(f"not whole: {finding}" for finding in report.findings)
        tell(f"left behind (harmless): {leftover}" for leftover in report.leftovers)
        counts = ", ".join(f"{count} {what}" for what, count in report.counts.items())
        tell([f"{args.run}: {'NOT WHOLE' if report.findings else 'whole'} ({counts})"])
    return 1 if report.findings else 0


async def _audit(url: str, *, deep: bool) -> AuditReport:
    store = open_store(url, load(Sources(run=url), os.environ).storage)
    if not sys.stderr.isatty():
        return await audit(store, deep=deep)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("objects", total=None)
        return await audit(
            store,
            deep=deep,
            progress=lambda done, total: progress.update(bar, completed=done, total=total),
        )
