"""`make audit-deps` stops where a lock has a package with a known vulnerability, or cannot be looked up.

The database of vulnerabilities is a server on loopback that answers as OSV's does (`POST /v1/query`), and as npm's
registry does for the packages of worlds.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from source_tree import ROOT

LOCK = "requirements/uv.txt"


@contextmanager
def database(vulnerable: str) -> Iterator[str]:
    """Serve a database that knows one vulnerable package; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told = self.of_npm(asked) if self.path.endswith("/bulk") else self.of_osv(asked)
            body = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def of_osv(self, asked: dict[str, Any]) -> dict[str, Any]:
            package = asked["package"]
            events = [{"introduced": "0"}, {"fixed": "99.0"}]
            affected = {"package": package, "ranges": [{"type": "ECOSYSTEM", "events": events}]}
            known = {"id": "PYSEC-0-1", "summary": "It reads too much.", "affected": [affected]}
            return {"vulns": [known]} if package["name"] == vulnerable else {}

        def of_npm(self, asked: dict[str, Any]) -> dict[str, Any]:
            known = {"url": "https://advisories.example/1", "title": "It too.", "severity": "low"}
            return {name: [known] for name in asked if name == vulnerable}

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def audit(address: str) -> subprocess.CompletedProcess[str]:
    """Look one lock's packages up."""
    return subprocess.run(
        ["make", "-s", "audit-deps", f"LOCKS={LOCK}", f"AUDIT=-s osv --osv-url {address}/v1/query"],
        cwd=ROOT,
        env={**os.environ, "NPM_CONFIG_REGISTRY": address},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("vulnerable", "code", "said", "stopped_by"),
    [
        ("uv", 2, "PYSEC-0-1", LOCK),
        ("bootstrap", 2, "bootstrap: low: It too.", "packages.json"),
        pytest.param("another", 0, "", "", marks=pytest.mark.full),
    ],
)
def test_a_vulnerable_package_of_a_lock_is_named(
    vulnerable: str, code: int, said: str, stopped_by: str
) -> None:
    with database(vulnerable) as address:
        done = audit(address)

    assert done.returncode == code, done.stderr
    told = done.stdout + done.stderr
    assert said in told
    assert ("PYSEC" in told or "low:" in told) == (code != 0)
    assert (f"(the reason is above): {stopped_by}\n" in done.stderr) == (code != 0)


def test_a_lock_that_cannot_be_looked_up_is_not_passed() -> None:
    with database("uv") as address:
        pass
    done = audit(address)

    assert done.returncode == 2
    assert f"not looked up (the reason is above): {LOCK} packages.json\n" in done.stderr
