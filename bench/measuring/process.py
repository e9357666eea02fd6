"""A piece of work in a process of its own, and the most memory that it had there."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
"""Whatever a measured piece of work returns."""


def alone(work: Callable[..., T], *args: object) -> T:
    """Return what `work` returns in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(work, *args).result()


def peak_mb() -> float:
    """Return the most memory this process ever had.

    Not as `getrusage` tells it, which counts what its parent had when it was made.
    """
    status = Path("/proc/self/status").read_text()
    told = dict(line.split(":", 1) for line in status.splitlines())
    return int(told["VmHWM"].split()[0]) * 1_024 / 1e6
