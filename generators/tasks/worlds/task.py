"""A task of a world, and the `Task` that a run attempts."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import Field

from schemas.base import JsonObject, Record
from schemas.expectation import Expectation
from schemas.reference import Reference, ReferenceStep
from schemas.task import Task, task_id
from schemas.world import World

SITE = "worlds"
"""The site that serves all worlds."""

START = "/"
"""The path where tasks begin."""

MAX_STEPS = 100
"""Of a task, in actions: more than any needs, so that the run's limit decides."""


class WorldTask(Record):
    """One task in one world."""

    kind: str
    """What it asks for, as `find`."""
    seed: int = Field(ge=0)
    """What it was drawn from within its world."""
    instruction: str
    """The goal, in the words and values that pages show."""
    start: str = Field(default=START, pattern="^/")
    """The path of the page where it begins."""
    expect: Expectation
    """What must be added, changed, removed or answered."""
    reference: Reference
    """One way to do it, which reads what it needs on pages; its last step is an answer."""
    answer_kind: str
    """`none`, `verbatim` where a page shows the answer, or `computed`."""


class Draft(NamedTuple):
    """What a kind of task makes of a world: a task whose wording has yet to be chosen."""

    words: Mapping[str, str]
    """What is put into the wordings of its kind (`wordings.toml`)."""
    expect: Expectation
    """As of a `WorldTask`."""
    reference: tuple[ReferenceStep, ...]
    """As of a `WorldTask`."""
    answer_kind: str = "none"
    """As of a `WorldTask`."""


def to_task(world: World, task: WorldTask) -> Task:
    """Return a world's task as runs attempt it."""
    template_id = f"{world.family}/{task.kind}"
    start_url = f"{world.origin}{task.start}"
    parameters: JsonObject = {"family": world.family, "world": world.seed}
    identity = task_id(
        site=SITE,
        site_version=None,
        template_id=None,
        seed=task.seed,
        start_url=start_url,
        instruction=task.instruction,
        parameters=parameters,
        expect=task.expect,
    )
    return Task(
        task_id=identity,
        template_id=template_id,
        source=SITE,
        site=SITE,
        start_url=start_url,
        instruction=task.instruction,
        parameters=parameters,
        seed=task.seed,
        max_steps=MAX_STEPS,
        tags=(task.kind,),
        answer_kind=task.answer_kind,
        expect=task.expect,
        reference=task.reference,
    )
