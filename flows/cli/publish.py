"""`stepmill publish`: write a version of a run as a dataset, or several runs as a collection."""

from flows import signals
from flows.cli.flags import where_settings
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.publish_job import open_publication
from flows.job.report_lines import publication_lines, unjudged_lines
from flows.orchestration import observed_flow
from flows.orchestration.current_job import set_current
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from schemas.errors import BadConfig
from storage.publish.publish import PublishReport

APPEND = "publish.append=true"
"""The setting that adds a run to a collection."""


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    runs = tuple(args.runs)
    if len(runs) > 1 and args.version is not None:
        raise BadConfig("--version: names the version of one run; publish several runs one by one")
    settings = (
        *args.settings,
        *([APPEND] if args.append or len(runs) > 1 else []),
        *where_settings(args.where),
    )
    sources = Sources(config=args.config, settings=settings)
    reports = [signals.run(_publish(args, run, sources)) for run in runs]
    for name, report in zip(runs, reports, strict=True):
        if args.json:
            print_result(report.model_dump(mode="json") | {"run": name})
        else:
            print_lines([*unjudged_lines(report.unjudged, name), *publication_lines(report)])
    return ExitCode.DONE if all(report.accepted for report in reports) else ExitCode.SHORT


async def _publish(args: Arguments, run: str, sources: Sources) -> PublishReport:
    parameters = {
        "run": run,
        "to": args.to,
        "version": args.version,
        "config": sources.config,
        "settings": list(sources.settings),
    }
    if not args.no_prefect:
        await observed_flow.check_server_setting()
    async with open_publication(run, sources, args.to, args.version) as publication:
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
