"""From tasks to units: the attempts of a run, with their policies and ids.

A plan is a pure function of the configuration, the tasks and the run's id, so planning twice gives the
same units and every resumed command finds its way by ids alone. The policy of an attempt is drawn from
the shares, by the run's seed, the task and the attempt alone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas import ids
from schemas.base import content_hash
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import PolicySection
from schemas.tasks.task import Task

_DRAW_CHARS = 13
"""Hex characters of a hash that a float holds exactly."""


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """One attempt at one task, by one policy."""

    episode_id: str
    """The id of its episode."""
    task: Task
    """The task."""
    attempt: int
    """The number of the attempt at this task, from 0."""
    policy: PolicySection
    """The policy that attempts it."""
    seed: str
    """The seed of the policy's random choices."""


_NAMED = 4
"""Templates that a unit's title names."""


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """All attempts at some tasks of one site: the grain of scheduling, retry and commit."""

    unit_id: str
    """Hash of the run, the tasks and the number of attempts."""
    tasks: tuple[Task, ...]
    """The tasks, in their order."""
    attempts: tuple[PlannedAttempt, ...]
    """Every attempt, by task and number."""

    @property
    def title(self) -> str:
        """Its contents for people: its site, its templates with their tasks, and its episodes."""
        tasks = Counter(task.template_id for task in self.tasks)
        named = [f"{name} ×{number}" if number > 1 else name for name, number in tasks.items()]
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        what = f"{', '.join(named[:_NAMED])}{more}"
        count = len(self.attempts)
        return f"{self.tasks[0].site}: {what} ({count} episode{'s' if count > 1 else ''})"


def plan_units(config: RunConfig, tasks: Sequence[Task], *, run_id: str) -> tuple[PlannedUnit, ...]:
    """Return the units that attempt `tasks` as configured."""
    return tuple(_make_unit(config, group, run_id) for group in split_tasks(config, tasks))


def split_tasks(config: RunConfig, tasks: Sequence[Task]) -> Iterator[tuple[Task, ...]]:
    """Yield the tasks of each unit: as many of one site as fit its size, but at least one.

    Where the tasks of a site are set apart, the units of all others are therefore the same.
    """
    size = max(1, config.tasks.unit_size // config.tasks.attempts)
    by_site: defaultdict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        by_site[task.site].append(task)
    for own in by_site.values():
        for start in range(0, len(own), size):
            yield tuple(own[start : start + size])


def _make_unit(config: RunConfig, tasks: tuple[Task, ...], run_id: str) -> PlannedUnit:
    attempts = range(config.tasks.attempts)
    return PlannedUnit(
        unit_id=ids.unit_id(run_id, [task.task_id for task in tasks], len(attempts)),
        tasks=tasks,
        attempts=tuple(
            PlannedAttempt(
                episode_id=ids.episode_id(run_id, task.task_id, attempt),
                task=task,
                attempt=attempt,
                policy=draw_policy(config, task, attempt),
                seed=content_hash(["acts", config.run.seed, task.task_id, attempt]),
            )
            for task in tasks
            for attempt in attempts
        ),
    )


def draw_policy(config: RunConfig, task: Task, attempt: int) -> PolicySection:
    """Return the policy that attempts `task` for the `attempt`th time.

    The attempts at a task are spread over the shares: of two policies with equal shares each makes one of
    two attempts.
    """
    mix = config.mix
    drawn = content_hash(["policy", config.run.seed, task.task_id])[:_DRAW_CHARS]
    place = (int(drawn, 16) / 16**_DRAW_CHARS + _spread(attempt)) % 1
    left = place * sum(policy.share for policy in mix)
    for policy in mix[:-1]:
        if left < policy.share:
            return policy
        left -= policy.share
    return mix[-1]


def _spread(attempt: int) -> float:
    """Return the attempt's term of van der Corput's sequence, 0, 1/2, 1/4, 3/4, 1/8, …: its bits reversed."""
    return int(f"{attempt:b}"[::-1], 2) / (1 << attempt.bit_length())


def count_by_policy(config: RunConfig, tasks: Sequence[Task]) -> dict[str, int]:
    """Return how many episodes each policy will make."""
    return dict(
        Counter(
            str(draw_policy(config, task, attempt).name)
            for task in tasks
            for attempt in range(config.tasks.attempts)
        )
    )
