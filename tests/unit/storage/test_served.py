"""The servers of a run, and the tasks of served episodes."""

import asyncio

import pytest
from support.browsers.scripted_rollouts import scripted_task
from support.stores.memory_store import MemoryStore

from schemas.errors import Damaged, OtherRun
from schemas.ids import SERVED_ATTEMPTS, episode_id, served_unit_id
from storage import served
from storage.objects.protocol import Missing
from storage.served import ServedTasks, ServerMark, number_of_server

UNIT = served_unit_id("0" * 32, episode_id("0" * 32, "1" * 32, SERVED_ATTEMPTS))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beats a hundred times as fast."""
    monkeypatch.setattr(served, "BEAT_SECONDS", 0.03)
    monkeypatch.setattr(served, "PATIENCE_SECONDS", 0.12)


async def test_each_server_counts_attempts_in_a_block_of_its_own() -> None:
    store = MemoryStore()
    for number in (1, 2, 3):
        async with number_of_server(store) as first:
            assert first == number * SERVED_ATTEMPTS


@pytest.mark.usefixtures("quick")
async def test_a_second_server_of_a_run_is_refused_while_the_first_lives() -> None:
    store = MemoryStore()
    async with number_of_server(store):
        with pytest.raises(OtherRun, match="another server serves this run"):
            async with number_of_server(store):
                raise AssertionError("two servers live")


@pytest.mark.usefixtures("quick")
async def test_a_killed_server_stands_in_nobodys_way_whatever_the_clocks_say() -> None:
    store = MemoryStore()
    async with number_of_server(store):
        pass
    (key,) = [item.key async for item in store.list("servers/")]
    mark = ServerMark.model_validate_json(await store.get(key))
    ahead = mark.began_at.replace(year=mark.began_at.year + 1)
    killed = mark.model_copy(update={"ended": False, "began_at": ahead})
    await store.put(key, killed.model_dump_json().encode())
    async with asyncio.timeout(20), number_of_server(store) as first:
        assert first == 2 * SERVED_ATTEMPTS


async def test_tasks_are_kept_by_unit_until_they_are_discarded() -> None:
    store, task = MemoryStore(), scripted_task()
    tasks = ServedTasks(store)
    await tasks.put(UNIT, task)
    await tasks.put(UNIT, task)
    assert await tasks.listing() == {UNIT: {task.task_id}}
    assert await tasks.get(UNIT, task.task_id) == task
    await tasks.discard(UNIT)
    assert await tasks.listing() == {}
    with pytest.raises(Missing):
        await tasks.get(UNIT, task.task_id)


async def test_a_torn_task_is_named() -> None:
    store, task = MemoryStore(), scripted_task()
    key = f"served/{UNIT}/{task.task_id}"
    await store.put(key, b'{"task_id": ')
    with pytest.raises(Damaged, match=key):
        await ServedTasks(store).get(UNIT, task.task_id)
