"""How good a policy is at each template, and whether its successes can be reproduced.

Every planned attempt is rolled out, the site reports the outcome, and each success is replayed in
another browser process. Nothing is stored: an episode is dropped as soon as it is judged, so an
evaluation of any length holds no more than its open sessions do.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

from pydantic import Field

from flows.job.plan import plan_units
from flows.job.unit_runner import RolloutSetup
from flows.resources.browsers import Browsers
from generators.policy.factory import PolicyFactory
from generators.verify.panel import Panel
from generators.verify.registry import make_verifiers
from schemas.base import Record
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import AcceptSection
from schemas.episodes.episode import Episode
from schemas.errors import FailureKind, Refusal
from schemas.tasks.task import Task
from schemas.verdicts.acceptance import acceptance, latest_verdicts
from schemas.verdicts.verdict import Acceptance, Status, Verdict

GOOD_YIELD = 0.95
"""The share of passed episodes from which a template counts as mastered."""

RUN_ID = "0" * 32
"""The run id of episodes that belong to no run."""


class TemplateCheck(Record):
    """The counts of one template's episodes, or of a single one."""

    template: str
    """The template's id."""
    episodes: int
    """Episodes in all."""
    passed: int
    """Episodes that the site called a success."""
    reproduced: int
    """Passed episodes that a replay reproduced in everything but pictures."""
    broken: int
    """Episodes that failed through no fault of the policy, or could not be judged."""
    states: int
    """Pictures taken by replays."""
    pictures_equal: int
    """Pictures that equal the recorded ones byte by byte."""
    steps: int
    """Actions taken."""
    problems: tuple[str, ...] = ()
    """The reasons why episodes did not pass or were not reproduced, each with the seed."""

    @property
    def success_rate(self) -> float:
        """Share of the episodes that passed."""
        return self.passed / self.episodes

    @property
    def reproduction(self) -> float | None:
        """Share of the passed episodes that were reproduced; None if none passed."""
        return self.reproduced / self.passed if self.passed else None


class PolicyEvaluation(Record):
    """The counts of all templates."""

    templates: tuple[TemplateCheck, ...] = Field(min_length=1)
    """The counts of each template, the worst first."""
    seconds: float
    """Wall s of the evaluation."""

    def total(self, count: str) -> int:
        """Return the sum of one of the counts over all templates."""
        return sum(int(getattr(template, count)) for template in self.templates)

    @property
    def mastered(self) -> int:
        """Templates whose yield is good."""
        return sum(template.success_rate >= GOOD_YIELD for template in self.templates)

    @property
    def reproduction(self) -> float | None:
        """Share of the passed episodes that were reproduced; None if none passed."""
        passed = self.total("passed")
        return self.total("reproduced") / passed if passed else None

    @property
    def pictures(self) -> float | None:
        """Share of the replays' pictures equal byte by byte; None without any."""
        states = self.total("states")
        return self.total("pictures_equal") / states if states else None

    @property
    def has_failures(self) -> bool:
        """An episode failed through no fault of the policy, or none passed."""
        return bool(self.total("broken")) or not self.total("passed")


async def evaluate(
    browsers: Browsers,
    policies: PolicyFactory,
    config: RunConfig,
    tasks: Sequence[Task],
    *,
    on_episode: Callable[[TemplateCheck, Task, Episode], None],
) -> PolicyEvaluation:
    """Attempt `tasks` as configured, and return the counts by template.

    `on_episode` is called with each episode and its own share as soon as it is judged.

    Raises:
        Refusal: the browser is gone and does not start again.
    """
    begun = time.perf_counter()
    attempts = (
        attempt for unit in plan_units(config, tasks, run_id=RUN_ID) for attempt in unit.attempts
    )
    setup = RolloutSetup.of(
        config, RUN_ID, tasks, sites=browsers.sites, sessions=browsers.sessions, policies=policies
    )
    verifiers = make_verifiers(
        ("outcome", "replay"),
        sites=browsers.sites,
        sessions=browsers.replays,
    )
    rule = AcceptSection(passed=("outcome",), min_reward=config.accept.min_reward)
    panel, shares = Panel(verifiers, rule), list[TemplateCheck]()

    async def work() -> None:
        for planned in attempts:
            episode = await setup.roll_out(RUN_ID, planned)
            verdicts = await panel.judge(planned.task, episode)
            shares.append(check_of(planned.task, episode, verdicts, rule))
            on_episode(shares[-1], planned.task, episode)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(config.browser.sessions, len(tasks) * config.tasks.attempts)):
                group.create_task(work())
    except ExceptionGroup as broken:
        refusals, others = broken.split(Refusal)
        if refusals is not None and others is None:  # nothing else stopped the evaluation
            raise refusals.exceptions[0] from None
        raise
    return PolicyEvaluation(templates=sum_by_template(shares), seconds=time.perf_counter() - begun)


def check_of(
    task: Task, episode: Episode, verdicts: Sequence[Verdict], rule: AcceptSection
) -> TemplateCheck:
    """Return the counts of one judged episode; `rule` says which outcome is a success."""
    judged = acceptance(rule, verdicts)
    replay = latest_verdicts(verdicts).get("replay")
    unjudged = any(verdict.status is Status.ERROR for verdict in verdicts)
    broken = episode.failure_kind not in (None, FailureKind.POLICY.value)
    problem = _problem(episode, judged, replay)
    states, differing = _pictures(replay)
    return TemplateCheck(
        template=task.template_id,
        episodes=1,
        passed=int(judged.accepted),
        reproduced=int(replay is not None and replay.status is Status.PASSED),
        broken=int(unjudged or broken),
        states=states,
        pictures_equal=states - differing,
        steps=episode.n_steps,
        problems=() if problem is None else (f"seed {task.seed}: {problem}",),
    )


def _problem(episode: Episode, judged: Acceptance, replay: Verdict | None) -> str | None:
    """Return why an episode did not pass or was not reproduced; None if it was."""
    if episode.failure_message is not None:
        return episode.failure_message
    if not judged.accepted:
        thoughts = [step.thought for step in episode.steps if step.thought]
        return "; ".join(
            [*judged.rejected_because, *(f'last thought: "{text}"' for text in thoughts[-1:])]
        )
    return replay.reason if replay is not None and replay.status is not Status.PASSED else None


def _pictures(replay: Verdict | None) -> tuple[int, int]:
    """Return how many pictures a replay took, and how many of them differ."""
    match replay.evidence if replay is not None else {}:
        case {"states": int() as states, "pictures_differ_at": list() as differ}:
            return states, len(differ)
        case _:
            return 0, 0


_COUNTS = ("episodes", "passed", "reproduced", "broken", "states", "pictures_equal", "steps")


def sum_by_template(shares: Iterable[TemplateCheck]) -> tuple[TemplateCheck, ...]:
    """Return shares added up by template, the worst first."""
    grouped: dict[str, list[TemplateCheck]] = {}
    for share in shares:
        grouped.setdefault(share.template, []).append(share)
    templates = [
        TemplateCheck(
            template=name,
            **{key: sum(int(getattr(share, key)) for share in group) for key in _COUNTS},
            problems=tuple(sorted(text for share in group for text in share.problems)),
        )
        for name, group in grouped.items()
    ]
    return tuple(
        sorted(templates, key=lambda one: (one.success_rate, one.reproduction or 0.0, one.template))
    )
