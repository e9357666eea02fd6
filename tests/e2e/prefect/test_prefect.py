"""Runs as Prefect sees them on an embedded server."""

import subprocess
from pathlib import Path

import psutil
import pytest
from support.inputs.secrets_search import Hoard, files
from support.runs.commands import LOOK, SMALL, UNREPLAYED, called, end, start, stepmill, until
from support.servers.prefect_home import ask_database, prefect_home

pytestmark = [pytest.mark.browser, pytest.mark.prefect, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def home(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Prefect home for all tests of this module."""
    return prefect_home(shared_folder, tmp_path_factory.mktemp("prefect") / "home")


def _environment(home: Path) -> dict[str, str]:
    return {"PREFECT_HOME": str(home), "PREFECT_API_URL": ""}


def test_a_run_is_a_flow_run_with_a_task_run_for_each_unit(home: Path, tmp_path: Path) -> None:
    run, secret = tmp_path / "run", "planted-password"
    unused = f"--set=engine.urls=['http://me:{secret}@engine:8000/v1']"

    flags = (*SMALL, *UNREPLAYED, unused, f"--run={run}")
    said = stepmill("generate", "--json", *flags, env=_environment(home))

    assert said.code == 0, said.err
    assert said.answer["accepted"] == 6
    assert "Traceback" not in said.err
    assert "prefect." not in said.err.lower()
    assert ask_database(home, "select state_type from flow_run") == [("COMPLETED",)]
    units = ask_database(home, "select name, state_type from task_run")
    assert len(units) == 3
    assert {state for _, state in units} == {"COMPLETED"}
    assert all(str(name).startswith("unit-") for name, _ in units)
    artifacts = ask_database(home, "select key, type, data from artifact")
    assert {(key, kind) for key, kind, _ in artifacts} == {
        ("generate-progress", "progress"),
        ("generate-summary", "table"),
    }
    assert [data for key, _, data in artifacts if key == "generate-progress"] == [100]
    [(parameters,)] = ask_database(home, "select parameters from flow_run")
    assert "http://***@engine:8000/v1" in str(parameters)
    assert Hoard([secret]).found(files(home, run)) == []


def test_judging_and_publishing_are_flow_runs_too(home: Path, tmp_path: Path) -> None:
    run, env = tmp_path / "run", _environment(home)
    few = ("--set=tasks.include=['click-test']", "--set=tasks.seeds=[0,1]")
    assert called("generate", "--no-prefect", *few, *UNREPLAYED, f"--run={run}").code == 0

    judged = stepmill("verify", str(run), "--verifiers=structure", "--json", env=env)
    published = stepmill("publish", str(run), f"--to={tmp_path / 'data'}", "--json", env=env)

    assert (judged.code, published.code) == (0, 0), judged.err + published.err
    runs = ask_database(
        home,
        "select flow.name, flow_run.state_type from flow_run join flow on flow.id = flow_run.flow_id"
        " where flow.name != 'generate'",
    )
    assert sorted(map(str, runs)) == ["('publish', 'COMPLETED')", "('verify', 'COMPLETED')"]
    assert ("publication", "COMPLETED") in ask_database(
        home, "select name, state_type from task_run"
    )


def test_no_server_and_no_browser_outlives_a_killed_command(home: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    many = ("--set=tasks.include=['click-*']", "--set=tasks.seeds=[0,9]")
    running = start("generate", "--json", *many, f"--run={run}", env=_environment(home))
    until(
        lambda: (
            _below(running) >= {"flows.orchestration.server_process", "--headless"}
            and _spooled(run)
        ),
        every=LOOK,
    )
    children = psutil.Process(running.pid).children(recursive=True)

    running.kill()
    end(running)

    gone, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
    assert len(gone) > 3


def _below(running: subprocess.Popen[str]) -> set[str]:
    """Return every word of the command lines of a process's descendants."""
    words: set[str] = set()
    for child in psutil.Process(running.pid).children(recursive=True):
        try:
            words.update(child.cmdline())
        except psutil.Error:
            continue
    return words


def _spooled(run: Path) -> bool:
    return any(run.glob("spool/*/*")) or (run / "tables").exists()
