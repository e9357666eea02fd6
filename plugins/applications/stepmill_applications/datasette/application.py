"""Datasette as an application: a harbour's tables, and the queries that write into them.

Datasette shows tables and takes SQL that reads. What may be written stands in `metadata.yaml`: each query
there is a page with a form.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from generators.sites.installable.protocol import Command
from stepmill_applications.application import Serving
from stepmill_applications.harbour import draw_harbour
from stepmill_applications.sources.pypi import ENVIRONMENTS, PYTHON, PyPI, environment_of
from stepmill_applications.sources.source import Installed
from stepmill_applications.written import Written

STATE = "harbour.db"
"""The SQLite file of an instance."""

_HERE = Path(__file__).parent
_TABLES = """
CREATE TABLE berth (id INTEGER PRIMARY KEY, quay TEXT NOT NULL, depth REAL NOT NULL, closed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE ship (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, flag TEXT NOT NULL,
  length INTEGER NOT NULL, built INTEGER NOT NULL);
CREATE TABLE call (id INTEGER PRIMARY KEY, ship INTEGER NOT NULL REFERENCES ship (id), berth INTEGER NOT NULL REFERENCES berth (id),
  day TEXT NOT NULL, cargo TEXT NOT NULL, tonnes INTEGER NOT NULL);
CREATE TABLE remark (id INTEGER PRIMARY KEY, ship INTEGER NOT NULL REFERENCES ship (id), text TEXT NOT NULL);
"""

# What takes longer than its limit is left out of a page: here nothing is.
_SETTINGS = (
    ("num_sql_threads", "1"),
    ("sql_time_limit_ms", "10000"),
    ("facet_time_limit_ms", "10000"),
    ("suggest_facets", "off"),
)


def _make(_installed: Installed, folder: Path) -> None:
    harbour = draw_harbour()
    with closing(sqlite3.connect(folder / STATE)) as database, database:
        database.executescript(_TABLES)
        berths = [(one.number, one.quay, one.depth) for one in harbour.berths]
        database.executemany("INSERT INTO berth (id, quay, depth) VALUES (?, ?, ?)", berths)
        ships = [
            (one.number, one.name, one.kind, one.flag, one.length, one.built)
            for one in harbour.ships
        ]
        database.executemany("INSERT INTO ship VALUES (?, ?, ?, ?, ?, ?)", ships)
        calls = [
            (one.number, one.ship.number, one.berth.number, one.day, one.cargo, one.tonnes)
            for one in harbour.calls
        ]
        database.executemany("INSERT INTO call VALUES (?, ?, ?, ?, ?, ?)", calls)


def _command(installed: Installed, serving: Serving) -> Command:
    return Command(
        arguments=(
            *(str(installed.find(PYTHON)), "-m", "datasette", "serve", str(serving.folder / STATE)),
            *("--host", "127.0.0.1", "--port", str(serving.port)),
            *("--metadata", str(_HERE / "metadata.yaml")),
            *("--template-dir", str(_HERE / "templates")),
            *("--plugins-dir", str(ENVIRONMENTS / "datasette_plugins"), "--secret", "harbour"),
            *(word for name, value in _SETTINGS for word in ("--setting", name, value)),
        ),
        environment=environment_of(serving.folder),
    )


DATASETTE = Written(
    name="datasette",
    source=PyPI(package="datasette"),
    making=1,
    make=_make,
    command=_command,
)
"""The application."""
