"""Runs a command that never outlives whoever started it: `python generators/tied.py COMMAND …`.

Standard input is a pipe that nothing is ever written to. It ends when the other side is gone,
however that came about, `kill -9` included; the command is then asked to end, and soon made to.
Asking this process to end does the same. The command has a process group of its own, and when it
has ended, in whatever way, nothing that it started in that group goes on.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

GRACE_SECONDS = 10.0
"""How long the command may take to end once it was asked to."""

_SIGNALLED = 128
"""Shells add the number of the signal that ended a command to this."""


def main(command: Sequence[str]) -> int:
    """Run `command` and return its exit code."""
    process = subprocess.Popen(  # noqa: S603 - what it is for
        command, stdin=subprocess.DEVNULL, process_group=0
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _end_from_here(process))
    threading.Thread(target=_watch, args=(process,), daemon=True).start()
    try:
        code = process.wait()
    finally:
        _kill(process)
    return code if code >= 0 else _SIGNALLED - code


def _watch(process: subprocess.Popen[bytes]) -> None:
    os.read(0, 1)
    _end(process)


def _end_from_here(process: subprocess.Popen[bytes]) -> None:
    """End the command from a signal's handler, which must not wait."""
    threading.Thread(target=_end, args=(process,), daemon=True).start()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the whole group; its number cannot be another's while anything of it lives."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
