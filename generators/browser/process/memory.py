"""Keeps each page's process within a memory limit, and records which processes it has ended.

The limit of V8's heap excludes buffers, documents and canvases, so a page could take all of a machine's
memory. A watch checks the processes of a browser's zygotes twice a second, which costs microseconds if the
kernel lists children, and kills one that is too large. Its session sees a crash, and asks here for the
reason.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator

import psutil

MAX_MB = 1_024
"""Largest resident memory of one page's process, MiB; shared libraries are a tenth of it."""

EVERY_SECONDS = 0.5
"""Pause between two checks, seconds."""

REASON_SECONDS = 1.0
"""Time after the end of a process in which a crash is attributed to it, seconds."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class MemoryWatch:
    """Checks the page processes of one browser until it is stopped."""

    def __init__(self, browser: psutil.Process) -> None:
        self._zygotes = [one for one in browser.children(recursive=True) if _is_zygote(one)]
        self._ended = -REASON_SECONDS
        self._task = asyncio.create_task(self._watch())

    @property
    def has_just_ended_one(self) -> bool:
        """Whether it killed a process a moment ago."""
        return time.monotonic() - self._ended < REASON_SECONDS

    def stop(self) -> None:
        """Stop checking."""
        self._task.cancel()

    async def _watch(self) -> None:
        while True:
            for pid in self._renderers():
                if _resident_bytes(pid) > MAX_MB * 2**20:
                    self._ended = time.monotonic()
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(EVERY_SECONDS)

    def _renderers(self) -> Iterator[int]:
        for zygote in self._zygotes:
            yield from _children(zygote.pid)


def _children(pid: int) -> list[int]:
    """Return the children of a process; empty if it has ended."""
    try:
        return [int(word) for word in _read(f"/proc/{pid}/task/{pid}/children").split()]
    except OSError:  # it has ended, or this kernel lists no children
        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()]
        return []


def _resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if it has ended."""
    try:
        return int(_read(f"/proc/{pid}/statm").split()[1]) * _PAGE_BYTES
    except OSError:
        with contextlib.suppress(psutil.Error):
            return int(psutil.Process(pid).memory_info().rss)
        return 0


def _read(path: str) -> bytes:
    """Return a short file of the kernel's, in the fewest calls."""
    number = os.open(path, os.O_RDONLY)
    try:
        return os.read(number, 65_536)
    finally:
        os.close(number)


def _is_zygote(process: psutil.Process) -> bool:
    try:
        return "--type=zygote" in process.cmdline()
    except psutil.Error:
        return False
