"""Attempts of teachers under the swap test: references of worlds' tasks, and the skills of MiniWoB++."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from bench.swap.policy import Compared, SwapTested
from flows.checks.tasks import attempt_watched
from flows.checks.worlds import check_config
from flows.resources.browsers import open_browsers
from generators.policy.protocol import Policy
from generators.policy.reference import ReferencePolicy
from generators.policy.teacher.policy import TeacherPolicy
from generators.policy.teacher.skill_table import SKILLS
from generators.sites.miniwob import NAME
from generators.tasks.site_offers import make_template_task, site_offers
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task

_SESSIONS = 4
_FIRST_SEED = 7_900_000
"""Of the templates of MiniWoB++: seeds that nothing else uses."""

Maker = Callable[[], Policy]


def of_worlds(tasks: Iterable[Task]) -> list[tuple[Task, Maker]]:
    """Return what carries out the references of tasks."""
    return [(task, _reference(task)) for task in tasks]


def of_miniwob(
    seeds: int, templates: Sequence[str] = tuple(sorted(SKILLS))
) -> list[tuple[Task, Maker]]:
    """Return the teacher at each template, so many seeds of it."""
    numbers = range(_FIRST_SEED, _FIRST_SEED + seeds)
    offer = site_offers()[NAME]
    tasks = [
        make_template_task(offer, one, seed=seed, source=NAME)
        for seed in numbers
        for one in templates
    ]
    return [(task, TeacherPolicy) for task in tasks]


async def attempt_with_twins(
    attempts: Sequence[tuple[Task, Maker]],
) -> tuple[Compared, list[Episode]]:
    """Return what the swap test says of some attempts, and the episodes."""
    record, episodes = Compared(), list[Episode]()
    free, config = asyncio.Semaphore(_SESSIONS), check_config()
    async with open_browsers() as browsers:

        async def attempt(task: Task, make: Maker) -> None:
            name = f"{task.template_id} {task.seed}"
            async with free:
                episode, _ = await attempt_watched(
                    config, browsers, task, lambda: SwapTested(make, record, name=name)
                )
            episodes.append(episode)

        async with asyncio.TaskGroup() as group:
            for task, make in attempts:
                group.create_task(attempt(task, make))
    return record, episodes


def _reference(task: Task) -> Maker:
    return lambda: ReferencePolicy(task.reference or ())
