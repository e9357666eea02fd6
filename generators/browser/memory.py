"""Keeps each page's process within a limit of memory, and knows which ones it has ended.

The limit of V8's heap leaves out buffers, documents and canvases, so a page could take all of a machine's
memory. A watch looks several times a second at the processes that a browser's zygotes have made, which
costs microseconds where the kernel lists children, and kills one that is too large. Its session learns of it as of a
crash, and asks here for the reason.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

MAX_MB = 1_024
"""The most resident memory of one page's process, MiB; shared libraries are a tenth of it."""

EVERY_SECONDS = 0.25
"""How often the watch looks."""

REASON_SECONDS = 5.0
"""How long after the end of a process a crash is explained by it."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class MemoryWatch:
    """Looks at the pages' processes of one browser until it is stopped."""

    def __init__(self, browser: psutil.Process) -> None:
        self._zygotes = [
            one for one in browser.children(recursive=True) if _has_type(one, "zygote")
        ]
        self._ended = -REASON_SECONDS
        self._task = asyncio.create_task(self._watch())

    @property
    def has_just_ended_one(self) -> bool:
        """Whether it has killed a process a moment ago."""
        return time.monotonic() - self._ended < REASON_SECONDS

    def stop(self) -> None:
        """Look no more."""
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


def _children(pid: int) -> Iterator[int]:
    """Yield the children of a process, and theirs."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii")
        below = [int(word) for word in text.split()]
    except OSError:  # it has ended, or this kernel lists no children
        try:
            below = [child.pid for child in psutil.Process(pid).children()]
        except psutil.Error:
            return
    for child in below:
        yield child
        yield from _children(child)


def _resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * _PAGE_BYTES
    except OSError:
        try:
            return int(psutil.Process(pid).memory_info().rss)
        except psutil.Error:
            return 0


def _has_type(process: psutil.Process, name: str) -> bool:
    try:
        return f"--type={name}" in process.cmdline()
    except psutil.Error:
        return False
