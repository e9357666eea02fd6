"""References of worlds' tasks do what is asked, by pages alone, and nothing else is paid for."""

from itertools import pairwise

import pytest
from support.worlds import drawn
from support.worlds.drawn_visits import attempt, paid
from support.worlds.made_world import SHOP, shop_rows
from support.worlds.tried import families_of, tasks_of

from generators.sites.gates import Attempted, expectation_gates, leak_gates
from generators.sites.judging.near_misses import MissKind, near_misses
from generators.tasks.worlds.draw import kinds_of
from generators.tasks.worlds.ground.task import to_task
from generators.tasks.worlds.kinds import KINDS
from generators.worlds.drawing.draw import FAMILIES
from schemas.tasks.reference import Do
from schemas.tasks.task import Task

SPOILED = ("edit", "delete", "create", "edit-two", "move", "find", "count")
"""Kinds of tasks that together can be missed in every way."""


@pytest.mark.parametrize("kind", sorted(KINDS))
async def test_a_reference_does_its_task_and_nothing_else_does(
    kind: str, subtests: pytest.Subtests
) -> None:
    for family in families_of(kind):
        with subtests.test(msg=family):
            tasks = tasks_of(family, kind)
            assert tasks
            for task in tasks:
                await _do(family, task)


async def _do(family: str, task: Task) -> None:
    """Carry out a task's reference, and hold the task to all that can be asked of its ends."""
    number = task.parameters["world"]
    assert isinstance(number, int)
    world, rows = drawn.whole(family, number)
    attempted, read = await attempt(world, rows, task)
    untouched = Attempted(attempted.before, attempted.before, "")
    assert await paid(task, attempted) == 1, task.instruction
    assert await paid(task, untouched) == 0, task.instruction
    assert list(leak_gates(task, read[0])) == []
    assert [one async for one in expectation_gates(task, attempted)] == [], task.instruction


def test_every_family_has_tasks_that_are_done() -> None:
    done = [family for kind in KINDS for family in families_of(kind)]

    assert all(done.count(family) >= 3 for family in FAMILIES)


@pytest.mark.parametrize("kind", [one.name for one in KINDS.values() if one.needs is not None])
def test_a_kind_on_a_pattern_is_drawn_in_every_family_that_has_it(kind: str) -> None:
    having = [family for family in FAMILIES if kind in kinds_of(family)]

    assert 0 < len(having) < len(FAMILIES)
    assert [family for family in having if drawn.task(family, kind, 0) is None] == []


async def test_in_a_shop_every_kind_of_near_miss_is_tried_and_rejected() -> None:
    drawn_tasks = drawn.tasks(SHOP, shop_rows(), 0, 60)
    tried = set[MissKind]()
    for kind in SPOILED:
        task = to_task(SHOP, next(one for one in drawn_tasks if one.kind == kind))
        attempted, _ = await attempt(SHOP, shop_rows(), task)
        assert [one async for one in expectation_gates(task, attempted)] == [], task.instruction
        assert task.expect is not None
        ends = (attempted.before.value, attempted.after.value)
        misses = near_misses(task.expect, before=ends[0], after=ends[1], answer=attempted.answer)
        tried |= {miss.kind for miss in misses}

    assert tried == set(MissKind)


def test_a_reference_opens_no_view_that_it_does_not_use() -> None:
    for family in ("shop", "help_desk", "library"):
        for kind in kinds_of(family)[::3]:
            task = drawn.task(family, kind, 1)
            if task is None or task.reference is None:
                continue
            number, steps = task.parameters["world"], task.reference
            assert isinstance(number, int)
            world, _ = drawn.whole(family, number)
            labels = {view.label for view in world.views}
            opened = [step.do is Do.CLICK and step.on in labels for step in steps]
            assert not any(one and other for one, other in pairwise(opened)), (family, kind)
