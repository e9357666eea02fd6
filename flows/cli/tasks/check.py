"""`stepmill tasks check`: a policy's success at each template, and the agreement of replays."""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from flows import signals
from flows.checks.tasks import GateKeeper, TaskGates, gated_tasks
from flows.cli.live_progress import show_progress
from flows.cli.tasks.flags import DEFAULT_SEEDS
from flows.cli.tasks.sheet import ContactSheet, check_picture_path
from flows.job.config_loader import Sources, layers
from flows.job.evaluation import GOOD_YIELD, PolicyEvaluation, TemplateCheck, evaluate
from flows.job.validate import ValidConfig, validate
from flows.resources.browsers import open_browsers
from flows.resources.engines import open_policies
from flows.terminal import (
    ExitCode,
    log_to_stderr,
    print_lines,
    print_result,
    strip_control_chars,
    table,
)
from schemas.base import JsonObject
from schemas.configuration.config import Layer, resolve
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task

FIRST_LINE_SECONDS = 2.0
"""Seconds until the first line of progress without a terminal."""

_MAX_PROBLEMS = 3


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    sources = Sources(config=args.config, settings=tuple(args.settings))
    defaults: Layer = {"tasks": {"seeds": [0, DEFAULT_SEEDS - 1]}}
    above = [*layers(sources, os.environ), *_flags(args)]
    prepared = validate(resolve([("the defaults of a check", defaults), *above]))
    if args.sheet is not None:
        check_picture_path("--sheet", Path(args.sheet))
    log_to_stderr()
    sheet = ContactSheet()
    report, held = signals.run(_check(prepared, sheet))
    if args.sheet is not None:
        sheet.save(Path(args.sheet))
    if args.json:
        gates = [one.model_dump(mode="json") for one in held]
        print_result(_as_json(prepared, report) | {"gates": gates})
    else:
        print_lines([*_lines(report), *_gate_lines(held)])
    wrong = report.has_failures or any(one.failing for one in held)
    return ExitCode.SHORT if wrong else ExitCode.DONE


def _flags(args: argparse.Namespace) -> Iterator[tuple[str, Layer]]:
    """Yield the settings of flags, which override all others."""
    if args.policy is not None:
        yield f"--policy {args.policy}", {"policy": {"name": args.policy}, "policies": []}
    if args.seeds is not None or args.first_seed is not None:
        first = args.first_seed or 0
        last = first + (args.seeds or DEFAULT_SEEDS) - 1
        yield "--seeds, --first-seed", {"tasks": {"seeds": [first, last]}}
    for key in ("include", "exclude"):
        if getattr(args, key) is not None:
            yield f"--{key}", {"tasks": {key: getattr(args, key)}}
    if args.sessions is not None:
        yield f"--sessions {args.sessions}", {"browser": {"sessions": args.sessions}}


async def _check(
    prepared: ValidConfig, sheet: ContactSheet
) -> tuple[PolicyEvaluation, list[TaskGates]]:
    config, progress = prepared.config, CheckProgress()
    progress.episodes_total = len(prepared.tasks) * config.tasks.attempts
    needed = {task.site for task in prepared.tasks}

    def add(share: TemplateCheck, task: Task, episode: Episode) -> None:
        progress.add(share)
        sheet.add(task, episode)

    async with (
        show_progress(lambda: progress, first_line=FIRST_LINE_SECONDS),
        open_browsers(config.sites, needed=needed) as browsers,
        open_policies(config) as runtime,
    ):
        gated = gated_tasks(browsers, prepared.tasks)
        progress.begin_attempts(gated=len(gated))
        report = await evaluate(browsers, runtime.policies, config, prepared.tasks, on_episode=add)
        keeper, held = GateKeeper(config, browsers), list[TaskGates]()
        for task in gated:
            progress.begin_gates(task)
            held.append(await keeper.check(task))
        return report, held


