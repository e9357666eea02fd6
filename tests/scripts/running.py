"""Exported scripts as somebody runs them: against a server of their site, whole or without their last act."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
from source_tree import ROOT
from support.runs.commands import STEPMILL, environment

from generators.browser.chromium import find_chromium

WITHOUT_EFFECT = {"scroll", "wait", "hover"}
"""Actions that change nothing but what is in sight."""

_STEP = re.compile(r"^ *(#|//) Step [0-9]+: (?P<kind>\w+)$")
_END = re.compile(r"^ *(#|//) The end$")
_WORLD = re.compile(r"`stepmill worlds serve (?P<world>[a-z_]+/[0-9]+)`")


@contextlib.contextmanager
def serve_world(script: str) -> Iterator[str]:
    """Yield the address of the world that a script says it needs, served by the command that it names."""
    named = _WORLD.search(script)
    assert named is not None
    command = [*STEPMILL, "worlds", "serve", named["world"]]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().strip()
        finally:
            running.send_signal(signal.SIGINT)


@contextlib.contextmanager
def serve_ledger() -> Iterator[str]:
    """Yield the address of a ledger without entries."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, str(ROOT / "tests/sites/ledger.py"), str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        try:
            transport = httpx.HTTPTransport(retries=10)
            with httpx.Client(transport=transport) as client:
                client.post(f"{url}/reset?seed=0")
            yield url
        finally:
            running.terminate()


def script_environment(url: str, *, timeout_ms: int) -> dict[str, str]:
    """Return the environment that a script is run in, without the settings of whoever runs the tests."""
    own = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    said = {"BASE_URL": url, "CHROMIUM": str(find_chromium()), "TIMEOUT_MS": str(timeout_ms)}
    return {**own, **said}


def run_python(
    script: Path, url: str, *, timeout_ms: int = 30_000
) -> subprocess.CompletedProcess[str]:
    """Run a script in Python to its end."""
    return subprocess.run(
        [sys.executable, str(script)],
        env=script_environment(url, timeout_ms=timeout_ms),
        capture_output=True,
        text=True,
        check=False,
    )


def without_last_act(script: str) -> str:
    """Return a script without the last of its acts that has an effect."""
    lines = script.split("\n")
    steps = [number for number, line in enumerate(lines) if _STEP.match(line)]
    ends = [*steps[1:], next(n for n, line in enumerate(lines) if _END.match(line))]
    for first, end in reversed(list(zip(steps, ends, strict=True))):
        found = _STEP.match(lines[first])
        if found is not None and found["kind"] not in WITHOUT_EFFECT:
            return "\n".join([*lines[:first], *lines[end:]])
    raise AssertionError("the script does nothing")
