"""How a command hears that it should stop, and how it is run so that it always may.

Before and after its work an interrupt simply ends it. While it works, `listening` hands each
interrupt to the work itself, which decides what the first and the second one mean.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""What means: stop."""


def run(work: Coroutine[None, None, T]) -> T:
    """Run `work` in an event loop of its own, and return what it returns.

    Raises:
        KeyboardInterrupt: it was interrupted, by whichever signal, and listened to none.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(work)
        for number in SIGNALS:
            loop.add_signal_handler(number, task.cancel)
        try:
            return loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


@contextlib.contextmanager
def listening(interrupt: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Call `interrupt` for every signal that means: stop.

    What it yields listens again, for when somebody else has taken the signals meanwhile.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def listen() -> None:
        for number in SIGNALS:
            loop.add_signal_handler(number, interrupt)

    listen()
    try:
        yield listen
    finally:
        for number in SIGNALS:
            if task is not None:
                loop.add_signal_handler(number, task.cancel)
