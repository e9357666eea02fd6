"""Gradio as an application: the desk of a harbour, whose program and packages are in an environment of their own.

The program opens the SQLite file for each call, so the file may be replaced while an instance runs.
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

STATE = "desk.db"
"""The SQLite file of an instance."""

_SCRIPT = ENVIRONMENTS / "harbour_desk.py"
_TABLES = """
CREATE TABLE berth (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, draught REAL NOT NULL);
CREATE TABLE booking (id INTEGER PRIMARY KEY, ship TEXT NOT NULL, berth TEXT NOT NULL, tonnes INTEGER NOT NULL,
  tide TEXT NOT NULL, services TEXT NOT NULL, remark TEXT NOT NULL);
CREATE TABLE due (id INTEGER PRIMARY KEY, kind TEXT NOT NULL UNIQUE, euros INTEGER NOT NULL);
CREATE TABLE survey (id INTEGER PRIMARY KEY, berth TEXT NOT NULL, shallowest REAL NOT NULL, surveyor TEXT NOT NULL);
CREATE TABLE question (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""

_BOOKED = 6
_DRAUGHT = 4.5
_DUES = (("coaster", 180), ("trawler", 95), ("tanker", 640), ("bulk carrier", 520))
_TIDES = ("High", "Low", "Any")
_WANTED = ("", "Water", "Water, Power", "Crane", "Power, Waste", "Crane, Waste")

# Nothing of it leaves the machine, and no Node draws its pages.
_VARIABLES = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "GRADIO_SSR_MODE": "False",
    "HF_HUB_OFFLINE": "1",
}


def _make(_installed: Installed, folder: Path) -> None:
    harbour = draw_harbour()
    with closing(sqlite3.connect(folder / STATE)) as database, database:
        database.executescript(_TABLES)
        berths = [(one.number, f"Berth {one.number}", _DRAUGHT) for one in harbour.berths]
        database.executemany("INSERT INTO berth VALUES (?, ?, ?)", berths)
        bookings = [
            (one.ship.name, f"Berth {one.berth.number}", one.tonnes // 100 * 50, tide, wanted, "")
            for one, tide, wanted in zip(harbour.calls[:_BOOKED], _TIDES * 2, _WANTED, strict=True)
        ]
        database.executemany("INSERT INTO booking VALUES (NULL, ?, ?, ?, ?, ?, ?)", bookings)
        database.executemany("INSERT INTO due (kind, euros) VALUES (?, ?)", _DUES)


def _command(installed: Installed, serving: Serving) -> Command:
    temporary = {"GRADIO_TEMP_DIR": str(serving.folder / "files")}
    return Command(
        arguments=(
            *(str(installed.find(PYTHON)), str(_SCRIPT)),
            *(str(serving.folder), str(serving.port)),
        ),
        environment=environment_of(serving.folder) | _VARIABLES | temporary,
    )


GRADIO = Written(
    name="gradio",
    source=PyPI(package="gradio"),
    making=1,
    make=_make,
    command=_command,
)
"""The application."""
