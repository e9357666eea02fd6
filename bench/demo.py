"""The demo as a whole: wall time and memory of `stepmill generate --config configs/demo.toml`.

Runs the demo into a temporary folder, as a user would after set-up, and samples the proportional
set size of everything it starts, browsers and servers included. Two lines to hold on two idle
cores: 180 seconds and 2 GB. A busy machine misses the first one; the result keeps the load.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.measuring.process import pss_mb
from bench.measuring.result import report

ROOT = Path(__file__).parents[1]
MAX_SECONDS = 180.0
MAX_MB = 2_000.0
SAMPLE_SECONDS = 2.0


def main() -> int:
    """Run the demo once; the exit status says whether both lines are held."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(ROOT / ".venv/bin/stepmill"),
            "generate",
            "--json",
            "--config",
            str(ROOT / "configs/demo.toml"),
            "--set",
            f"run.url={folder}/run",
            "--set",
            f'publish.to=["{folder}/dataset"]',
        ]
        begun, peak = time.perf_counter(), 0.0
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            while True:
                peak = max(peak, pss_mb(own=True, pid=running.pid))
                try:
                    out, _ = running.communicate(timeout=SAMPLE_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    continue
        seconds = time.perf_counter() - begun
    if running.returncode != 0:
        print(json.dumps({"bench": "demo", "held": False, "exit": running.returncode}))
        return 1
    result = json.loads(out.splitlines()[-1])
    held = seconds <= MAX_SECONDS and peak <= MAX_MB
    figures = {
        "bench": "demo",
        "seconds": round(seconds, 1),
        "max_seconds": MAX_SECONDS,
        "peak_pss_mb": round(peak),
        "max_pss_mb": MAX_MB,
        **{key: result[key] for key in ("episodes", "accepted", "steps", "steps_per_second")},
        "held": held,
    }
    report(figures)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
