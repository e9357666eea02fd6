"""What can be said of Prefect's surroundings without starting it."""

import importlib
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from prefect.server.concurrency.lease_storage import ConcurrencyLeaseStorage
from prefect.server.events.ordering import PRECEDING_EVENT_LOOKBACK
from pydantic import TypeAdapter
from source_tree import ROOT
from support.runs.commands import SECONDS, environment, until

from flows.orchestration.settings import (
    PATIENCE,
    QUIET,
    SILENT,
    patience,
    private_home,
    set_up,
)
from schemas.errors import Refusal


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be a user with an empty home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return tmp_path


@pytest.mark.usefixtures("user")
def test_what_the_user_set_stands() -> None:
    environ = {"PREFECT_LOGGING_LEVEL": "DEBUG", "PREFECT_HOME": "/mine"}

    set_up(environ, silent=True)

    assert environ == {**QUIET, **SILENT, "PREFECT_LOGGING_LEVEL": "DEBUG", "PREFECT_HOME": "/mine"}


@pytest.mark.usefixtures("user")
def test_the_places_that_flow_runs_hold_outlive_the_server() -> None:
    environ: dict[str, str] = {}
    set_up(environ, silent=False)

    module = importlib.import_module(environ["PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE"])

    assert issubclass(module.ConcurrencyLeaseStorage, ConcurrencyLeaseStorage)
    assert module.__name__.endswith(".filesystem")


@pytest.mark.usefixtures("user")
def test_what_an_automation_waits_for_outlives_an_event_that_is_held_back() -> None:
    environ: dict[str, str] = {}
    set_up(environ, silent=False)

    kept = environ["PREFECT_SERVER_EVENTS_EXPIRED_BUCKET_BUFFER"]

    assert TypeAdapter(timedelta).validate_python(kept) > PRECEDING_EVENT_LOOKBACK


def test_prefect_has_a_home_that_no_other_program_uses(user: Path) -> None:
    environ: dict[str, str] = {}

    set_up(environ, silent=True)

    assert environ["PREFECT_HOME"] == str(user / ".local" / "state" / "stepmill" / "prefect")


def test_a_user_with_profiles_keeps_them(user: Path) -> None:
    (user / ".prefect").mkdir()
    (user / ".prefect" / "profiles.toml").write_text("", encoding="utf-8")
    environ: dict[str, str] = {}

    set_up(environ, silent=True)

    assert "PREFECT_HOME" not in environ


def test_a_home_that_cannot_be_written_is_replaced_for_once(user: Path) -> None:
    (user / ".local").write_text("in the way", encoding="utf-8")

    home = private_home({})

    assert home.is_dir()
    home.rmdir()


def test_a_server_may_take_long_to_start_and_longer_if_somebody_says_so() -> None:
    assert patience({}) == 120
    assert patience({"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300"}) == 300


@pytest.mark.parametrize("value", ["soon", "0", "-1", "1.5"])
def test_a_limit_that_is_no_number_of_seconds_is_refused(value: str) -> None:
    with pytest.raises(Refusal, match=f"{PATIENCE}: expected whole seconds, at least 1; .*{value}"):
        patience({PATIENCE: value})


def test_a_tied_command_ends_with_whoever_started_it() -> None:
    code = """
import subprocess, sys
subprocess.Popen([sys.executable, "-m", "generators.parent_guard", "sleep", "300"], stdin=subprocess.PIPE)
print("started", flush=True)
sys.stdin.read()
"""
    owner = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    until(lambda: len(psutil.Process(owner.pid).children(recursive=True)) == 2)
    children = psutil.Process(owner.pid).children(recursive=True)

    owner.kill()
    owner.communicate()

    _, alive = psutil.wait_procs(children, timeout=SECONDS)
    assert alive == []


LEAVING = """
import signal, subprocess, sys, threading
if sys.argv[1] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "300"], start_new_session=True)
subprocess.Popen(["sh", "-c", "setsid sleep 300 & wait"], start_new_session=True)
threading.Event().wait(300)
"""
"""Starts processes in sessions of their own; what it ignores they ignore too."""


@pytest.mark.parametrize("temper", ["docile", "stubborn"])
@pytest.mark.parametrize("killed", ["owner", "command"])
def test_what_a_tied_command_started_elsewhere_ends_with_it(killed: str, temper: str) -> None:
    tied = [sys.executable, "-m", "generators.parent_guard", sys.executable, "-c", LEAVING, temper]
    owner = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess as s; s.Popen({tied}, stdin=s.PIPE).wait()"],
        cwd=ROOT,
        env=environment(),
    )
    until(lambda: _sleeping(owner) == 2)
    processes = psutil.Process(owner.pid).children(recursive=True)

    victim = owner.pid if killed == "owner" else processes[0].children()[0].pid
    psutil.Process(victim).kill()

    assert owner.wait(SECONDS) == (-9 if killed == "owner" else 0)
    _, alive = psutil.wait_procs(processes, timeout=SECONDS)
    assert alive == []
    assert len(processes) == 5


def _sleeping(owner: subprocess.Popen[bytes]) -> int:
    children = psutil.Process(owner.pid).children(recursive=True)
    return sum(child.name() == "sleep" for child in children)


def test_a_tied_command_ends_with_its_own_code() -> None:
    command = [
        sys.executable,
        "-m",
        "generators.parent_guard",
        sys.executable,
        "-c",
        "raise SystemExit(7)",
    ]

    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE) as tied:
        assert tied.wait(60) == 7


def test_the_module_that_engines_clients_look_at_is_whole_before_prefect_is_loaded() -> None:
    code = """
import asyncio, importlib.abc, os, sys
from flows.orchestration.observed_flow import observe_flow

class Looking(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "prefect":
            os.write(1, str(hasattr(sys.modules.get("httpx"), "Timeout")).encode())
            os._exit(0)

async def main():
    async with observe_flow("flows.generate", {}):
        await asyncio.sleep(60)

sys.meta_path.insert(0, Looking())
asyncio.run(main())
"""
    seen = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )

    assert seen.stdout == "True", seen.stderr
