"""References of worlds' tasks do what is asked, by pages alone, and nothing else is paid for.

`make test` tries each kind of tasks in a few families, so that each family has several; `make test-full`
tries each kind in all families that have it, with more seeds.
"""

import pytest
from effort import THOROUGH
from support.worlds import drawn
from support.worlds.drawn_visits import attempt, paid
from support.worlds.made_world import SHOP, shop_rows

from generators.sites.gates import Attempted, expectation_gates, leak_gates
from generators.sites.judging.near_misses import MissKind, near_misses
from generators.tasks.worlds.draw import KINDS, kinds_of
from generators.tasks.worlds.patterned import NEEDS
from generators.tasks.worlds.task import to_task
from generators.worlds.draw import FAMILIES
from schemas.task import Task

SEEDS = 3
"""The worlds of a family here."""

IN_FAMILIES = len(FAMILIES) if THOROUGH else 2
"""Families in which tasks of a kind are done."""

STEP = 5
"""How far apart the first families of two kinds are, so that the kinds spread over all families."""

SPOILED = ("edit", "delete", "create", "edit-two", "move", "find", "count")
"""Kinds of tasks that together can be missed in every way."""


def _families(kind: str) -> list[str]:
    """Return the families in which tasks of a kind are done here."""
    having = [family for family in FAMILIES if kind in kinds_of(family)]
    first = STEP * sorted(KINDS).index(kind) % len(having)
    return [*having[first:], *having[:first]][:: max(1, len(having) // IN_FAMILIES)][:IN_FAMILIES]


def _seeds(kind: str) -> range:
    """Return the seeds for which a kind is done: one that the kind says, or all."""
    one = sorted(KINDS).index(kind) % SEEDS
    return range(SEEDS) if THOROUGH else range(one, one + 1)


@pytest.mark.parametrize("kind", sorted(KINDS))
async def test_a_reference_does_its_task_and_nothing_else_does(
    kind: str, subtests: pytest.Subtests
) -> None:
    for family in _families(kind):
        with subtests.test(msg=family):
            tasks = list(filter(None, (drawn.task(family, kind, seed) for seed in _seeds(kind))))
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
    done = [family for kind in KINDS for family in _families(kind)]

    assert all(done.count(family) >= 3 for family in FAMILIES)


def test_some_kinds_are_in_some_families_alone() -> None:
    for kind in NEEDS:
        assert 0 < sum(kind in kinds_of(family) for family in FAMILIES) < len(FAMILIES)


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
