"""A Prefect home whose database is made already: making one takes longer than most tests."""

import asyncio
import fcntl
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

from flows.orchestration.server import embedded_server
from flows.orchestration.settings import HOME

DATABASE = "embedded.db"
"""The database of the embedded server."""

SERVED = "prefect.db"
"""The database of a server that Prefect's own command starts."""


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


def ask_database(home: Path, question: str) -> list[tuple[object, ...]]:
    """Ask the database of the embedded server."""
    with closing(sqlite3.connect(home / DATABASE)) as database:
        return list(database.execute(question))


async def _serve_once() -> None:
    async with embedded_server():
        pass
