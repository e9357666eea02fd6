"""The command line as a user runs it: a process of its own, and what it said."""

import io
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from pydantic import JsonValue
from source_tree import ROOT

from flows.cli.main import main

SECONDS = 200.0
"""How long a command may take on a busy machine."""

STEPMILL = (sys.executable, "-m", "flows.cli")
"""The command, however the package is installed."""

SMALL = (
    "--set=tasks.include=['click-test','click-button','enter-text']",
    "--set=tasks.seeds=[0,1]",
    "--set=tasks.unit_size=2",
    "--set=browser.sessions=3",
)
"""Six episodes in three units, which the teacher wins."""


UNREPLAYED = (
    "--set=verify.verifiers=['structure','outcome']",
    "--set=accept.passed=['structure','outcome']",
)
"""For runs in a browser of which something else is tested: a replay costs as much as an episode."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said and ended with."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, JsonValue]:
        """The JSON object of the last line of output, which must be the only one."""
        assert self.out.count("\n") == 1, self.out
        found: dict[str, JsonValue] = json.loads(self.out)
        return found


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment in which the packages are found from any folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **(more or {})}


def stepmill(
    *args: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> Said:
    """Run the command to its end, which it has to reach within so many seconds."""
    run = subprocess.run(
        [*STEPMILL, *args],
        cwd=cwd or ROOT,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Said(run.returncode, run.stdout, run.stderr)


def called(*args: str, env: Mapping[str, str] | None = None) -> Said:
    """Run the command in this process: the same, without the second that starting one takes."""
    out, err = io.StringIO(), io.StringIO()
    handlers = list(logging.getLogger().handlers)
    with patch.dict(os.environ, env or {}), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(args)
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        finally:
            logging.getLogger().handlers[:] = handlers
    return Said(code, out.getvalue(), err.getvalue())


def start(*args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [*STEPMILL, *args],
        cwd=ROOT,
        env=environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def interrupt(process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C: every process of the group is interrupted."""
    os.killpg(process.pid, signal.SIGINT)


def end(process: subprocess.Popen[str]) -> Said:
    """Wait for a started command to end."""
    out, err = process.communicate(timeout=SECONDS)
    return Said(process.returncode, out, err)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below `folder` with its bytes."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


GLANCE, LOOK = 0.05, 0.25
"""Seconds from one question to the next, where it costs nothing and where it is work."""


def until(happens: Callable[[], bool], *, every: float = GLANCE, seconds: float = SECONDS) -> None:
    """Wait until something happens; what is work to find out is asked at every `LOOK`."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, "it never happened"
        threading.Event().wait(every)
