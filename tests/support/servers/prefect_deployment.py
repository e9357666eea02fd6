"""What `make prefect` starts, for tests to watch: its processes, its log and its server's API."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

import psutil
from source_tree import ROOT
from support.runs.commands import LOOK, SECONDS, environment, until
from support.servers.http_servers import free_ports
from support.servers.prefect_home import PATIENT

SOON = {
    "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "1",
    "PREFECT_WORKER_QUERY_SECONDS": "1",
}
"""A worker that asks for work more often than every ten seconds, and a server that lets it in sooner."""

ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}
"""States in which a flow run stays."""

_WORKER = ["-m", "prefect", "worker", "start"]

COMMAND = (sys.executable, "-m", "flows.orchestration.serve")
"""What `make prefect` runs."""


class Deployed:
    """A server, a pool, a worker and the deployments; all of it has ended when the context has."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        """Keep what it prints in `folder`; `settings` are variables of its environment."""
        port = str(free_ports(1)[0])
        own = {
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_SERVER_API_PORT": port,
            "PREFECT_API_URL": "",
        }
        self._environ = environment({**PATIENT, **SOON, **own, **(settings or {})})
        self._log = folder / "deployed.log"
        self.url = self._environ.get("PREFECT_API_URL") or f"http://127.0.0.1:{port}/api"
        self.process: subprocess.Popen[bytes]

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                COMMAND, cwd=ROOT, env=self._environ, stderr=log, start_new_session=True
            )
        try:
            until(lambda: self.process.poll() is not None or "interrupt to stop" in self.log)
            assert self.process.poll() is None, self.log
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            processes = self.processes
            os.killpg(self.process.pid, signal.SIGINT)
            code = self.process.wait(SECONDS)
            assert gone(processes), self.log
            assert code == 0, self.log

    @property
    def log(self) -> str:
        """What it printed."""
        return self._log.read_text("utf-8", "replace")

    @property
    def errors(self) -> list[str]:
        """The last lines of the tracebacks in its log, but for those of a machine that is busy.

        Then SQLite's lock is not to be had in time, and who asked the server asks again.
        """
        ends = re.findall(r"^[\s|]*((?:\w+\.)*\w*(?:Error|Exception)\b.*)$", self.log, re.MULTILINE)
        return [end for end in ends if "database is locked" not in end]

    @property
    def processes(self) -> list[psutil.Process]:
        """Everything below it."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def words(self) -> list[list[str]]:
        """Return the command lines of everything below it."""
        return [_words(one) for one in self.processes]

    def worker(self, *, other: psutil.Process | None = None) -> psutil.Process:
        """Wait for Prefect's worker, which is not the `other` one, and return it."""
        found = list[psutil.Process]()

        def there() -> bool:
            found[:] = [one for one in self.processes if _words(one)[1:5] == _WORKER]
            return bool(found) and found[0] != other

        until(there, every=LOOK)
        return found[0]

    def ask(self, path: str, question: object = None, verb: str = "") -> Any:
        """Ask its server; what is sent makes a POST of it, or another `verb`."""
        return ask(f"{self.url}/{path}", question, verb)

    def deployment(self, name: str) -> dict[str, Any]:
        """Return a deployment of ours as the server has it."""
        found: dict[str, Any] = self.ask(f"deployments/name/{name}")
        return found

    def begin(self, deployment: Mapping[str, Any], **parameters: object) -> str:
        """Ask for a flow run, and return its id."""
        path = f"deployments/{deployment['id']}/create_flow_run"
        run: str = self.ask(path, {"parameters": parameters})["id"]
        return run

    def run(self, deployment: Mapping[str, Any], **parameters: object) -> dict[str, Any]:
        """Ask for a flow run, and return it when it has ended."""
        return self.ended(self.begin(deployment, **parameters))

    def log_of(self, run: Mapping[str, Any], *, containing: str) -> str:
        """Return the log of a flow run, whose last lines come after its end, once it contains something."""
        said = [""]

        def there() -> bool:
            asked = {"logs": {"flow_run_id": {"any_": [run["id"]]}}, "sort": "TIMESTAMP_ASC"}
            said[0] = "\n".join(entry["message"] for entry in self.ask("logs/filter", asked))
            return containing in said[0]

        until(there, every=LOOK)
        return said[0]

    def on_schedule(self, *states: str) -> list[dict[str, Any]]:
        """Return the flow runs that the scheduler made and that are in one of these states, in their order."""
        runs = self.ask("flow_runs/filter", {"sort": "EXPECTED_START_TIME_ASC"})
        return [run for run in runs if run["auto_scheduled"] and run["state_type"] in states]

    def ended(self, run_id: str, *, seconds: float = SECONDS) -> dict[str, Any]:
        """Wait for the end of a flow run, and return it."""
        path = f"flow_runs/{run_id}"
        until(lambda: self.ask(path)["state_type"] in ENDED, every=LOOK, seconds=seconds)
        run: dict[str, Any] = self.ask(f"flow_runs/{run_id}")
        return run


def gone(processes: list[psutil.Process]) -> bool:
    """Wait for the end of processes, and say whether all have ended."""
    return psutil.wait_procs(processes, timeout=SECONDS)[1] == []


def ask(url: str, question: object = None, verb: str = "") -> Any:
    """Ask a server; what is sent makes a POST of it, or another `verb`.

    It is asked again while its database is busy (503), as Prefect's own client does; what changes nothing is asked
    again of a server that was killed and comes back.
    """
    data = None if question is None else json.dumps(question).encode()
    request = urllib.request.Request(  # noqa: S310 - loopback
        url, data=data, headers={"Content-Type": "application/json"}, method=verb or None
    )
    answers = list[bytes]()

    def answered() -> bool:
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as reply:  # noqa: S310
                answers.append(reply.read())
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
        except OSError:
            if request.get_method() != "GET":
                raise
        return bool(answers)

    until(answered, every=LOOK)
    return json.loads(answers[0]) if answers[0] else None


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
