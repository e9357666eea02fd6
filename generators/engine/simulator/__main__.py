"""Runs a simulator: `python -m generators.engine.simulator --port 8000`.

The first line of standard output is its URL. It ends on SIGTERM or SIGINT, and by itself when its
parent is gone: when standard input ends where that is a pipe, else when it has another parent
process.
"""

import asyncio
import contextlib
import os
import signal
import stat
import sys
from collections.abc import Sequence

from generators.engine.simulator.command import BadCommand, Command, read_command
from generators.engine.simulator.server import SimulatorServer

STDIN, STDOUT, STDERR = 0, 1, 2
POLL_SECONDS = 0.5
"""Pause between two checks that its parent still runs, seconds."""

REFUSED = 2
"""The exit code when it does not start."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a simulator until a signal ends it, or its parent is gone."""
    try:
        command = read_command(sys.argv[1:] if arguments is None else arguments)
    except BadCommand as error:
        os.write(STDERR, f"{error}\n".encode())
        return REFUSED
    try:
        asyncio.run(_serve(command))
    except OSError as error:
        os.write(STDERR, f"port {command.port}: {error.strerror}; give another --port\n".encode())
        return REFUSED
    return 0


async def _serve(command: Command) -> None:
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    parent = os.getppid()
    async with SimulatorServer(command.options, port=command.port, faults=command.faults) as server:
        os.write(STDOUT, f"{server.url}\n".encode())
        if _is_pipe(STDIN):
            loop.add_reader(STDIN, _drain, ending)
            await ending.wait()
        while os.getppid() == parent and not ending.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), POLL_SECONDS)


def _is_pipe(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _drain(ending: asyncio.Event) -> None:
    try:
        data = os.read(STDIN, 65_536)
    except OSError:
        data = b""
    if not data:
        asyncio.get_running_loop().remove_reader(STDIN)
        ending.set()


if __name__ == "__main__":
    sys.exit(main())
