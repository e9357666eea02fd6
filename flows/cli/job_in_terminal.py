"""How the command line runs a job: it shows progress, handles interrupts and informs Prefect."""

from collections.abc import Mapping

from flows import signals
from flows.cli.live_progress import show_progress
from flows.job.job import RunJob
from flows.job.report import Report
from flows.job.report_lines import report_lines
from flows.orchestration import observed_flow
from flows.orchestration.current_job import set_current
from flows.terminal import print_lines, print_note, print_result


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
    if report.reached is not None:
        if report.waiting:
            print_note(
                f"{report.waiting} finished episodes wait in the spool for the rest of their units"
            )
        print_note(report.reached.sentence)
    return report.exit_code
