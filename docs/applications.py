#!/usr/bin/env python3
"""Writes the generated part of `docs/applications.md`: what every key of an application's file means.

The records are the one source, as for a configuration: a key's meaning is the docstring under the
record's field. `make docs` runs this; a test compares the result with the page.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from columns import Parts, line, renew

from schemas.base import Record
from schemas.configuration.application import Application
from schemas.configuration.application_parts import (
    Basic,
    Clock,
    Login,
    Proof,
    Reset,
    SharedVisits,
    Start,
    StateSource,
)
from schemas.configuration.masks import Masks
from schemas.configuration.requests import Find, Request, RequestStep
from storage.publish.card.columns import member_docs

PAGE = Path(__file__).with_name("applications.md")

TABLES: Mapping[str, tuple[str, type[Record]]] = {
    "": ("The file itself", Application),
    "start": ("`[start]`", Start),
    "reset": ("`[reset]`", Reset),
    "login": ("`[login]`", Login),
    "basic": ("`login.basic`", Basic),
    "proof": ("`login.proof`", Proof),
    "state": ("`[state]`", StateSource),
    "masks": ("`[masks]`", Masks),
    "clock": ("`[clock]`", Clock),
    "visits": ("`visits`, where they share a server", SharedVisits),
    "request": ("A `request`", Request),
    "steps": ("`[[login.steps]]`, `[[reset.steps]]`: as a `request`, and", RequestStep),
    "find": ("A rule of `find`", Find),
}
"""The tables of a file by their names, with their titles and records."""

_FILLED_IN = {"home"}
"""What no file states."""


def _keys() -> Iterator[str]:
    for title, record in TABLES.values():
        docs = member_docs(record)
        yield from (f"### {title}", "", "| key | needed | meaning |", "|---|---|---|")
        own = record.__annotations__ if record is RequestStep else record.model_fields
        for name, info in record.model_fields.items():
            if name in own and name not in _FILLED_IN:
                yield line(f"`{name}`", "yes" if info.is_required() else "", docs[name])
        yield ""


PARTS: Parts = {"keys": _keys}

if __name__ == "__main__":
    renew(PAGE, PARTS)
