"""A task of a world, and the `Task` that a run attempts."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from schemas.base import JsonObject, Record
from schemas.tasks.expectation import Expectation
from schemas.tasks.reference import Do, Reference, ReferenceStep
from schemas.tasks.task import Task, task_id
from schemas.worlds.world import SITE, World

IMPOSSIBLE = "impossible"
"""The answer where a task cannot be done."""

START = "/"
"""The path where tasks begin."""

_SPARE, _TIMES, _TOGETHER = 10, 3, 2
"""A task's step budget: so many times the actions of its reference, some, and a scroll for so many things to look at."""

_ACTIONS = {Do.SELECT: 3, Do.LOOK: 0}
"""The actions of a step that takes several, or none: a list is opened, told a name, and closed."""


class Difficulty(Record):
    """How hard a task is, as its shortest plan says."""

    actions: int = Field(ge=1)
    """Of the plan, without scrolling."""
    pages: int = Field(ge=0)
    """How often it goes to a list or to a row's page."""
    facts: int = Field(ge=0)
    """Texts that it types, chooses or answers and the goal does not state, or that its answer follows from."""
    decisions: int = Field(ge=1)
    """Rows that it changes, and the answer."""


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
    difficulty: Difficulty | None = None
    """How hard it is; None: it was not measured."""
    distractors: int | None = None
    """Rows that look like one that it asks about, and are none; None: it asks about no row that is there."""


class Draft(NamedTuple):
    """What a kind of task makes of a world: a task whose wording has yet to be chosen."""

    words: Mapping[str, str]
    """What is put into the requests of its kind (`wordings.toml`)."""
    expect: Expectation
    """As of a `WorldTask`."""
    reference: tuple[ReferenceStep, ...]
    """As of a `WorldTask`."""
    answer_kind: str = "none"
    """As of a `WorldTask`."""
    like: str = ""
    """The kind that it is a twin of, which cannot be done; empty: it is none."""
    near: int | None = None
    """Rows that fulfil all of its conditions but one; None: it has none, and names rows."""


def actions_of(steps: Sequence[ReferenceStep]) -> int:
    """Return how many actions steps take where all that they name is in sight."""
    return sum(_ACTIONS.get(step.do, 1) for step in steps)


def _budget(steps: Sequence[ReferenceStep]) -> int:
    looks = sum(step.do is Do.LOOK for step in steps)
    return _TIMES * actions_of(steps) + _SPARE + looks // _TOGETHER


def measure(
    plan: Sequence[ReferenceStep], expect: Expectation, instruction: str, places: Collection[str]
) -> Difficulty:
    """Return how hard a task is.

    Args:
        plan: its shortest plan.
        expect: what it expects.
        instruction: its goal.
        places: the words of links that lead to lists and to rows' pages.
    """
    told = {step.text for step in plan if step.text and step.do is not Do.PRESS}
    carried = {text for text in told if text not in instruction} | {*expect.facts}
    rules = len(expect.added) + len(expect.changed) + len(expect.removed)
    return Difficulty(
        actions=actions_of(plan),
        pages=sum(step.do is Do.CLICK and step.on in places for step in plan),
        facts=len(carried),
        decisions=rules + (expect.answer is not None),
    )


def to_task(world: World, task: WorldTask) -> Task:
    """Return a world's task as runs attempt it."""
    template_id = f"{world.family}/{task.kind}"
    start_url = f"{world.origin}{task.start}"
    parameters: JsonObject = {"family": world.family, "world": world.seed}
    if task.difficulty is not None:
        parameters["difficulty"] = task.difficulty.model_dump(mode="json")
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
        max_steps=_budget(task.reference),
        tags=(task.kind,),
        answer_kind=task.answer_kind,
        expect=task.expect,
        reference=task.reference,
    )
