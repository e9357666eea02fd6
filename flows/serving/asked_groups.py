"""The groups that clients name: attempts that belong together, all at one task.

The first request of a group draws its task, as its selector says; all others get the same one, at whatever moment they
come.
"""

import asyncio
from dataclasses import dataclass

from flows.serving.task_desk import TaskDesk
from schemas.errors import BadTasks
from schemas.tasks.selector import Selector
from schemas.tasks.task import Task

MAX_GROUPS = 10_000
"""How many groups are remembered, the newest ones."""


class OtherTask(ValueError):
    """A group is of another task; the text says of which."""


@dataclass(slots=True)
class _Group:
    selector: Selector
    drawn: "asyncio.Task[Task]"


class AskedGroups:
    """Remembers which task each group is of."""

    def __init__(self, desk: TaskDesk) -> None:
        self._desk = desk
        self._groups: dict[str, _Group] = {}

    async def task(self, group: str, selector: Selector) -> Task:
        """Return the task of a group, drawn by the selector if it is new.

        Raises:
            BadTasks: there is no such task.
            OtherTask: the selector is of another one.
        """
        known = self._groups.get(group)
        if known is None:
            known = self._groups[group] = self._begin(selector)
        try:
            task = await asyncio.shield(known.drawn)
        except BadTasks:
            self._groups.pop(group, None)  # the next request may ask for a task that there is
            raise
        if selector not in (known.selector, Selector()):
            own = await self._desk.draw(selector)
            if own.task_id != task.task_id:
                raise OtherTask(
                    f"task.group: the group is of {task.template_id} with seed {task.seed}, and this would be "
                    f"{own.template_id} with seed {own.seed}; attempts of one group are at one task"
                )
        return task

    def _begin(self, selector: Selector) -> _Group:
        while len(self._groups) >= MAX_GROUPS:
            del self._groups[next(iter(self._groups))]
        drawn = asyncio.create_task(self._desk.draw(selector))
        drawn.add_done_callback(lambda one: one.cancelled() or one.exception())
        return _Group(selector, drawn)
