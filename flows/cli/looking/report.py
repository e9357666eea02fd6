"""`stepmill report`: a run as one page that needs nothing else."""

import asyncio
import os
from argparse import Namespace
from pathlib import Path

from flows.job.config_loader import Sources
from flows.looking.films import write_file
from flows.looking.report import read_report
from flows.looking.report_page import report_page
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from flows.version import DISTRIBUTION, version_of


def run(args: Namespace) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings))
    found = asyncio.run(read_report(args.run, sources, os.environ, against=args.against))
    page = report_page(found, version=f"{DISTRIBUTION} {version_of()}").encode()
    write_file(Path(args.to), page)
    if args.json:
        stages = {one.name: one.attempts for one in found.stages}
        failures = [one.head.episode_id for one in found.failures]
        print_result(
            {
                "run": args.run,
                "to": args.to,
                "bytes": len(page),
                "funnel": stages,
                "failures": failures,
                "against": args.against,
            }
        )
    else:
        print_lines([f"report   {args.to}  ({len(page) / 1e6:.1f} MB; open it in a browser)"])
    return ExitCode.DONE
