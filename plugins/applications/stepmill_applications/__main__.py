"""`python -m stepmill_applications NAME`: write the tasks of an application into a task file."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from stepmill_applications.parts import APPLICATIONS


def main(arguments: Sequence[str]) -> int:
    """Write the file and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m stepmill_applications",
        description="Write tasks of an application.",
        epilog="Example: python -m stepmill_applications fossil --seeds 4 --out fossil.jsonl",
    )
    parser.add_argument("name", choices=tuple(APPLICATIONS), help="the application")
    parser.add_argument("--seed", type=int, default=0, help="the first to draw tasks of (0)")
    parser.add_argument("--seeds", type=int, default=1, help="how many, from there on (1)")
    parser.add_argument(
        "--out", type=Path, default=Path("tasks.jsonl"), help="the task file to write"
    )
    asked = parser.parse_args(arguments)
    application = APPLICATIONS[asked.name]
    rows = [
        task.row(site=application.name, origin=application.origin)
        for seed in range(asked.seed, asked.seed + asked.seeds)
        for task in application.draw_tasks(seed)
    ]
    lines = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    asked.out.write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
