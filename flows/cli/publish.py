"""`stepmill publish`: write a version of a run as a dataset."""

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.publish_job import open_publication
from flows.job.report_lines import publication_lines, unjudged_lines
from flows.orchestration import observed_flow
from flows.orchestration.current_job import set_current
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from storage.publish.publish import PublishReport


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    report = signals.run(_publish(args))
    if args.json:
        print_result(report.model_dump(mode="json") | {"run": args.run})
    else:
        print_lines([*unjudged_lines(report.unjudged, args.run), *publication_lines(report)])
    return ExitCode.DONE if report.accepted else ExitCode.SHORT


async def _publish(args: Arguments) -> PublishReport:
    sources = Sources(config=args.config, settings=tuple(args.settings))
    parameters = {
        "run": args.run,
        "to": args.to,
        "version": args.version,
        "config": sources.config,
        "settings": list(sources.settings),
    }
    if not args.no_prefect:
        await observed_flow.check_server_setting()
    async with open_publication(args.run, sources, args.to, args.version) as publication:
        # Interrupts end it, and publishing again goes on.
        with set_current(publication, lambda: None):
            observing = observed_flow.observe_flow(
                "flows.publish", None if args.no_prefect else parameters
            )
            async with observing as observed:
                report = await publication.report()
                if not report.put and not report.deleted:
                    observed.do_not_wait()
            return report
