"""Runs a command that never outlives whoever started it: `python -m flows.tied COMMAND …`.

Standard input is a pipe that nothing is ever written to. It ends when the other side is gone,
however that came about, `kill -9` included; the command is then asked to end, and soon made to.
Asking this process to end does the same.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

GRACE_SECONDS = 10.0
"""How long the command may take to end once it was asked to."""


def main(command: Sequence[str]) -> int:
    """Run `command` and return its exit code."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - what it is for
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: process.terminate())
    threading.Thread(target=_watch, args=(process,), daemon=True).start()
    return process.wait()


def _watch(process: subprocess.Popen[bytes]) -> None:
    os.read(0, 1)
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
