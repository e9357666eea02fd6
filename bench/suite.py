"""What `make test` takes: wall-clock time, and the CPU of its whole process tree.

Two lines to hold, on two cores with nothing beside it: `CONTRIBUTING.md` states them. It runs the
tests as `make test` does; the set-up is done before. A run in which a test fails measures nothing.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from suite import CEILING_MINUTES, run

from bench.measuring.result import report

MAX_CPU_MINUTES = 2 * CEILING_MINUTES
"""Both cores all the time."""

FLAGS = ("-n", "4", "--dist", "loadfile", "--no-loadscope-reorder", "-q")
"""Those of `SPREAD` in the Makefile."""


def main() -> int:
    """Run the benchmark; the exit status says whether both lines are held."""
    ran = run([sys.executable, "-m", "pytest", *FLAGS])
    if ran.code:
        sys.stderr.write(f"the tests ended with {ran.code}: nothing is measured\n")
        return ran.code
    wall, cpu = ran.wall / 60, ran.cpu / 60
    held = wall <= CEILING_MINUTES and cpu <= MAX_CPU_MINUTES
    report(
        {
            "bench": "suite",
            "held": held,
            "wall_minutes": round(wall, 2),
            "max_wall_minutes": CEILING_MINUTES,
            "cpu_minutes": round(cpu, 2),
            "max_cpu_minutes": MAX_CPU_MINUTES,
            "load_before": round(ran.load, 2),
        }
    )
    return int(not held)


if __name__ == "__main__":
    sys.exit(main())
