"""Draws tasks on demand."""

from generators.tasks.task_plan import plan_tasks
from schemas.configuration.config import RunConfig
from schemas.errors import BadTasks
from schemas.tasks.selector import Selector
from schemas.tasks.task import Task


class TaskPool:
    """The tasks of a configuration."""

    def __init__(self, config: RunConfig) -> None:
        self._tasks = plan_tasks(
            config.tasks, seed=config.run.seed, applications=config.sites
        ).tasks

    @property
    def sites(self) -> set[str]:
        """The sites of its tasks."""
        return {task.site for task in self._tasks}

    def _fit(self, selector: Selector) -> list[Task]:
        return [t for t in self._tasks if selector.name in (None, t.template_id)]

    def draw(self, selector: Selector) -> Task:
        """Return a task."""
        fit = self._fit(selector)
        if not fit:
            raise BadTasks("no task fits")
        return fit[
            (selector.index if selector.index is not None else selector.seed or 0) % len(fit)
        ]

    def count(self, selector: Selector) -> int:
        """Return how many fit."""
        return len(self._fit(selector))
