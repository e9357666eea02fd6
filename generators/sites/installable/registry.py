"""The applications by name, and how one is put into a world."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from generators.sites.application.server import restore
from generators.sites.installable.application import Application, Installed
from generators.sites.installable.fossil.application import FOSSIL
from generators.sites.installable.mediawiki.application import MEDIAWIKI
from generators.sites.installable.worlds import world_folder
from schemas.errors import NotFound

APPLICATIONS: Mapping[str, Application] = MappingProxyType(
    {application.name: application for application in (FOSSIL, MEDIAWIKI)}
)
"""Those that can be installed."""


def find_application(name: str) -> Application:
    """Return the application of this name.

    Raises:
        NotFound: there is none.
    """
    if name not in APPLICATIONS:
        raise NotFound(f"no application '{name}'; there are: {', '.join(APPLICATIONS)}")
    return APPLICATIONS[name]


def put_back(
    application: Application, installed: Installed, *, data: Path, folder: Path, world: int
) -> None:
    """Put the instance in `folder` into a world, whether or not it runs.

    Raises:
        Unfinished: the world was not there, and making it failed.
    """
    made = world_folder(application, installed, data=data, seed=world)
    restore(made / application.state, folder / application.state)
