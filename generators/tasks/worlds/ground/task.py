"""A task of a world, and the `Task` that a run attempts."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from generators.tasks.worlds.ground.mentions import Said
from schemas.base import JsonObject, Record
from schemas.tasks.expectation import Expectation
from schemas.tasks.reference import Do, Reference, ReferenceStep
from schemas.tasks.selector import Difficulty as Asked
from schemas.tasks.task import Task, task_id
from schemas.worlds.fault import Fault
from schemas.worlds.world import SITE, World

IMPOSSIBLE = "impossible"
"""The answer to a task that cannot be done."""

START = "/"
"""The path on which tasks start."""

_SPARE, _TIMES, _TOGETHER, _THROUGH = 10, 3, 2, 20
"""A task's step budget: a multiple of its reference's actions, a reserve, one scroll per number of looks, and so many
scrolls and page turns through a list."""

_ACTIONS = {Do.SELECT: 3, Do.WAIT: 2, Do.LOOK: 0, Do.FIND: 0, Do.READ: 0}
"""The number of actions of steps that do not take one: a list is opened, typed into and closed."""

_UNTOLD = {Do.PRESS, Do.TAB}
"""Steps whose text is none that a page or the goal says."""


class Difficulty(Record):
    """The difficulty of a task, measured on its shortest plan."""

    actions: int = Field(ge=1)
    """The number of actions, without scrolling."""
    pages: int = Field(ge=0)
    """The number of visits to lists and to rows' pages."""
    facts: int = Field(ge=0)
    """The number of texts that it enters or answers without the goal stating them, and of facts behind the answer."""
    decisions: int = Field(ge=1)
    """The number of changed rows, plus one for an answer."""


class Meanwhile(Record):
    """What somebody else changes while the task is attempted."""

    entity: str
    """The row's entity."""
    row: int
    """The row's id."""
    field: str
    """The field that changes."""
    value: int | str | None
    """Its new value."""


class WorldTask(Record):
    """One task in one world."""

    kind: str
    """The kind of task, as `find`."""
    seed: int = Field(ge=0)
    """The seed within its world."""
    instruction: str
    """The goal."""
    told: str = ""
    """The goal, and below it all that it says of pages in quotation marks, word for word as they show it."""
    masked: str = ""
    """The goal with a mark for each value, title and name."""
    manners: tuple[str, ...] = ()
    """How the goal was made, as `Goal.manners`; empty: it was not drawn."""
    start: str = Field(default=START, pattern="^/")
    """The path of the page where it begins."""
    expect: Expectation
    """The required changes and answer."""
    reference: Reference
    """One way to do it, which reads all it needs on pages; its last step is an answer."""
    answer_kind: str
    """`none`, `verbatim` where a page shows the answer, or `computed`."""
    difficulty: Difficulty | None = None
    """The difficulty; None: not measured."""
    distractors: int | None = None
    """The number of rows that resemble one in question; None: the task concerns no existing row."""
    asked: Asked | None = None
    """The difficulty that was asked for; None: none was."""
    fault: Fault | None = None
    """What goes wrong on the site while it is attempted; None: nothing."""
    meanwhile: Meanwhile | None = None
    """What somebody else changes; None where the fault is none of a stale row."""


class Draft(NamedTuple):
    """A task without its final wording, as a kind draws it."""

    words: Mapping[str, Said]
    """What its kind's sentences speak of, by placeholder."""
    expect: Expectation
    """As in `WorldTask`."""
    reference: tuple[ReferenceStep, ...]
    """As in `WorldTask`."""
    answer_kind: str = "none"
    """As in `WorldTask`."""
    like: str = ""
    """The kind whose impossible twin this task is; empty: the task is possible."""
    near: int | None = None
    """The number of rows that meet all conditions but one; None: the task has no conditions and names rows."""


def actions_of(steps: Sequence[ReferenceStep]) -> int:
    """Return the number of actions of steps whose elements are all visible."""
    return sum(_ACTIONS.get(step.do, 1) for step in steps)


def _budget(steps: Sequence[ReferenceStep]) -> int:
    looks = sum(step.do is Do.LOOK for step in steps)
    lists = sum(step.do in (Do.FIND, Do.READ) for step in steps)
    return _TIMES * actions_of(steps) + _SPARE + looks // _TOGETHER + _THROUGH * lists


def measure(
    plan: Sequence[ReferenceStep], expect: Expectation, instruction: str, places: Collection[str]
) -> Difficulty:
    """Return a task's difficulty by its shortest plan; `places` are the texts of links to lists and to rows' pages."""
    told = {step.text for step in plan if step.text and step.do not in _UNTOLD}
    carried = {text for text in told if text not in instruction} | {*expect.facts}
    rules = len(expect.added) + len(expect.changed) + len(expect.removed)
    return Difficulty(
        actions=actions_of(plan),
        pages=sum(step.do is Do.CLICK and step.on in places for step in plan),
        facts=len(carried),
        decisions=rules + (expect.answer is not None),
    )


def to_task(world: World, task: WorldTask) -> Task:
    """Return a world's task in the form that runs attempt."""
    template_id = f"{world.family}/{task.kind}"
    start_url = f"{world.origin}{task.start}"
    parameters: JsonObject = {"family": world.family, "world": world.seed}
    if task.manners:
        parameters["manners"] = [*task.manners]
    if task.difficulty is not None:
        parameters["difficulty"] = task.difficulty.model_dump(mode="json")
    if task.asked is not None:
        parameters["asked"] = task.asked.model_dump(mode="json", exclude_none=True)
        parameters["distractors"] = task.distractors
    if task.fault is not None:
        parameters["fault"] = task.fault.value
    if task.meanwhile is not None:
        parameters["meanwhile"] = task.meanwhile.model_dump(mode="json")
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
        fault=None if task.fault is None else task.fault.value,
    )
