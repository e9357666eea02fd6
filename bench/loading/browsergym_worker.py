"""One environment of BrowserGym on a MiniWoB++ task, in an interpreter of its own: `python browsergym_worker.py TASK STEPS CHROMIUM`.

Needs `browsergym-miniwob` and `psutil`. It waits for neither a slow motion nor a delay before the observation, which are
the defaults, so that its own work is all that is measured. BrowserGym starts a second browser for its chat window and
takes no path to a browser there, so what starts one is wrapped. Lines of JSON: once it is reset, and at the end; between
the two it waits for a line of standard input.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import psutil


def tree() -> list[psutil.Process]:
    """Return this process and all below it."""
    return [psutil.Process(), *psutil.Process().children(recursive=True)]


def cpu() -> float:
    """Return the CPU seconds that they have used."""
    return sum(sum(each.cpu_times()[:2]) for each in tree())


def pss_mb() -> float:
    """Return the memory that they have, shared pages in proportion, MB."""
    total = 0
    for each in tree():
        lines = Path(f"/proc/{each.pid}/smaps_rollup").read_text("ascii").splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1_024


def use_chromium(path: str) -> None:
    """Have every browser that is started be this one, without a sandbox."""
    kind = importlib.import_module("playwright.sync_api").BrowserType
    launch = kind.launch

    def launch_this(self: Any, **given: Any) -> Any:
        flags = [*(given.pop("args", None) or ()), "--no-sandbox", "--disable-gpu"]
        return launch(self, **{"executable_path": path, **given}, args=flags)

    kind.launch = launch_this


def make(task: str) -> Any:
    """Return the environment, with actions as BrowserGym's own agents give them."""
    importlib.import_module("browsergym.miniwob")
    actions = importlib.import_module("browsergym.core.action.highlevel").HighLevelActionSet
    known = actions(["bid", "coord"], multiaction=False, strict=False)
    return importlib.import_module("gymnasium").make(
        f"browsergym/miniwob.{task}",
        action_mapping=known.to_python_code,
        slow_mo=0,
        pre_observation_delay=0.0,
    )


def main(task: str, steps: str, chromium: str) -> None:
    """Reset, wait for the word, step, and tell what that took."""
    use_chromium(chromium)
    env = make(task)
    begun, used = time.perf_counter(), cpu()
    env.reset(seed=1)
    first = time.perf_counter() - begun, cpu() - used
    begun, used = time.perf_counter(), cpu()
    env.reset(seed=2)
    again = time.perf_counter() - begun, cpu() - used
    print(json.dumps({"first": first, "again": again}), flush=True)
    sys.stdin.readline()
    begun, used, errors = time.perf_counter(), cpu(), 0
    seen: dict[str, Any] = {}
    for step in range(int(steps)):
        seen, _, over, cut, _ = env.step(f"mouse_click({24}, {90 + 22 * (step % 5)})")
        errors += bool(seen["last_action_error"]) or over or cut
    told = {
        "seconds": time.perf_counter() - begun,
        "cpu": cpu() - used,
        "pss_mb": pss_mb(),
        "errors": errors,
        "holds": sorted(seen),
        "picture": list(seen["screenshot"].shape),
    }
    print(json.dumps(told), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
