"""Kinds of tasks: each is a registered object with its needs, and a function that draws a task.

A module of `generators/tasks/worlds/kinds` registers its kinds with `task_kind`, and the files of `ground/goals` have
their words; nothing else is needed for a new kind.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Literal, NamedTuple

from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.world_rows import Setting
from schemas.worlds.patterns import Shape, Thread

Draw = Callable[[Setting, Random], Draft | None]
"""Draws a task: its words, expectation and reference; None: the draw failed."""


class TaskKind(NamedTuple):
    """A kind of task."""

    name: str
    """The name in templates: `find`."""
    draw: Draw
    """Draws a task in a world."""
    aside: Literal["one", "several"] | None
    """Whether an aside refers to one row or several; None: its goals have no aside."""
    needs: Shape | type[Thread] | None
    """The required shape of views, or threads, in a family; None: any family can have the kind."""


_REGISTERED: dict[str, TaskKind] = {}


def registered_kinds() -> Mapping[str, TaskKind]:
    """Return the registered kinds by name, sorted."""
    return dict(sorted(_REGISTERED.items()))


def task_kind(
    name: str,
    *,
    aside: Literal["one", "several"] | None = None,
    needs: Shape | type[Thread] | None = None,
) -> Callable[[Draw], Draw]:
    """Register the function that draws the tasks of a kind; `aside` and `needs` are as in `TaskKind`.

    Raises:
        ValueError: the kind exists already.
    """

    def register(draw: Draw) -> Draw:
        if name in _REGISTERED:
            raise ValueError(f"two kinds of tasks are called '{name}'")
        _REGISTERED[name] = TaskKind(name, draw, aside, needs)
        return draw

    return register
