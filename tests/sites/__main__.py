"""Start one of the servers from any folder: `python tests/sites NAME --port 0` (`--help` for more)."""

import runpy
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NAMES = ("cua_gym_hub", "cua_bench", "webharbor")

if __name__ == "__main__":
    if len(sys.argv) == 1 or sys.argv[1] not in NAMES:
        sys.exit(f"the first argument is one of {', '.join(NAMES)}")
    sys.path[0] = str(FOLDER.parent)
    name = sys.argv.pop(1)
    runpy.run_module(f"sites.{name}", run_name="__main__")
