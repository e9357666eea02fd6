"""Fossil as an application: its packages, its seeded contents and how it is served.

The server starts a process for each request, which opens the repository anew; so a repository may be
replaced while it runs. It is told its origin, because it writes absolute addresses into its pages.
"""

import os
from pathlib import Path

from generators.sites.application.program_clock import FAKETIME
from generators.sites.installable.protocol import Command
from stepmill_applications.application import Application, ContentFolders, Serving
from stepmill_applications.fossil.contents import HOME, draw_content
from stepmill_applications.fossil.repository import COOKIE, MADE_AT, make_repository
from stepmill_applications.fossil.tasks import draw_tasks
from stepmill_applications.sources.debian import Debian
from stepmill_applications.sources.source import Installed

STATE = "harbour.fossil"
"""The repository's file."""

_PROGRAM = "usr/bin/fossil"


def _environment(
    installed: Installed, folder: Path, user: str, *, at: str | None = None
) -> dict[str, str]:
    """Return fossil's environment; it keeps a file of its own in HOME."""
    return installed.environment(os.environ, at=at) | {"HOME": str(folder), "USER": user}


def _make(installed: Installed, seed: int, folders: ContentFolders) -> None:
    environment = _environment(installed, folders.folder, "admin", at=MADE_AT)
    file, program = folders.folder / STATE, installed.find(_PROGRAM)
    make_repository(draw_content(seed), file, fossil=program, environment=environment)


def _command(installed: Installed, serving: Serving) -> Command:
    return Command(
        arguments=(
            *(str(installed.find(_PROGRAM)), "server", "--port", str(serving.port), "--localhost"),
            *("--nojail", "--baseurl", FOSSIL.origin, str(serving.folder / STATE)),
        ),
        environment=_environment(installed, serving.folder, "nobody"),
    )


FOSSIL = Application(
    name="fossil",
    source=Debian(
        package="fossil",
        resolved=("fossil", "libfaketime"),
        families=("fossil", "libfaketime"),
        parts=(_PROGRAM, FAKETIME),
    ),
    making=3,
    draw_content=draw_content,
    state=STATE,
    start=HOME,
    cookies=(COOKIE,),
    draw_tasks=draw_tasks,
    make_base=lambda _installed, _folder: None,
    make=_make,
    command=_command,
)
"""The application."""