class CheckProgress:
    """Counts the work of a check: the episodes, then the tasks at the gates."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._done = self._passed = self._reproduced = 0
        self._gated_total = self._gates_begun = 0
        self._doing = "starting the browser and the sites"
        self.episodes_total = 0
        """Episodes to attempt."""

    @property
    def percent(self) -> float:
        """Share of the work that is done, 0–100."""
        whole = self.episodes_total + self._gated_total
        done = self._done + max(0, self._gates_begun - 1)
        return 100.0 * done / whole if whole else 100.0

    @property
    def seconds(self) -> float:
        """Seconds since the check began."""
        return time.monotonic() - self._begun

    @property
    def sentence(self) -> str:
        """The progress, in a line for people."""
        return self._doing

    def begin_attempts(self, *, gated: int) -> None:
        """Note that the attempts begin; `gated` tasks go through the gates afterwards."""
        self._gated_total = gated
        self._say_counts()

    def add(self, share: TemplateCheck) -> None:
        """Count an episode."""
        self._done += 1
        self._passed += share.passed
        self._reproduced += share.reproduced
        self._say_counts()

    def begin_gates(self, task: Task) -> None:
        """Note that a task comes to the gates, and those before it are through."""
        self._gates_begun += 1
        self._doing = (
            f"gates of task {self._gates_begun}/{self._gated_total}: {task.template_id} {task.seed}"
        )

    def _say_counts(self) -> None:
        self._doing = (
            f"{self._done}/{self.episodes_total} episodes · {self._passed} passed · "
            f"{self._reproduced} reproduced"
        )


def _lines(report: PolicyEvaluation) -> Iterator[str]:
    rows = [
        (
            template.template,
            f"{template.passed}/{template.episodes}",
            _percent(template.success_rate),
            f"{template.reproduced}/{template.passed}",
            f"{template.pictures_equal}/{template.states}",
            f"{template.steps / template.episodes:.1f}",
        )
        for template in report.templates
    ]
    yield from table(("template", "passed", "%", "reproduced", "equal pictures", "steps"), rows)
    problems = [line for template in report.templates for line in _problems(template)]
    if problems:
        yield from ["", *problems]
    yield from ["", *_totals(report)]


def _gate_lines(held: Sequence[TaskGates]) -> Iterator[str]:
    """Yield the failed gates of tasks, and the number of tasks that pass all."""
    if not held:
        return
    yield ""
    for one in held:
        for gate, because in one.failing:
            yield f"{one.template} {one.seed}: {gate.value}: {strip_control_chars(because)}"
        for gate, because in one.untried:
            yield f"{one.template} {one.seed}: {gate.value}: was not tried: {because}"
    yield f"{sum(not one.failing for one in held)} of {len(held)} tasks pass all gates"


def _problems(template: TemplateCheck) -> Iterator[str]:
    for problem in template.problems[:_MAX_PROBLEMS]:
        yield f"{template.template}: {problem}"
    if len(template.problems) > _MAX_PROBLEMS:
        yield f"{template.template}: … and {len(template.problems) - _MAX_PROBLEMS} more"


def _totals(report: PolicyEvaluation) -> Iterator[str]:
    episodes, passed = report.total("episodes"), report.total("passed")
    yield f"{passed} of {episodes} episodes passed ({_percent(passed / episodes)})"
    yield f"{report.mastered} of {len(report.templates)} templates at {100 * GOOD_YIELD:.0f} % or more"
    yield f"{report.total('reproduced')} of {passed} reproduced ({_percent(report.reproduction)})"
    equal, states = report.total("pictures_equal"), report.total("states")
    yield f"{equal} of {states} pictures equal byte by byte ({_percent(report.pictures)})"
    if report.total("broken"):
        yield f"{report.total('broken')} episodes broke for another reason than the policy's own"
    yield f"{report.seconds:.0f} s"


def _percent(share: float | None) -> str:
    """Return a share in per cent, never rounded up to 100."""
    return "–" if share is None else f"{int(share * 1_000) / 10:.1f} %"


def _as_json(prepared: ValidConfig, report: PolicyEvaluation) -> JsonObject:
    passed, episodes = report.total("passed"), report.total("episodes")
    return {
        "policies": [str(section.name) for section in prepared.config.mix],
        "families": len(report.templates),
        "mastered": report.mastered,
        "good_yield": GOOD_YIELD,
        "episodes": episodes,
        "passed": passed,
        "yield": passed / episodes,
        "reproduced": report.total("reproduced"),
        "reproduction": report.reproduction,
        "pictures": report.total("states"),
        "pictures_equal": report.total("pictures_equal"),
        "pictures_share": report.pictures,
        "broken": report.total("broken"),
        "steps": report.total("steps"),
        "seconds": report.seconds,
        "by_family": [
            template.model_dump(mode="json")
            | {"yield": template.success_rate, "reproduction": template.reproduction}
            for template in report.templates
        ],
    }
