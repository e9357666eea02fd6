"""The figures of a bench: printed as one line of JSON, and kept in `bench/results/`.

A result says what was measured, on which commit, when and on which machine, so that
`docs/performance.md`, which is generated from these files, states no figure without its origin. A
bench that is given arguments measures something else than its standard case: it only prints, unless
it names the file that its result is to be kept in.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results"


def report(figures: Mapping[str, object], *, keep: str | None = None) -> None:
    """Print the figures of a bench, and keep those of its standard case.

    `keep` names the file of another case; None: the standard one's, if there are no arguments.
    """
    print(json.dumps(figures))
    name = keep or (str(figures["bench"]) if len(sys.argv) == 1 else None)
    if name is not None:
        write_result(RESULTS, name, figures)


def write_result(folder: Path, name: str, figures: Mapping[str, object]) -> Path:
    """Write a result with its origin; return its file."""
    folder.mkdir(exist_ok=True)
    target = folder / f"{name.replace(' ', '_')}.json"
    text = json.dumps({**origin(), **figures}, indent=2, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return target


def origin() -> dict[str, object]:
    """Return the commit, date and machine of a measurement that is made now."""
    return {
        "commit": _commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {_processor()}, "
        f"{psutil.virtual_memory().total / 2**30:.0f} GiB, {platform.system()}",
        "load_average": round(os.getloadavg()[0], 1),
    }


def _commit() -> str:
    """Return the short hash of the commit measured, with `+` if files differ from it."""
    git = ["git", "-C", str(ROOT)]
    try:
        commit = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=no", "--", ":!bench/results"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + ("+" if changed else "")


def _processor() -> str:
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        if line.startswith("model name")
    ]
    return names[0] if names else platform.machine()
