"""Flows that a plain script awaits, without any server: they wait, and return what it came to."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from effort import THOROUGH
from source_tree import ROOT
from support.runs.commands import SECONDS, UNREPLAYED, environment, until
from support.servers.prefect_deployment import gone
from support.servers.prefect_home import PATIENT, ask_database, prefect_home

from flows.generate import generate
from flows.orchestration.served_flow import ServedFlow
from flows.orchestration.server import NoServer, embedded_server
from flows.orchestration.settings import HOME, PATIENCE
from flows.publish import publish
from flows.verify import verify

pytestmark = [pytest.mark.browser, pytest.mark.prefect, pytest.mark.timeout(600)]

SCRIPT = """
import asyncio, sys
from flows import generate, publish

async def main(run, to, *settings):
    report = await generate.generate(config="configs/smoke.toml", run=run, settings=list(settings))
    print(report.model_dump_json())
    if to:
        print((await publish.publish(run, to)).model_dump_json())

asyncio.run(main(*sys.argv[1:]))
"""

OWNER = """
import asyncio
from flows.orchestration.server import embedded_server

async def main():
    async with embedded_server():
        await asyncio.Event().wait()

asyncio.run(main())
"""

FEW = [setting.removeprefix("--set=") for setting in UNREPLAYED]
"""Settings of a run that is only made: what is published is replayed before."""


def _scripted(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    own = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "PREFECT_API_URL": ""}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, f"{folder}/run-{{date}}", *arguments],
        cwd=ROOT,
        env=environment(PATIENT | own | settings),
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )


@pytest.mark.full
def test_a_script_waits_for_a_flow_and_gets_its_report(tmp_path: Path, shared_folder: Path) -> None:
    home = prefect_home(shared_folder, tmp_path / "state" / "stepmill" / "prefect")
    arguments = (f"{tmp_path}/data",) if THOROUGH else ("", *FEW)

    done = _scripted(tmp_path, *arguments)

    assert done.returncode == 0, done.stderr
    report, *published = map(json.loads, done.stdout.splitlines())
    assert (report["rolled_out"], report["summary"]["accepted"]) == (3, 3)
    assert Path(report["run"].removeprefix("file://")).parent == tmp_path
    assert "{date}" not in report["run"]
    flow_runs = ask_database(home, "select state_type from flow_run")
    assert flow_runs == [("COMPLETED",)] * (1 + len(published))
    if THOROUGH:  # the second flow has a server of its own
        assert [one["accepted"] for one in published] == [3]
        assert (tmp_path / "data" / "manifest.json").is_file()


async def test_a_flow_waits_as_long_for_its_server_as_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {HOME: str(tmp_path), "PREFECT_API_URL": "", PATIENCE: "1"}.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(NoServer, match=f"gave no answer in 1 s; {PATIENCE}=2 gives it twice"):
        async with embedded_server():
            pytest.fail("it answered within a second")


async def test_a_server_that_ends_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {
        HOME: str(tmp_path),
        "PREFECT_API_URL": "",
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": "sqlite+aiosqlite:////no/such/folder/own.db",
    }
    for name, value in broken.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(NoServer, match=r"ended with code \d+: .*unable to open database file"):
        async with embedded_server():
            pytest.fail("it has a database")


def test_a_server_ends_with_whoever_was_killed(tmp_path: Path) -> None:
    own = {HOME: str(tmp_path), "PREFECT_API_URL": ""}
    owner = subprocess.Popen([sys.executable, "-c", OWNER], cwd=ROOT, env=environment(own))
    process = psutil.Process(owner.pid)
    until(lambda: bool(process.children()))
    servers = process.children()

    owner.kill()
    owner.wait()

    assert gone(servers)


@pytest.mark.full
def test_a_script_ends_where_no_server_answers(tmp_path: Path) -> None:
    done = _scripted(tmp_path, "", **{PATIENCE: "1"})

    assert done.returncode == 1
    assert f"gave no answer in 1 s; {PATIENCE}=2 gives it twice as long" in done.stderr


def test_every_flow_finds_a_server_for_itself_and_keeps_no_result() -> None:
    for flow in (generate, verify, publish):
        assert isinstance(flow, ServedFlow)
        assert flow.persist_result is False
