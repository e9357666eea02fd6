"""A Prefect home whose database is made already: making one takes longer than most tests."""

import asyncio
import fcntl
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

from source_tree import ROOT
from support.runs.commands import SECONDS, Said, environment

from flows.orchestration.server import embedded_server
from flows.orchestration.settings import HOME

DATABASE = "embedded.db"
"""The database of the embedded server."""

SERVED = "prefect.db"
"""The database of a server that Prefect's own command starts."""

_MANY = str(SECONDS)
PATIENT = {
    "PREFECT_API_REQUEST_TIMEOUT": _MANY,
    "PREFECT_SERVER_DATABASE_TIMEOUT": _MANY,
    "PREFECT_SERVER_DATABASE_CONNECTION_TIMEOUT": _MANY,
    "PREFECT_SERVER_DATABASE_SQLALCHEMY_POOL_TIMEOUT": _MANY,
    "PREFECT_SERVER_API_WEBSOCKET_PING_TIMEOUT": _MANY,
}
"""What Prefect's own clients and server wait for, on a machine that is busy with other tests."""

_COMMANDS = """
import contextlib, io, json, sys
from flows.cli.main import main

for argv in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


def prefect_home(shared: Path, home: Path, database: str = DATABASE) -> Path:
    """Make `home` with a new `database` of a server, made once in the folder `shared`."""
    made = shared / "prefect"
    with (shared / "prefect.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "prefect.made").exists():
            with patch.dict(os.environ, {HOME: str(made), "PREFECT_API_URL": ""}):
                asyncio.run(_serve_once())
            (shared / "prefect.made").touch()
    home.mkdir(parents=True)
    for path in made.glob(f"{DATABASE}*"):
        shutil.copyfile(path, home / path.name.replace(DATABASE, database))
    return home


def ask_database(home: Path, question: str, *values: str) -> list[tuple[object, ...]]:
    """Ask the database of the embedded server; each `?` of the question is one of the values."""
    with closing(sqlite3.connect(home / DATABASE, timeout=SECONDS)) as database:
        return list(database.execute(question, values))


@contextmanager
def pages_served(home: Path) -> Iterator[str]:
    """Serve Prefect's API and its pages from a home; yield the address of the pages."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        settings = {
            "PREFECT_HOME": str(home),
            "PREFECT_API_URL": "",
            "PREFECT_UI_API_URL": f"{url}/api",
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{home}/{DATABASE}",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
            "DO_NOT_TRACK": "1",
        }
        child = subprocess.Popen(
            [sys.executable, "-m", "flows.orchestration.server_process", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            env=environment(PATIENT | settings),
        )
    try:
        yield url
    finally:
        assert child.stdin is not None
        child.stdin.close()
        child.wait(SECONDS)


def commands(env: dict[str, str], *argvs: Sequence[str]) -> list[Said]:
    """Run commands, one after the other, in one process that sets Prefect up and imports it once."""
    ran = subprocess.run(
        [sys.executable, "-c", _COMMANDS, json.dumps(argvs)],
        cwd=ROOT,
        env=environment(PATIENT | env),
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return [Said(*json.loads(line)) for line in ran.stdout.splitlines()]


async def _serve_once() -> None:
    async with embedded_server():
        pass
