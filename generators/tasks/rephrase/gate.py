"""Whether a goal may stand for that of a task: it has the same one reading, and gives nothing away.

A goal that somebody else has written is kept only where the resolver comes to the task's expectation by it, where it
does not hold the answer, and where it names no value or row that the task's own goal leaves to be found.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from generators.sites.gates import leak_gates
from generators.sites.judging.answers import expected_values
from generators.tasks.resolver.agreement import agrees
from generators.tasks.resolver.reading import Refusal
from generators.tasks.resolver.resolve import Resolver
from generators.tasks.resolver.tokens import key_of
from generators.tasks.worlds.draw import start_words
from generators.worlds.drawing.draw import draw_whole
from generators.worlds.state.database import Rows
from generators.worlds.state.display import show
from schemas.tasks.expectation import Expectation
from schemas.tasks.selector import rows_asked
from schemas.tasks.task import Task, task_id
from schemas.worlds.field import Kind
from schemas.worlds.world import Entity, World

MAX_CHARS = 1_200
"""Maximum length of a goal in characters."""

_FEWEST_CHARS = 3
"""Shorter values may be in a goal by chance."""


def with_goal(task: Task, goal: str, *, by: str) -> Task:
    """Return a task with another goal; `by` is the name of the model that wrote it. Its id is that of its content."""
    identity = task_id(
        site=task.site,
        site_version=task.site_version,
        template_id=None,
        seed=task.seed,
        start_url=task.start_url,
        instruction=goal,
        parameters=task.parameters,
        expect=task.expect,
        files=task.files or (),
        page=task.page,
        user=task.user,
    )
    changed = {
        "task_id": identity,
        "instruction": goal,
        "original_instruction": task.original_instruction or task.instruction,
        "rephrased_by": by,
    }
    return task.model_copy(update=changed)


class GoalGate:
    """Judges goals for tasks of one world."""

    def __init__(self, world: World, rows: Rows) -> None:
        self.world, self._rows = world, rows
        """What the goals are about."""
        self.resolver = Resolver(world, rows)
        """Reads the goals."""
        self._start = start_words(world)

    def why_not(self, task: Task, goal: str) -> str | None:
        """Return why a goal cannot stand for that of a task; None: it can."""
        said = " ".join(goal.split())
        if not said:
            return "it says nothing"
        if len(said) > MAX_CHARS:
            return f"it has {len(said)} characters, more than {MAX_CHARS}"
        if key_of(said) == key_of(task.instruction):
            return "it is the same goal"
        if task.expect is None:
            return "the task has no expectation to hold it to"
        leaks = self._leaks(task, task.expect, said)
        return next(leaks, None) or self._misread(task, task.expect, said)

    def _misread(self, task: Task, expect: Expectation, goal: str) -> str | None:
        """Return how the resolver reads a goal otherwise than its task; None: it reads it so."""
        own, read = self.resolver.read(task.instruction), self.resolver.read(goal)
        if not agrees(own, expect, self.world):
            return "the task's own goal is not read as its expectation"
        if isinstance(read, Refusal) and (read != own or not isinstance(own, Refusal)):
            return f"it is not read: {read.about}"
        if isinstance(read, Refusal) and self._mentions(goal) != self._mentions(task.instruction):
            return "it asks for something else that is impossible"
        return None if agrees(read, expect, self.world) else "it is read as something else"

    def _mentions(self, goal: str) -> frozenset[tuple[str, ...]]:
        return frozenset(key_of(one.text) for one in self.resolver.scene(goal).items if one.counts)

    def _leaks(self, task: Task, expect: Expectation, goal: str) -> Iterator[str]:
        other = task.model_copy(update={"instruction": goal})
        for one in leak_gates(other, self._start):
            yield f"it gives the answer away: {one.because}"
        for text in _answers(expect):
            if _has(task.instruction, text) and not _has(goal, text):
                yield f"it does not say {text!r}, of which the task's own goal says that it may be the answer"
        for text in self._to_find(expect):
            if _has(goal, text) and not _has(task.instruction, text):
                yield f"it says {text!r}, which is to be found"

    def _to_find(self, expect: Expectation) -> Iterator[str]:
        """Yield what a task's changes are about, as pages show it: the rows, and their new values."""
        entities = {entity.name: entity for entity in self.world.entities}
        for rule in (*expect.added, *expect.changed, *expect.removed):
            entity = entities.get(rule.table)
            for name, value in {**rule.where, **rule.set}.items() if entity is not None else ():
                if entity is not None:
                    yield from self._texts(entity, name, value)

    def _texts(self, entity: Entity, name: str, value: object) -> Iterator[str]:
        if name == "id":
            rows = (row for row in self._rows[entity.name] if row["id"] == value)
            yield from (str(row[entity.title.name]) for row in rows)
            return
        field = entity.field(name)
        if isinstance(value, str | int) and field.kind not in {Kind.FLAG, Kind.TAGS}:
            titles = {
                one.name: {
                    int(row["id"] or 0): str(row[one.title.name]) for row in self._rows[one.name]
                }
                for one in self.world.entities
                if one.name == field.target
            }
            if field.target is None or value in titles[field.target]:
                yield show(self.world, entity.name, name, value, titles)


def says_more_of_answer(task: Task, own: str, other: str) -> bool:
    """Return whether a text holds an expected answer of a task that another one does not."""
    texts = () if task.expect is None else _answers(task.expect)
    return any(_has(other, text) and not _has(own, text) for text in texts)


def _answers(expect: Expectation) -> list[str]:
    values = () if expect.answer is None else expected_values(expect.answer)
    return [str(one) for one in values if isinstance(one, str | int) and not isinstance(one, bool)]


def _has(goal: str, text: str) -> bool:
    if len(text) < _FEWEST_CHARS:
        return False
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", goal, re.IGNORECASE) is not None


@lru_cache(maxsize=16)
def gate_of(family: str, seed: int, count: int | None = None) -> GoalGate:
    """Return the gate of a seed's world; `count` is the number of rows that its largest table was asked to have."""
    return GoalGate(*draw_whole(family, seed, count))


def gate_for(task: Task) -> GoalGate | None:
    """Return the gate of a task's world; None: it is no task of a world."""
    family, seed = task.parameters.get("family"), task.parameters.get("world")
    if not isinstance(family, str) or not isinstance(seed, int):
        return None
    return gate_of(family, seed, rows_asked(task.parameters))
