"""Runs a command that ends with its parent: `python generators/parent_guard.py COMMAND …`.

Standard input is a pipe that is never written to. It ends when the parent is gone for any reason, `kill -9`
included; then the command is terminated, and killed after a grace period. A signal to end this process has
the same effect. After the command has ended, for any reason, none of its descendants keeps running, not
even in a session of its own: this process adopts orphans below it, terminates them, and kills them after a
while.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Sequence

import psutil

GRACE_SECONDS = 10.0
"""Time that the command gets to end after it was terminated, seconds."""

ORPHAN_SECONDS = 5.0
"""Time that orphans get to end, seconds; after as long again this process gives up."""

END_SECONDS = GRACE_SECONDS + 2 * ORPHAN_SECONDS + 5.0
"""Time within which everything has ended, seconds."""

_POLL_SECONDS = 0.05

_SIGNAL_BASE = 128
"""Shells add the number of the signal that ended a command to this."""

_PR_SET_CHILD_SUBREAPER = 36
"""From Linux's <sys/prctl.h>."""


def main(command: Sequence[str]) -> int:
    """Run `command` and return its exit code."""
    adopt_orphans()
    process = subprocess.Popen(  # noqa: S603 - its purpose
        command, stdin=subprocess.DEVNULL, process_group=0
    )
    over = threading.Event()

    def end() -> None:
        if not over.is_set():
            _signal(process.pid, signal.SIGTERM)
        if not over.wait(GRACE_SECONDS):
            _signal(process.pid, signal.SIGKILL)

    def watch() -> None:
        os.read(0, 1)
        end()

    for number in (signal.SIGINT, signal.SIGTERM):  # a signal's handler must not wait
        signal.signal(number, lambda *_: threading.Thread(target=end, daemon=True).start())
    threading.Thread(target=watch, daemon=True).start()
    try:
        _await(process.pid)
    finally:
        over.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        end_children()
    return exit_code(code)


def exit_code(returned: int) -> int:
    """Return the exit code that a shell would give for a process's return code."""
    return returned if returned >= 0 else _SIGNAL_BASE - returned


def adopt_orphans() -> None:
    """Make this process the parent of every orphan below it, where the system can."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children(keep: Collection[int] = ()) -> None:
    """End all children of this process with their descendants, except those whose ids are in `keep`.

    They are terminated, then killed; orphans that this leaves have been adopted and are ended too.
    """
    asked = set[int]()
    patient = time.monotonic() + ORPHAN_SECONDS
    while children := _children(keep):  # an ended one may leave others
        now = time.monotonic()
        if now > patient + ORPHAN_SECONDS:
            return
        for child in children:
            if _reap(child):
                continue
            if now > patient:
                _kill(child)
            elif child.pid not in asked:
                _signal(child.pid, signal.SIGTERM)
                asked.add(child.pid)
        threading.Event().wait(_POLL_SECONDS)


def _children(keep: Collection[int]) -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.pid not in keep]


def _reap(child: psutil.Process) -> bool:
    """Reap a child if it has ended, and return whether it had."""
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(child.pid, os.WNOHANG) != (0, 0)
    return True


def _kill(child: psutil.Process) -> None:
    """Kill a child and its descendants."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in (child, *child.children(recursive=True)):
            _signal(process.pid, signal.SIGKILL)


def _await(command: int) -> None:
    """Wait until the command ends, without reaping it, so that its id stays its own; reap orphans."""
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        if ended is None or ended.si_pid == command:
            return
        os.waitpid(ended.si_pid, 0)


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
