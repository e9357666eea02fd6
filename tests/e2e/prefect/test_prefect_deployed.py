"""What `make prefect` starts on a server of its own: deployments that run, nothing left behind.

On a server that is there already it is in `test_prefect_pages.py`.
"""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import psutil
import pytest
from source_tree import ROOT
from support.runs.commands import LOOK, SECONDS, called, end, environment, start, until
from support.servers.http_servers import free_ports
from support.servers.prefect_deployment import COMMAND, ENDED, Deployed, gone
from support.servers.prefect_home import SERVED, prefect_home

from flows.orchestration.settings import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.prefect, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def deployed(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Start what `make prefect` starts, once, in a new home; the last test kills it."""
    folder = tmp_path_factory.mktemp("deployed")
    prefect_home(shared_folder, folder / "prefect", SERVED)
    with Deployed(folder) as started:
        yield started


@pytest.mark.full
def test_deployments_run_to_their_ends_one_after_the_other(
    deployed: Deployed, tmp_path: Path
) -> None:
    run, dataset = f"{tmp_path}/run-{{date}}", f"{tmp_path}/dataset-{{date}}"
    nightly = deployed.deployment("generate/generate-nightly")
    verify = deployed.deployment("verify/verify")
    publish = deployed.deployment("publish/publish")

    made = deployed.run(nightly, config="configs/smoke.toml", run=run, settings=[])
    judged = deployed.run(verify, run=run, settings=["verify.verifiers=['structure']"])
    published = deployed.run(publish, run=run, to=dataset)

    day = made["expected_start_time"][:10]
    for ended in (made, judged, published):
        assert ended["state_type"] == "COMPLETED", ended["state"]
    assert "3 of 3 episodes accepted" in made["state"]["message"]
    assert (tmp_path / f"run-{day}" / "versions" / "2.json").is_file()
    assert (tmp_path / f"dataset-{day}" / "manifest.json").is_file()
    assert nightly["schedules"][0]["schedule"]["cron"] == "0 2 * * *"
    assert nightly["global_concurrency_limit"]["limit"] == 1
    assert verify["parameters"] == {"run": nightly["parameters"]["run"]}
    assert publish["parameters"]["run"] == nightly["parameters"]["run"]
    assert publish["parameters"]["to"] in nightly["parameters"]["settings"][1]
    assert "{date}" in publish["parameters"]["run"]


@pytest.mark.full
def test_a_schedule_fires_again_and_again(deployed: Deployed, tmp_path: Path) -> None:
    nightly = deployed.deployment("generate/generate-nightly")
    of_nightly = f"deployments/{nightly['id']}"
    few = ["tasks.include=['click-test']", "tasks.seeds=[0,0]"]
    parameters = {"config": "configs/smoke.toml", "run": f"{tmp_path}/run", "settings": few}
    deployed.ask(of_nightly, {"parameters": parameters}, "PATCH")
    often = {"active": True, "schedule": {"cron": "* * * * * */15"}}
    [schedule] = deployed.ask(f"{of_nightly}/schedules", [often])

    until(lambda: len(deployed.on_schedule("COMPLETED")) >= 2 or bool(deployed.errors), every=LOOK)

    deployed.ask(f"{of_nightly}/schedules/{schedule['id']}", verb="DELETE")
    deployed.ask(of_nightly, {"parameters": nightly["parameters"]}, "PATCH")
    assert deployed.errors == []


@pytest.mark.full
def test_a_borrowed_server_keeps_what_was_set_there(deployed: Deployed, tmp_path: Path) -> None:
    nightly = deployed.deployment("generate/generate-nightly")
    of_nightly = f"deployments/{nightly['id']}"
    deployed.ask("work_pools/local", {"concurrency_limit": 3, "description": "ours"}, "PATCH")
    paused = f"{of_nightly}/schedules/{nightly['schedules'][0]['id']}"
    deployed.ask(paused, {"active": False}, "PATCH")
    deployed.ask(f"{of_nightly}/schedules", [{"active": True, "schedule": {"cron": "5 5 * * *"}}])
    deployed.ask(f"{of_nightly}/pause_deployment", {})

    with Deployed(tmp_path, {"PREFECT_API_URL": deployed.url}) as borrower:
        assert "is paused and stays so" in borrower.log
    pool = deployed.ask("work_pools/local")
    after = deployed.deployment("generate/generate-nightly")
    deployed.ask(f"{of_nightly}/resume_deployment", {})

    assert (pool["concurrency_limit"], pool["description"]) == (3, "ours")
    schedules = {one["schedule"]["cron"]: one["active"] for one in after["schedules"]}
    assert schedules == {"0 2 * * *": False, "5 5 * * *": True}
    assert after["paused"] is True


@pytest.mark.full
def test_a_killed_worker_is_started_again_and_leaves_nothing(
    deployed: Deployed, tmp_path: Path
) -> None:
    nightly = deployed.deployment("generate/generate-nightly")
    many = ["tasks.include=['click-*']", "tasks.seeds=[0,9]"]
    begun = deployed.begin(
        nightly, config="configs/smoke.toml", run=f"{tmp_path}/long", settings=many
    )
    until(lambda: any("--headless" in one for one in deployed.words()), every=LOOK)
    worker = deployed.worker()
    left = worker.children(recursive=True)

    worker.kill()

    assert gone(left), "the flow's processes go on"
    deployed.worker(other=worker)
    assert "the worker ended with code 137; starting it again in 1 s" in deployed.log
    deployed.ask(f"flow_runs/{begun}/set_state", {"state": {"type": "CRASHED"}, "force": True})
    verify = deployed.deployment("verify/verify")
    assert deployed.run(verify, run=f"{tmp_path}/nowhere")["state_type"] == "FAILED"

    worker = deployed.worker()
    tie = worker.parent()
    assert tie is not None
    for one in (tie, worker):
        one.kill()
    deployed.worker(other=worker)

    left = deployed.processes
    deployed.process.kill()
    assert gone(left), "something outlives `make prefect`"


@pytest.mark.full
@pytest.mark.timeout(2_400)
def test_a_night_whose_server_worker_and_process_are_killed_ends_whole_and_published(
    deployed: Deployed, tmp_path: Path
) -> None:
    nightly = deployed.deployment("generate/generate-nightly")
    many = ["tasks.seeds=[0,1]", "browser.sessions=2", f"publish.to=['{tmp_path / 'data'}']"]
    run = deployed.begin(nightly, config="configs/demo.toml", run=f"{tmp_path}/run", settings=many)

    def is_running(starts: int) -> bool:
        now = deployed.ask(f"flow_runs/{run}")
        assert now["state_type"] not in {"COMPLETED", "FAILED", "CANCELLED"}, now["state"]
        return bool(now["state_name"] == "Running" and now["run_count"] >= starts)

    until(lambda: is_running(1), every=LOOK)
    until(lambda: any((tmp_path / "run").glob("tables/episodes/*.parquet")), every=LOOK)
    for part in ("server", "worker", "prefect.engine"):
        starts = 2 if part == "prefect.engine" else 1
        until(partial(is_running, starts), every=LOOK, seconds=1_200)
        for one in deployed.processes:
            if part in _words(one)[1:5]:
                one.kill()
    until(lambda: is_running(3), every=LOOK, seconds=1_200)

    ended = deployed.ended(run, seconds=1_200)
    assert ended["state_type"] == "COMPLETED", ended["state"]
    assert str(tmp_path / "data") in ended["state"]["message"]
    assert called("audit", str(tmp_path / "run"), "--deep", "--json").code == 0
    assert (tmp_path / "data" / "manifest.json").is_file()


@pytest.mark.full
def test_a_cancelled_night_leaves_itself_and_its_units_cancelled(
    deployed: Deployed, tmp_path: Path
) -> None:
    nightly = deployed.deployment("generate/generate-nightly")
    many = ["tasks.seeds=[0,9]", "browser.sessions=2"]
    run = deployed.begin(nightly, config="configs/demo.toml", run=f"{tmp_path}/run", settings=many)
    until(lambda: any((tmp_path / "run").glob("spool/*/*")), every=LOOK)
    before = len(deployed.log)

    deployed.ask(f"flow_runs/{run}/set_state", {"state": {"type": "CANCELLING"}})
    ended = deployed.ended(run)
    units = deployed.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [run]}}})

    assert ended["state_type"] == "CANCELLED", ended["state"]
    assert {unit["state_type"] for unit in units} <= {"CANCELLED", "COMPLETED"}
    assert any(unit["state_type"] == "CANCELLED" for unit in units)
    assert "| ERROR" not in deployed.log[before:]


@pytest.mark.full
def test_of_missed_nights_the_last_one_is_made(deployed: Deployed, tmp_path: Path) -> None:
    nightly = deployed.deployment("generate/generate-nightly")
    of_nightly = f"deployments/{nightly['id']}"
    few = ["tasks.include=['click-test']", "tasks.seeds=[0,0]"]
    given = {"config": "configs/smoke.toml", "run": f"{tmp_path}/{{time}}", "settings": few}
    deployed.ask(of_nightly, {"parameters": given}, "PATCH")
    deployed.ask("work_pools/local", {"is_paused": True}, "PATCH")
    often = {"active": True, "schedule": {"cron": "* * * * * */10", "timezone": "Asia/Tokyo"}}
    [schedule] = deployed.ask(f"{of_nightly}/schedules", [often])
    until(lambda: len(deployed.on_schedule("SCHEDULED")) >= 3, every=LOOK)
    due = deployed.on_schedule("SCHEDULED")[2]["expected_start_time"]
    until(lambda: _now() > due, every=LOOK)

    deployed.ask("work_pools/local", {"is_paused": False}, "PATCH")
    made = list[dict[str, Any]]()

    def one_is_made() -> bool:
        made[:] = [
            one for one in deployed.on_schedule("COMPLETED") if one["state_name"] != "Skipped"
        ]
        return bool(made)

    until(one_is_made, every=LOOK)
    deployed.ask(f"{of_nightly}/schedules/{schedule['id']}", verb="DELETE")
    deployed.ask(of_nightly, {"parameters": nightly["parameters"]}, "PATCH")

    when = made[0]["expected_start_time"]
    earlier = [one for one in deployed.on_schedule(*ENDED) if one["expected_start_time"] < when]
    assert len(earlier) >= 2
    assert {one["state_name"] for one in earlier} == {"Skipped"}
    local = datetime.fromisoformat(when).astimezone(ZoneInfo("Asia/Tokyo"))
    assert (tmp_path / f"{local:%Y-%m-%dT%H-%M-%S}" / "run.json").is_file()


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _served(port: int, home: Path, **settings: str) -> dict[str, str]:
    own = {"PREFECT_HOME": str(home), "PREFECT_SERVER_API_PORT": str(port), "PREFECT_API_URL": ""}
    return environment(own | settings)


@pytest.mark.full
def test_a_start_that_takes_too_long_names_what_lengthens_it(tmp_path: Path) -> None:
    environ = _served(free_ports(1)[0], tmp_path, **{PATIENCE: "1"})

    done = subprocess.run(
        COMMAND, cwd=ROOT, env=environ, capture_output=True, timeout=SECONDS, check=False
    )

    assert done.returncode == 2
    assert f"gave no answer in 1 s; {PATIENCE}=2 gives it twice as long" in done.stderr.decode()


def test_a_limit_that_is_no_number_of_seconds_is_refused(tmp_path: Path) -> None:
    environ = _served(free_ports(1)[0], tmp_path, **{PATIENCE: "soon"})

    done = subprocess.run(
        COMMAND, cwd=ROOT, env=environ, capture_output=True, timeout=SECONDS, check=False
    )

    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert f"{PATIENCE}: expected whole seconds, at least 1; got 'soon'" in done.stderr.decode()


def test_a_port_where_another_server_listens_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        environ = _served(taken.getsockname()[1], tmp_path)
        done = subprocess.run(
            COMMAND, cwd=ROOT, env=environ, capture_output=True, timeout=SECONDS, check=False
        )

    assert done.returncode == 2
    assert "cannot be listened at" in done.stderr.decode()
    assert "PREFECT_API_URL" in done.stderr.decode()


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    code = f"import subprocess; subprocess.run({COMMAND!r})"
    starter = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=_served(free_ports(1)[0], tmp_path)
    )
    processes = _begun(starter)

    starter.kill()
    starter.wait()

    assert gone(processes)


def test_it_ends_when_it_is_interrupted(tmp_path: Path) -> None:
    starter = subprocess.Popen(
        COMMAND,
        cwd=ROOT,
        env=_served(free_ports(1)[0], tmp_path),
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    processes = _begun(starter)

    starter.send_signal(signal.SIGINT)
    _, said = starter.communicate(timeout=SECONDS)

    assert starter.returncode == 0
    assert said.decode().endswith("stopped\n")
    assert gone(processes)


def _begun(starter: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Wait until Prefect's server is being started; return the processes below the one that has begun."""
    below = psutil.Process(starter.pid)
    until(lambda: any("server" in one for one in map(_words, below.children(recursive=True))))
    return below.children(recursive=True)


@pytest.mark.full
def test_no_server_and_no_browser_outlives_a_killed_command(
    shared_folder: Path, tmp_path: Path
) -> None:
    home, run = prefect_home(shared_folder, tmp_path / "home"), tmp_path / "run"
    many = ("--set=tasks.include=['click-*']", "--set=tasks.seeds=[0,9]")
    env = {"PREFECT_HOME": str(home), "PREFECT_API_URL": ""}
    running = start("generate", "--json", *many, f"--run={run}", env=env)
    below = psutil.Process(running.pid)

    def at_work() -> bool:
        words = {word for one in below.children(recursive=True) for word in _words(one)}
        spooled = any(run.glob("spool/*/*")) or (run / "tables").exists()
        return spooled and words >= {"flows.orchestration.server_process", "--headless"}

    until(at_work, every=LOOK)
    children = below.children(recursive=True)

    running.kill()
    end(running)

    assert gone(children)
    assert len(children) > 3


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
