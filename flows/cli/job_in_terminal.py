"""How the command line runs a job: it shows progress, handles interrupts and informs Prefect.

Progress is live on a terminal, and a line every few seconds elsewhere.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Mapping

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from flows import signals
from flows.job.job import RunJob
from flows.job.progress import Progress
from flows.job.report import Report
from flows.job.report_lines import report_lines
from flows.orchestration import observed_flow
from flows.orchestration.current_job import set_current
from flows.terminal import print_lines, print_note, print_result

LINE_SECONDS = 10.0
"""The time between two lines where there is no terminal."""

_BAR_WIDTH = 30


async def drive(work: RunJob, flow: str, parameters: Mapping[str, object] | None) -> Report:
    """Watch `work` to its end, and show it to Prefect as `flow` unless `parameters` is None."""

    def interrupt() -> None:
        work.interrupt()
        if not work.stopping_now:
            print_note(
                f"finishing what is in flight (at most {work.drain_seconds:g} s); "
                "interrupt again to stop now"
            )

    with signals.handle_signals(interrupt) as listen, set_current(work, listen):
        async with observed_flow.observe_flow(flow, parameters) as observed:
            async with show_progress(work.progress):
                report = await work.report()
            if work.stopping_now:
                observed.do_not_wait()
            elif report.interrupted:
                observed.wait_briefly()
            elif observed.is_unrecorded:
                print_note("the work is done; waiting for Prefect to record it")
        return report


@contextlib.asynccontextmanager
async def show_progress(progress: Callable[[], Progress]) -> AsyncIterator[None]:
    """Show `progress` on standard error until the work is over."""
    if sys.stderr.isatty():
        console = Console(stderr=True)
        with Live(
            get_renderable=lambda: render(progress()),
            console=console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
        ):
            yield
        return
    printing = asyncio.create_task(_print_lines(progress))
    try:
        yield
    finally:
        printing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await printing


async def _print_lines(progress: Callable[[], Progress]) -> None:
    while True:
        await asyncio.sleep(LINE_SECONDS)
        now = progress()
        print_note(f"[{now.seconds:.0f} s] {now.sentence}")


def render(now: Progress) -> RenderableType:
    """Return the progress as a bar and a line."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(
        ProgressBar(total=100.0, completed=now.percent, width=_BAR_WIDTH),
        Text(f"{now.percent:.0f} %"),
    )
    whole = Table.grid()
    whole.add_row(grid)
    whole.add_row(Text(now.sentence))
    return whole


def print_report(report: Report, *, as_json: bool) -> int:
    """Print the report of a job, and return its exit code."""
    for problem in report.problems:
        print_note(problem)
    if report.interrupted:
        print_note("interrupted; run the same command again to go on")
    if as_json:
        print_result(report.as_json())
    elif report.summary.version:
        print_lines(report_lines(report))
    return report.exit_code
