"""Which task a client gets, and which attempt at it that is.

Tasks are drawn from the configuration's as clients ask for them. A split is given only if it is served, and `test` only to
a client that asks for it. Attempts at a task are counted from the server's first number.
"""

import asyncio
import math
import threading
from collections import Counter

from flows.job.plan import PlannedAttempt
from generators.tasks.on_demand import TaskPool
from schemas import ids
from schemas.base import content_hash
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import PolicySection
from schemas.errors import BadTasks
from schemas.tasks.selector import Selector
from schemas.tasks.task import Task

MAX_SELECTORS = 10_000
"""How many selectors have a turn of their own, those that were asked for last; the turns of another begin anew."""


class TaskDesk:
    """Gives out the tasks of one server."""

    def __init__(
        self, config: RunConfig, pool: TaskPool, *, run_id: str, first_attempt: int
    ) -> None:
        """`first_attempt` is the number of each task's first attempt here."""
        self.pool = pool
        """Draws tasks."""
        self._config, self._run_id, self._first = config, run_id, first_attempt
        self._attempts: Counter[str] = Counter()
        self._turns = Turns()

    async def draw(self, selector: Selector) -> Task:
        """Return the task that a client asks for.

        Raises:
            BadTasks: there is none, or its split is not served.
        """
        if selector.split is not None:
            self.check_split(selector.split)
        task = await asyncio.to_thread(self._draw, selector)
        if task.split:
            self.check_split(task.split, of=f"{task.template_id} with seed {task.seed}: ")
        return task

    def _draw(self, selector: Selector) -> Task:
        """Return the task that fits; where a client asks for none in particular, another one each time.

        The tasks that fit are gone through in steps of about the golden section, so that neighbours, which are of one
        template, come far apart.
        """
        named = selector.name is not None and selector.name.count("/") > 1
        if selector.index is None and selector.seed is None and not named:
            count = self.pool.count(selector)
            if count:
                place = self._turns.take(selector)
                selector = selector.model_copy(update={"index": place * _stride(count) % count})
        return self.pool.draw(selector)

    def check_split(self, split: str, *, of: str = "") -> None:
        """Refuse a split that is not served; `of` names a task that is of it.

        Raises:
            BadTasks: it is not served.
        """
        served = self._config.seats.splits
        if split not in served:
            raise BadTasks(
                f"{of}the split '{split[:100]}' is not served here; there are: {', '.join(served)}"
            )

    def plan(self, task: Task) -> PlannedAttempt:
        """Return the next attempt at a task."""
        attempt = self._first + self._attempts[task.task_id]
        self._attempts[task.task_id] += 1
        return PlannedAttempt(
            episode_id=ids.episode_id(self._run_id, task.task_id, attempt),
            task=task,
            attempt=attempt,
            policy=PolicySection(),
            seed=content_hash(["acts", self._config.run.seed, task.task_id, attempt]),
        )


class Turns:
    """How often each selector has been asked for."""

    def __init__(self) -> None:
        self._taken: dict[Selector, int] = {}
        self._lock = threading.Lock()  # tasks are drawn in threads

    @property
    def count(self) -> int:
        """How many selectors are remembered."""
        return len(self._taken)

    def take(self, selector: Selector) -> int:
        """Return how often a selector was asked for before."""
        with self._lock:
            turn = self._taken.pop(selector, 0)
            self._taken[selector] = (
                turn + 1
            )  # at the end, so that the first is the one of longest ago
            if len(self._taken) > MAX_SELECTORS:
                del self._taken[next(iter(self._taken))]
        return turn


def _stride(count: int) -> int:
    """Return a step of about 0.618 of `count` that comes to every place: it has no divisor in common with it."""
    step = max(1, round(count * (math.sqrt(5) - 1) / 2))
    while math.gcd(step, count) > 1:
        step += 1
    return step
