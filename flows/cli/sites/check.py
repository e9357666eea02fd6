"""`stepmill sites check`: try an application on its own tasks, and print what to mend or mask."""

import argparse
import os
from collections.abc import Iterator, Sequence

from flows import signals
from flows.checks.sites import SiteCheck, SiteTrial, choose_tasks
from flows.job.config_loader import Sources, load
from flows.job.validate import ValidConfig, validate
from flows.resources.browsers import open_browsers
from flows.terminal import (
    ExitCode,
    log_to_stderr,
    print_lines,
    print_note,
    print_result,
    strip_control_chars,
)
from generators.sites.installable.registry import what_is_missing
from schemas.errors import BadConfig
from schemas.tasks.task import Task


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    sources = Sources(config=args.config, settings=tuple(args.settings))
    prepared = validate(load(sources, os.environ))
    if args.site not in prepared.config.sites:
        known = ", ".join(prepared.config.sites) or "none"
        raise BadConfig(f"sites.{args.site}: there is no such application (there are: {known})")
    if missing := what_is_missing(prepared.config.sites[args.site].start):
        raise BadConfig(f"sites.{args.site}: {missing}")
    tasks = choose_tasks(prepared.tasks, args.site)
    total = sum(task.site == args.site for task in prepared.tasks)
    log_to_stderr()
    checks = signals.run(_check(prepared, args.site, tasks))
    if args.json:
        found = [check.model_dump(mode="json") for check in checks]
        print_result({"site": args.site, "tried": len(tasks), "tasks": total, "checks": found})
    else:
        print_lines([*check_lines(args.site, checks), *scope_lines(len(tasks), total)])
    return ExitCode.DONE if all(check.ok for check in checks) else ExitCode.SHORT


async def _check(prepared: ValidConfig, site: str, tasks: Sequence[Task]) -> list[SiteCheck]:
    config, checks = prepared.config, list[SiteCheck]()
    async with open_browsers(config.sites, needed={site}) as browsers:
        trial = SiteTrial(config, browsers)
        for task in tasks:
            print_note(f"trying {task.template_id} with seed {task.seed}")
            checks += await trial.try_task(task)
    return checks


def check_lines(site: str, checks: Sequence[SiteCheck]) -> Iterator[str]:
    """Yield a line for each check, and whether the site is fit."""
    for one in checks:
        text = strip_control_chars(one.because).replace("\n", " ")
        yield f"{'ok' if one.ok else 'FAILS':5}  {one.name:9}  {one.task}: {text}"
    wrong = sum(not check.ok for check in checks)
    yield ""
    yield (
        f"{site} is fit for runs" if not wrong else f"{site}: {wrong} of {len(checks)} checks fail"
    )


def scope_lines(tried: int, total: int) -> Iterator[str]:
    """Yield how many of the site's tasks were tried, and how the others are."""
    if tried < total:
        yield (
            f"tried {tried} of {total} tasks; `stepmill tasks check` with the same --config tries all, and "
            "tasks.include chooses others"
        )
    else:
        yield f"tried all {total} tasks" if total > 1 else "tried its only task"
