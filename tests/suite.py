"""Runs the tests for `make test`, `make test-full` and `make test-apps`, and says what the run took.

    python tests/suite.py test [PYTEST FLAG …]
    python tests/suite.py full [--shards N] [--only K] [PYTEST FLAG …]
    python tests/suite.py apps [--only NAME] [PYTEST FLAG …]

All print the wall-clock time and the CPU of the whole process tree: this process adopts every
orphan below it, so that the time of each ended process reaches it in the end. `test` warns where
the run was longer than the ceiling that `CONTRIBUTING.md` states. `full` runs everything at its
large size, in shards of about the same length by the kept durations, and remembers the shards that
have passed on this tree: the same command again goes on where the last one stopped. `apps` does so with
the applications of `configs/apps.toml`, each of which it installs first.
"""

import argparse
import contextlib
import ctypes
import hashlib
import os
import resource
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
DURATIONS = ROOT / "tests" / "durations.json"
"""Seconds by test, as `pytest-split` keeps them; `--store-durations` measures them anew."""

PASSED = ROOT / ".pytest_cache" / "full"
"""Where a file stands for each shard or application that has passed, in a folder named after the tree."""

APPLICATIONS = ROOT / "configs" / "apps.toml"
"""The run with the applications that `apps` goes through."""

APPLICATION_TESTS = "plugins/applications/tests/apps"
"""The tests of one."""

CEILING_MINUTES = 8.0
"""How long `make test` may take on two idle cores; `CONTRIBUTING.md` states it."""

SHARDS = 24

END_SECONDS = 5.0
"""How long what pytest leaves behind may take to end."""

_NO_TESTS = 5
"""pytest's exit code where a shard of few tests is empty."""

_ADOPT_ORPHANS = 36
"""The number of `PR_SET_CHILD_SUBREAPER`, see prctl(2)."""


@dataclass(frozen=True)
class Run:
    """What a run of pytest came to."""

    code: int
    """pytest's exit code."""
    wall: float
    """Seconds."""
    cpu: float
    """Seconds, of every process below this one, ended ones and orphans too."""
    load: float
    """The load average of a minute, before it began."""

    def sentence(self) -> str:
        """Return what a person reads of it."""
        return (
            f"{self.wall / 60:.1f} minutes; {self.cpu / 60:.1f} CPU-minutes of the whole process tree"
            f" (load {self.load:.1f} before, {os.cpu_count()} cores)"
        )


def run(command: Sequence[str], *, full: bool = False) -> Run:
    """Run a command to its end, and name what goes on after that."""
    ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    load, began, spent = os.getloadavg()[0], time.monotonic(), _cpu()
    # Without bytecode every process that a test starts compiles what it imports.
    environment = {name: it for name, it in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if full:
        environment["STEPMILL_TESTS"] = "full"
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    while True:
        try:
            pid, status = os.wait()
        except KeyboardInterrupt:
            continue  # pytest heard it too, and ends
        if pid == process.pid:
            break
    process.returncode = os.waitstatus_to_exitcode(status)
    _, left = psutil.wait_procs(psutil.Process().children(), timeout=END_SECONDS)
    for one in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            _say(f"left behind: {' '.join(one.cmdline())[:100]}")
            spent -= sum(one.cpu_times())
    return Run(process.returncode, time.monotonic() - began, _cpu() - spent, load)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tree(asked: str) -> str:
    """Return a name of what is in the checkout, as git sees it, and of what was asked of it."""
    digest = hashlib.sha256(asked.encode())
    for command in (("rev-parse", "HEAD"), ("diff", "HEAD"), ("status", "--porcelain")):
        shown = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, check=True)
        digest.update(shown.stdout)
    return digest.hexdigest()[:16]


def run_small(flags: Sequence[str]) -> int:
    """Run every test at its small size; return pytest's exit code."""
    ran = run([sys.executable, "-m", "pytest", *flags])
    _say(f"make test: {ran.sentence()}")
    if ran.wall > 60 * CEILING_MINUTES:
        _say(
            f"make test: WARNING: expected at most {CEILING_MINUTES:.0f} minutes on two idle cores; "
            "move what is larger to `make test-full`, and leave at most 20 s of it here"
        )
    return ran.code


def run_full(shards: int, only: str | None, flags: Sequence[str]) -> int:
    """Run every test at its large size, shard by shard; return 1 if one has failed."""
    asked = {str(shard): _split(shards, shard) for shard in range(1, shards + 1)}
    chosen = _chosen(asked, only, f"1 to {shards}")
    passed = PASSED / _tree(f"{shards} {flags}")

    def one(shard: str) -> Run:
        return run([sys.executable, "-m", "pytest", *asked[shard], *flags], full=True)

    return _run_each(f"make test-full: shard {{}} of {shards}", chosen, one, passed)


def run_applications(only: str | None, flags: Sequence[str]) -> int:
    """Install each application and run its tests; return 1 if one has failed."""
    names = tuple(tomllib.loads(APPLICATIONS.read_text(encoding="utf-8"))["sites"])
    chosen = _chosen(names, only, ", ".join(names))
    passed = PASSED / _tree(f"apps {flags}")

    def one(name: str) -> Run:
        installed = run([str(Path(sys.executable).with_name("stepmill")), "sites", "install", name])
        tests = ("pytest", APPLICATION_TESTS, f"--application={name}")
        return installed if installed.code else run([sys.executable, "-m", *tests, *flags])

    return _run_each("make test-apps: {}", chosen, one, passed)


def _run_each(what: str, chosen: Sequence[str], one: Callable[[str], Run], passed: Path) -> int:
    """Run those that have not passed, and remember which do; return 1 if one has failed."""
    passed.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    for name in chosen:
        if (passed / name).exists():
            _say(f"{what.format(name)} has passed before on this tree")
            continue
        ran = one(name)
        _say(f"{what.format(name)}: {ran.sentence()}")
        if ran.code not in {0, _NO_TESTS}:
            failed.append(name)
        else:
            (passed / name).touch()
    if failed:
        _say(f"{what.partition(':')[0]}: failed: {', '.join(failed)}; `--only` runs one again")
    return int(bool(failed))


def _chosen(names: Collection[str], only: str | None, takes: str) -> list[str]:
    if only is None:
        return list(names)
    if only not in names:
        raise SystemExit(f"suite: --only takes {takes}, got {only}")
    return [only]


def _split(shards: int, shard: int) -> list[str]:
    return [f"--splits={shards}", f"--group={shard}", f"--durations-path={DURATIONS}"]


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> int:
    """Run what was asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", choices=("test", "full", "apps"))
    parser.add_argument("--shards", type=int, default=SHARDS)
    parser.add_argument("--only", help="the number of one shard, from 1, or an application")
    given, flags = parser.parse_known_args()
    if given.size == "full":
        return run_full(given.shards, given.only, flags)
    if given.size == "apps":
        return run_applications(given.only, flags)
    return run_small(flags)


if __name__ == "__main__":
    sys.exit(main())
