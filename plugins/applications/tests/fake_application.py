"""An application that is made of nothing, for tests of what is done with any."""

from pathlib import Path

from stepmill_applications.application import Application
from stepmill_applications.sources.debian import Debian
from stepmill_applications.sources.source import SYSTEM


def packages(*, system: Path = SYSTEM, parts: tuple[str, ...] = ("usr/bin/harbour",)) -> Debian:
    return Debian(
        package="harbour",
        resolved=("harbour",),
        bare=("harbour-extra",),
        families=("harbour",),
        parts=parts,
        system=system,
    )


def harbour(**changes: object) -> Application:
    stated: dict[str, object] = {
        "name": "harbour",
        "source": packages(),
        "making": 1,
        "draw_content": None,
        "state": "state",
        "start": "/",
        "cookies": (),
        "draw_tasks": None,
        "make_base": None,
        "make": None,
        "command": None,
    }
    return Application(**{**stated, **changes})  # type: ignore[arg-type]
