"""People's commonest actions beside clicks occur in references of worlds, and the references fail without them."""

from collections.abc import AsyncIterator
from functools import cache

import pytest
import pytest_asyncio
from effort import THOROUGH
from support.worlds import drawn

from bench.measuring.actions import ACTIONS, is_done, places_of, without
from flows.resources.browsers import Browsers, open_browsers
from generators.tasks.worlds.draw import kinds_of
from generators.worlds.drawing.draw import FAMILIES
from schemas.tasks.task import Task

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

SEEDS, KINDS = (8, 9) if THOROUGH else (9,), 6
"""The worlds of each family whose tasks are drawn, and how many kinds in each."""

IN_FAMILIES = 3 if THOROUGH else 1
"""Families in which each action is tried."""

LONGEST = 60 if THOROUGH else 18
"""The most steps of a reference that is tried."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browsers() -> AsyncIterator[Browsers]:
    async with open_browsers() as opened:
        yield opened


@cache
def tasks() -> list[Task]:
    """Return tasks of all families, of kinds in turn, with short references, that are paid for a change alone."""
    found = list[Task]()
    for place, family in enumerate(FAMILIES):
        kinds = sorted(kinds_of(family))
        for seed in SEEDS:
            for number in range(KINDS):
                kind = kinds[(place + number * len(kinds) // KINDS) % len(kinds)]
                task = drawn.task(family, kind, seed)
                changes = (
                    task is not None and task.expect is not None and task.expect.answer is None
                )
                if task is not None and changes and len(task.reference or ()) <= LONGEST:
                    found.append(task)
    return found


def with_action(name: str) -> dict[str, tuple[Task, int]]:
    """Return the shortest reference of each family that takes an action, with the place of its step."""
    out = dict[str, tuple[Task, int]]()
    for task in sorted(tasks(), key=lambda one: len(one.reference or ())):
        places = places_of(task.reference or (), name)
        if places:
            out.setdefault((task.template_id or "").partition("/")[0], (task, places[0]))
    return out


@pytest.mark.parametrize("name", ACTIONS)
async def test_a_reference_fails_without_the_step_of_an_action(
    name: str, browsers: Browsers
) -> None:
    found = with_action(name)

    failed = 0
    for task, place in found.values():
        steps = task.reference or ()
        # That references are rewarded as they are, `tests/unit/generators/tasks` show too.
        if THOROUGH:
            assert await is_done(browsers, task, steps), task.template_id
        # A wait is not needed where the page is longer than the window: looking on takes its time. Nor is it needed that a
        # search is sent where the list shows the row without it.
        failed += not await is_done(browsers, task, without(steps, place))
        assert failed or name in {"wait", "enter"}, task.template_id
        if failed == IN_FAMILIES:
            return
    raise AssertionError(f"of {len(found)} families {failed} need {name}")
