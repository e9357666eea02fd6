"""Django's admin and Wagtail as applications: two small projects, each served by Django's own server.

A connection is opened for each request, so the SQLite file may be replaced while an instance runs.
"""

import json
from functools import partial
from pathlib import Path

from generators.sites.installable.protocol import Command
from stepmill_applications.application import Serving
from stepmill_applications.harbour import draw_harbour
from stepmill_applications.sources.pypi import ENVIRONMENTS, PYTHON, PyPI, environment_of, run_in
from stepmill_applications.sources.source import Installed
from stepmill_applications.written import Written

PROJECTS = ENVIRONMENTS / "projects"
"""The folder of the projects, which their environments import from."""


def _variables(project: str, folder: Path) -> dict[str, str]:
    """Return the variables by which a project finds itself and the folder of an instance."""
    return {
        "PYTHONPATH": str(PROJECTS),
        "DJANGO_SETTINGS_MODULE": f"{project}.settings",
        "HARBOUR_FOLDER": str(folder),
    }


def _make(project: str, installed: Installed, folder: Path) -> None:
    variables = _variables(project, folder)
    run_in(
        installed, folder, "-m", "django", "migrate", "--run-syncdb", "--verbosity=0", **variables
    )
    (folder / "harbour.json").write_text(json.dumps(_words()), encoding="utf-8")
    run_in(installed, folder, "-m", f"{project}.seed", **variables)
    (folder / "harbour.json").unlink()


def _words() -> dict[str, list[dict[str, object]]]:
    """Return the harbour, in the words of the projects' models."""
    harbour = draw_harbour()
    return {
        "berths": [
            {"id": one.number, "quay": one.quay, "depth": one.depth} for one in harbour.berths
        ],
        "ships": [
            {
                "id": one.number,
                "name": one.name,
                "kind": one.kind,
                "flag": one.flag,
                "length": one.length,
                "built": one.built,
            }
            for one in harbour.ships
        ],
        "calls": [
            {
                "id": one.number,
                "ship_id": one.ship.number,
                "berth_id": one.berth.number,
                "day": one.day,
                "cargo": one.cargo,
                "tonnes": one.tonnes,
            }
            for one in harbour.calls
        ],
    }


def _command(project: str, installed: Installed, serving: Serving) -> Command:
    script = str(PROJECTS / "serve_project.py")
    return Command(
        arguments=(str(installed.find(PYTHON)), script, str(serving.port)),
        environment=environment_of(serving.folder) | _variables(project, serving.folder),
    )


DJANGO = Written(
    name="django",
    source=PyPI(package="django"),
    making=2,
    make=partial(_make, "harbour_admin"),
    command=partial(_command, "harbour_admin"),
)
"""Django's admin."""

WAGTAIL = Written(
    name="wagtail",
    source=PyPI(package="wagtail"),
    making=2,
    make=partial(_make, "harbour_pages"),
    command=partial(_command, "harbour_pages"),
)
"""Wagtail."""
