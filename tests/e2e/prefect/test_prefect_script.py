"""Flows that a plain script awaits, without any server: they wait, and return what it came to."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import SECONDS, environment
from support.servers.prefect_home import ask_database, prefect_home

from flows.generate import generate
from flows.orchestration.served_flow import ServedFlow
from flows.orchestration.settings import PATIENCE
from flows.publish import publish
from flows.verify import verify

pytestmark = [pytest.mark.browser, pytest.mark.prefect, pytest.mark.timeout(600)]

SCRIPT = """
import asyncio, sys
from flows import generate, publish

async def main(run, to):
    report = await generate.generate(config="configs/smoke.toml", run=run)
    print(report.model_dump_json())
    print((await publish.publish(run, to)).model_dump_json())

asyncio.run(main(*sys.argv[1:]))
"""


def _scripted(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    own = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "PREFECT_API_URL": ""}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, f"{folder}/run-{{date}}", f"{folder}/data"],
        cwd=ROOT,
        env=environment(own | settings),
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )


def test_a_script_waits_for_flows_and_gets_their_reports(
    tmp_path: Path, shared_folder: Path
) -> None:
    home = prefect_home(shared_folder, tmp_path / "state" / "stepmill" / "prefect")

    done = _scripted(tmp_path)

    assert done.returncode == 0, done.stderr
    report, publication = map(json.loads, done.stdout.splitlines())
    assert (report["rolled_out"], report["summary"]["accepted"]) == (3, 3)
    assert Path(report["run"].removeprefix("file://")).parent == tmp_path
    assert publication["accepted"] == 3
    assert (tmp_path / "data" / "manifest.json").is_file()
    flow_runs = ask_database(home, "select state_type from flow_run")
    assert flow_runs == [("COMPLETED",), ("COMPLETED",)]


def test_a_script_waits_as_long_for_its_server_as_the_command_line(tmp_path: Path) -> None:
    done = _scripted(tmp_path, **{PATIENCE: "1"})

    assert done.returncode == 1
    assert f"gave no answer in 1 s; {PATIENCE}=2 gives it twice as long" in done.stderr


def test_every_flow_finds_a_server_for_itself_and_keeps_no_result() -> None:
    for flow in (generate, verify, publish):
        assert isinstance(flow, ServedFlow)
        assert flow.persist_result is False
