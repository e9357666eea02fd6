"""The office of `tests/sites/office.py` as an application, and tasks of its users."""

import sys
from typing import Any

from source_tree import ROOT

from schemas.configuration.application import Application

SCRIPT = ROOT / "tests" / "sites" / "office.py"
ORIGIN, API = "https://office.test", "https://api.office.test"


def office_table(*faults: str, **more: Any) -> dict[str, Any]:
    """Return the application's file as a table, with `more` of its keys set."""
    table: dict[str, Any] = {
        "origin": ORIGIN,
        "origins": {API: "http://127.0.0.1:{port.api}"},
        "start": {
            "command": [sys.executable, str(SCRIPT), "{port}", "{port.api}", *faults],
            "seconds": 20,
            "ready": "/health",
            "environment": {"OFFICE_MIA": "$OFFICE_MIA", "OFFICE_ROOT": "$OFFICE_ROOT"},
            "secrets": ["OFFICE_MIA", "OFFICE_ROOT"],
        },
        "login": {
            "steps": [
                {"method": "GET", "path": "/login", "find": {"token": {"field": "token"}}},
                {
                    "path": "/login",
                    "form": {
                        "token": "{found.token}",
                        "name": "{user.name}",
                        "password": "{user.password}",
                    },
                },
            ]
        },
        "users": {
            "mia": {"name": "mia", "password": "$OFFICE_MIA"},
            "root": {"name": "root", "password": "$OFFICE_ROOT"},
        },
        "reset": {
            "steps": [
                {"path": "/reset/begin", "find": {"ticket": {"pointer": "/ticket"}}},
                {"path": "/reset/data", "form": {"ticket": "{found.ticket}"}},
                {"path": "/reset/end", "form": {"ticket": "{found.ticket}"}},
            ]
        },
        "state": {"request": {"method": "GET", "path": "/state"}},
    }
    return table | more


def office(*faults: str, **more: Any) -> Application:
    """Return the application, with `more` of its keys set."""
    return Application.model_validate(office_table(*faults, **more))


ADD: dict[str, Any] = {
    "site": "office",
    "template_id": "add",
    "instruction": "Note that the crane is loud.",
    "start_url": "/",
    "user": "mia",
    "expect": {"added": [{"table": "notes", "where": {"text": "The crane is loud.", "by": "mia"}}]},
    "reference": [
        {"do": "type", "on": "Note", "text": "The crane is loud."},
        {"do": "click", "on": "Add"},
        {"do": "answer", "text": ""},
    ],
}
"""A task that a WebSocket carries out."""

ARCHIVE: dict[str, Any] = {
    "site": "office",
    "template_id": "archive",
    "instruction": "Archive all notes.",
    "start_url": f"{ORIGIN}/",
    "user": "root",
    "expect": {
        "removed": [{"table": "notes", "where": {"text": "Order rope"}}],
        "values": {"/archived": 1},
    },
    "reference": [{"do": "click", "on": "Archive all"}, {"do": "answer", "text": ""}],
}
"""A task that one of the users alone can do."""
