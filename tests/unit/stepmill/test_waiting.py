"""Asynchronous work is waited for in a thread of its own, and ends before the caller goes on."""

import asyncio
import os
import signal

import pytest

from schemas.errors import NotFound
from stepmill.waiting import wait_for


async def test_it_works_where_a_loop_runs_already() -> None:
    own = asyncio.get_running_loop()

    async def work() -> bool:
        await asyncio.sleep(0)
        return asyncio.get_running_loop() is own

    assert wait_for(work()) is False


def test_an_error_is_the_callers() -> None:
    async def work() -> None:
        raise NotFound("gone")

    with pytest.raises(NotFound, match="gone"):
        wait_for(work())


def test_an_interrupt_cancels_the_work_and_waits_for_its_end() -> None:
    ended: list[str] = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("closed")

    with pytest.raises(KeyboardInterrupt):
        wait_for(work())

    assert ended == ["closed"]
