"""Handles the signals that interrupt a command.

Before and after its work an interrupt simply ends the command. While it works, `handle_signals` passes
each interrupt to the work itself, which decides what the first and the second one mean.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import TypeVar

T = TypeVar("T")

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask a command to stop."""


def run(work: Coroutine[None, None, T]) -> T:
    """Run `work` in an event loop of its own, and return its result.

    Raises:
        KeyboardInterrupt: one of `STOP_SIGNALS` arrived, and `work` did not handle it.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(work)
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, task.cancel)
        try:
            return loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


@contextlib.contextmanager
def handle_signals(interrupt: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Call `interrupt` for every signal that asks the command to stop.

    Yields a function that installs the handlers again, for use after a library has replaced them.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def listen() -> None:
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, interrupt)

    listen()
    try:
        yield listen
    finally:
        for number in STOP_SIGNALS:
            if task is not None:
                loop.add_signal_handler(number, task.cancel)
