"""`stepmill export`: write a version of a run in another program's format."""

import asyncio
import os
from pathlib import Path

from pydantic import JsonValue

from flows.cli.flags import where_settings
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources, load
from flows.job.min_reward_warnings import warn_of_stored_thresholds
from flows.job.report_lines import left_out_lines, unjudged_lines
from flows.job.stored_run import StoredRun, open_stored_run
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from generators.policy.dialects.registry import DEFAULT
from generators.training.dialect_renderer import make_renderer
from schemas.errors import BadConfig
from storage.export.export import ExportReport, export
from storage.export.format_factory import (
    FLAGS,
    FormatParts,
    check_options,
    check_rejected,
    find_format,
    make_format,
)
from storage.export.registry import FormatName, MessageShape, Pictures, Spelling, StepChoice
from storage.export.thoughts import Thoughts
from storage.objects.urls import folder, is_bucket
from storage.publish.plan.rows import Tables, open_tables
from storage.publish.training.options import SystemPrompt


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    name: str = args.format
    options: dict[str, JsonValue] = {option: getattr(args, option) for option in FLAGS}
    check_options(name, options)
    check_rejected(name, include_rejected=_include_rejected(args))
    if is_bucket(args.to) or args.to.startswith("hf://"):
        raise BadConfig(f"--to {args.to}: an export is written to a folder; copy it from there")
    stored, tables = asyncio.run(_open_tables(args))
    asked = "dialect" in find_format(name).flags
    rendered = asked or name == FormatName.GROUNDING  # whose words are the same in every dialect
    report = export(  # in this thread, so that an interrupt ends it at once
        tables,
        make_format(
            name,
            FormatParts(
                renderer=make_renderer(stored.config, args.dialect if asked else DEFAULT)
                if rendered
                else None,
                shape=MessageShape(args.shape or MessageShape.OPENAI),
                pictures=Pictures(args.pictures or Pictures.FILES),
                steps=StepChoice(args.steps or StepChoice.ALL),
                system=SystemPrompt(args.system or SystemPrompt.ROW),
                spelling=Spelling(args.spelling or Spelling.COLUMNS),
            ),
        ),
        folder(args.to),
        run_id=stored.run.run_id,
        rule=stored.config.accept,
        include_rejected=_include_rejected(args),
        section=stored.config.select,
        thoughts=None if args.thoughts is None else Thoughts(Path(args.thoughts)),
    )
    if args.json:
        print_result({"run": args.run, **report.model_dump(mode="json")})
    else:
        print_lines([*unjudged_lines(report.unjudged, args.run), *_lines(report)])
    return ExitCode.DONE if report.lines or report.files else ExitCode.SHORT


def _include_rejected(args: Arguments) -> bool:
    """Return whether this command's flags ask for episodes that the rule does not accept.

    The run's configuration, a file and the environment do not count: a run that publishes such episodes,
    labelled, does not thereby allow training on them.
    """
    settings = load(Sources(settings=tuple(args.settings)), {})
    return bool(args.include_rejected) or settings.publish.include_rejected


async def _open_tables(args: Arguments) -> tuple[StoredRun, Tables]:
    """Return the run and the tables of the version that is exported."""
    sources = Sources(config=args.config, settings=(*args.settings, *where_settings(args.where)))
    stored = await open_stored_run(args.run, sources, os.environ)
    try:
        snapshot = await stored.lake.reviewed_snapshot(args.version)
        await warn_of_stored_thresholds(snapshot, stored.config.accept)
        return stored, await open_tables(snapshot)
    finally:
        await stored.lake.close()


def _lines(report: ExportReport) -> list[str]:
    counts = ", ".join(f"{count} {word}" for word, count in report.counts.items())
    state = "written" if report.written else "there already, unchanged"
    lines = [
        f"export   {report.to}  ({report.format} of version {report.version}; {state})",
        f"episodes {report.episodes}: {counts or 'nothing'}",
        *left_out_lines(report.left_out),
        f"files    {report.lines} lines, {report.files} other files; {report.bytes / 1e6:.1f} MB",
    ]
    if report.counts.get("without_tokens"):
        lines.append(
            f"{report.counts['without_tokens']} episodes are left out: no engine gave token ids for all "
            "their calls; a teacher makes no calls, and a server must be asked for them"
        )
    if not report.episodes:
        lines.append(
            "nothing is accepted in this version: `stepmill show RUN` says why, and "
            "`--include-rejected` or `--set publish.include_rejected=true` exports the others too"
        )
    return lines
