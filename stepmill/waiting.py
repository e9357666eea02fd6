"""Waits for asynchronous work in programs without an event loop, and in notebooks, which have one of their own."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def wait_for(work: Coroutine[object, object, T]) -> T:
    """Run `work` in an event loop of a thread of its own, and return what it returns.

    Raises:
        KeyboardInterrupt: the caller was interrupted; `work` was cancelled before, and has ended.
    """
    begun: Future[Callable[[], object]] = Future()

    async def begin() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is not None:
            begun.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        return await work

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="stepmill") as thread:
        try:
            return thread.submit(asyncio.run, begin()).result()
        except KeyboardInterrupt:
            begun.result()()
            raise
