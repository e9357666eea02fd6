"""Units of served episodes: named after one of them, made by one server, and with tasks that other units have too."""

from pathlib import Path

import pytest
from support.episodes.factories import MadeRun, Unit, make_run
from support.stores.faulty_lake import commit

from schemas import ids
from schemas.ids import SERVED_ATTEMPTS
from storage.audit import audit


@pytest.fixture
async def run(tmp_path: Path) -> MadeRun:
    return await make_run(tmp_path)


def served(run: MadeRun, number: int, *, goal: str = "Do it.", server: int = 1) -> Unit:
    """A unit of one episode: the `number`th attempt at the same task by a server."""
    planned = run.unit(0, tasks=1, salt=number)
    (task,) = planned.tasks
    attempt = server * SERVED_ATTEMPTS + number
    own = ids.episode_id(run.run_id, task.task_id, attempt)
    unit_id = ids.served_unit_id(run.run_id, own)
    changes = {"unit_id": unit_id, "episode_id": own, "attempt": attempt}
    episode = planned.episodes[0].model_copy(update=changes)
    return Unit(unit_id, [task.model_copy(update={"instruction": goal})], [episode])


async def findings(run: MadeRun, *units: Unit) -> tuple[str, ...]:
    lake = run.lake()
    for unit in units:
        await commit(lake, unit)
    await lake.seal()
    await lake.close()
    return tuple((await audit(run.store, deep=True)).findings)


async def test_units_that_served_the_same_task_are_whole(run: MadeRun) -> None:
    assert await findings(run, *(served(run, number) for number in range(3))) == ()


async def test_a_unit_that_has_seen_no_page_does_not_know_its_tasks_goal(run: MadeRun) -> None:
    units = [served(run, 0, goal=""), served(run, 1), served(run, 2, goal="")]
    assert await findings(run, *units) == ()


@pytest.mark.parametrize("changes", [{"instruction": "Do something else."}, {"max_steps": 3}])
async def test_tasks_of_units_that_differ_are_named(
    run: MadeRun, changes: dict[str, object]
) -> None:
    unit = served(run, 1)
    other = Unit(unit.unit_id, [unit.tasks[0].model_copy(update=changes)], unit.episodes)
    found = await findings(run, served(run, 0), other)
    assert any("has a second row, which differs" in one for one in found), found


async def test_a_unit_that_is_named_after_no_episode_of_its_own_is_named(run: MadeRun) -> None:
    unit, other = served(run, 0), served(run, 7)
    moved = [one.model_copy(update={"unit_id": other.unit_id}) for one in unit.episodes]
    found = await findings(run, Unit(other.unit_id, unit.tasks, moved))
    assert any("is not that of a served episode of it" in one for one in found), found


async def test_a_unit_that_two_servers_made_together_is_named(run: MadeRun) -> None:
    first, second = served(run, 0), served(run, 1, server=2)
    both = [
        *first.episodes,
        *(one.model_copy(update={"unit_id": first.unit_id}) for one in second.episodes),
    ]
    found = await findings(run, Unit(first.unit_id, first.tasks, both))
    assert any("servers [1, 2] made it together" in one for one in found), found
