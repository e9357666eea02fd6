"""How the command line runs a job: it shows progress, handles interrupts, informs Prefect."""

from collections.abc import Mapping

from flows import signals
from flows.cli.progress import watching
from flows.cli.summary import lines
from flows.job.job import RunJob
from flows.job.report import Report
from flows.orchestration import flow_run
from flows.orchestration.current_job import at_work
from flows.terminal import answer, note, tell


async def drive(work: RunJob, flow: str, parameters: Mapping[str, object] | None) -> Report:
    """Watch `work` to its end, and show it to Prefect as `flow` unless `parameters` is None."""

    def interrupt() -> None:
        work.interrupt()
        if not work.stopping_now:
            note(
                f"finishing what is in flight (at most {work.drain_seconds:g} s); "
                "interrupt again to stop now"
            )

    with signals.listening(interrupt) as listen, at_work(work, listen):
        async with flow_run.shown(flow, parameters) as observed:
            async with watching(work.progress):
                report = await work.report()
            if work.stopping_now:
                observed.forget()
            elif report.interrupted:
                observed.hurry()
            elif observed.missing:
                note("the work is done; waiting for Prefect to record it")
        return report


def tell_report(report: Report, *, as_json: bool) -> int:
    """Print the report of a job, and return its exit code."""
    for problem in report.problems:
        note(problem)
    if report.interrupted:
        note("interrupted; run the same command again to go on")
    if as_json:
        answer(report.as_json())
    elif report.summary.version:
        tell(lines(report))
    return report.exit_code
