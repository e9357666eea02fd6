"""What processes take: a piece of work alone in one, CPU by kind of process, and memory of a tree."""

import contextlib
import multiprocessing
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")
"""What a measured piece of work returns."""


def alone(work: Callable[..., T], *args: object) -> T:
    """Return what `work` returns in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(work, *args).result()


def peak_mb() -> float:
    """Return the most memory this process ever had.

    `getrusage` does not serve here: it counts what the parent had when this process was made.
    """
    status = Path("/proc/self/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["VmHWM"].split()[0]) * 1_024 / 1e6


def pss_mb(*, own: bool, pid: int | None = None) -> float:
    """Return the proportional set size of all processes below `pid` (None: this one), MB.

    With `own` the process itself is counted too. Processes that end meanwhile count as nothing.
    """
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for process in [*([root] if own else []), *root.children(recursive=True)]:
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{process.pid}/smaps_rollup").read_text("ascii")
                total += sum(
                    int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")
                )
    return total / 1_024


def cpu_by_kind() -> dict[str, float]:
    """Return the CPU seconds used so far by this process and all below it, by kind.

    What ended children of children used is `reaped`.
    """
    out: dict[str, float] = defaultdict(float)
    me = psutil.Process()
    for process in [me, *me.children(recursive=True)]:
        try:
            times, line = process.cpu_times(), process.cmdline()
        except psutil.NoSuchProcess:
            continue
        out["python" if process == me else _kind_of(line)] += times.user + times.system
        if process != me:
            out["reaped"] += times.children_user + times.children_system
    return out


def cpu_since(before: dict[str, float]) -> dict[str, float]:
    """Return the CPU seconds used since `before`, by kind."""
    now = cpu_by_kind()
    return {kind: now.get(kind, 0.0) - before.get(kind, 0.0) for kind in before | now}


def _kind_of(line: list[str]) -> str:
    joined = " ".join(line)
    for part in ("renderer", "gpu-process", "utility", "zygote"):
        if f"--type={part}" in joined:
            return part
    return "node" if "node" in joined.split(" ")[0] else "browser"
