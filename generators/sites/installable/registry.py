"""The applications by name, how one is put into the content of a seed, and what a run's sites need of them."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from generators.sites.application.server import restore
from generators.sites.installable.application import Application, Installed
from generators.sites.installable.fossil.application import FOSSIL
from generators.sites.installable.mediawiki.application import MEDIAWIKI
from generators.sites.installable.packages import find_installed
from generators.sites.installable.snapshots import snapshot_folder
from generators.whole_folder import data_folder
from schemas.application import Start
from schemas.errors import NotFound

APPLICATIONS: Mapping[str, Application] = MappingProxyType(
    {application.name: application for application in (FOSSIL, MEDIAWIKI)}
)
"""Those that can be installed."""

SERVE = ("{python}", "-m", "generators.sites.installable", "serve")
"""How the command that starts a site begins where it serves one of them; the name follows."""


def find_application(name: str) -> Application:
    """Return the application of this name.

    Raises:
        NotFound: there is none.
    """
    if name not in APPLICATIONS:
        raise NotFound(f"no application '{name}'; there are: {', '.join(APPLICATIONS)}")
    return APPLICATIONS[name]


def not_installed(application: Application) -> str:
    """Return that an application is not installed, and what installs it."""
    return f"{application.name} is not installed: stepmill sites install {application.name}"


def what_is_missing(start: Start, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return what a site needs that is not installed here, with what installs it; None if nothing is.

    The command that starts the site says which application it needs, and nothing else does: a key of the
    site's file beside it could name another one. A site whose command begins otherwise is its user's own, of
    which nothing is known before it starts.
    """
    program, name = start.command[: len(SERVE)], start.command[len(SERVE) :][:1]
    application = APPLICATIONS.get("".join(name)) if program == SERVE else None
    if application is None or find_installed(application, data_folder(environ)) is not None:
        return None
    return not_installed(application)


def put_back(
    application: Application, installed: Installed, *, data: Path, folder: Path, content: int
) -> None:
    """Put the instance in `folder` into the content of a seed, whether or not it runs.

    Raises:
        Unfinished: the content was not there, and making it failed.
    """
    made = snapshot_folder(application, installed, data=data, seed=content)
    restore(made / application.state, folder / application.state)
