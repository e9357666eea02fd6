"""An episode begins while there is memory for it; while there is none, those under way go on, and one always does."""

import asyncio
import contextlib
import logging
from pathlib import Path

import pytest

from flows.resources.machine import MEMORY, free_of_group
from flows.resources.memory_room import LEAST_BYTES, MemoryRoom

PLENTY = 1 << 40
LITTLE = LEAST_BYTES // 2


class Run:
    """Episodes that wait for memory, and go on until they are told to end."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.room = MemoryRoom(lambda: self.free, look_seconds=0.001)
        self.stopped = False
        self.under_way: list[str] = []
        self.ends = asyncio.Event()

    async def live(self, name: str) -> None:
        await self.room.wait(lambda: self.stopped)
        if self.stopped or not self.room.has_room:
            return
        with self.room.episode():
            self.under_way.append(name)
            await self.ends.wait()


async def _until(run: Run, *, waiting: int = 0, under_way: int = 0) -> None:
    """Wait until so many wait, and so many or more are under way."""
    while True:
        if run.room.waiting == waiting and len(run.under_way) >= under_way:
            return
        await asyncio.sleep(0)


async def test_no_episode_begins_while_memory_is_short_and_those_under_way_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = Run(PLENTY)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        with caplog.at_level(logging.WARNING):
            for name in "ab":
                group.create_task(run.live(name))
            await _until(run, under_way=2)
            run.free = LITTLE
            for name in "cd":
                group.create_task(run.live(name))
            await _until(run, waiting=2)
            for _ in range(50):
                await asyncio.sleep(0.001)
        assert run.under_way == ["a", "b"]
        assert run.room.waiting == 2
        assert [record.message.split(":")[0] for record in caplog.records] == ["memory is short"]

        run.free = PLENTY
        await _until(run, waiting=0)
        run.ends.set()

    assert run.under_way == ["a", "b", "c", "d"], "first come, first served"


async def test_one_always_goes_on_where_there_is_never_enough() -> None:
    run = Run(0)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        tasks = [group.create_task(run.live("a"))]
        await _until(run, under_way=1)
        tasks.append(group.create_task(run.live("b")))
        await _until(run, waiting=1)
        assert run.under_way == ["a"]
        run.ends.set()

    assert run.under_way == ["a", "b"]


async def test_whoever_waits_is_let_go_when_the_run_stops() -> None:
    run = Run(0)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(run.live("a"))
        await _until(run, under_way=1)
        waiting = [group.create_task(run.live(name)) for name in "bc"]
        await _until(run, waiting=2)
        run.stopped = True
        await asyncio.wait(waiting)
        run.ends.set()

    assert run.under_way == ["a"]


async def test_what_episodes_that_have_just_begun_will_take_is_not_given_twice() -> None:
    room = MemoryRoom(lambda: LEAST_BYTES + 3 * MEMORY.each)
    begun = 0
    with contextlib.ExitStack() as stack:
        while room.has_room:
            stack.enter_context(room.episode())
            begun += 1

    assert begun == 3


def test_the_pages_of_files_that_a_group_has_read_count_as_free(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("900\n")
    assert free_of_group(tmp_path) == 100

    (tmp_path / "memory.stat").write_text("anon 500\nactive_file 100\ninactive_file 300\nshmem 5\n")
    assert free_of_group(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert free_of_group(tmp_path) is None
