"""The water as an application: Leaflet and ECharts of the npm registry, and the server of their page."""

import os
import sys
from pathlib import Path

from generators.sites.installable.protocol import Command
from stepmill_applications.application import Serving
from stepmill_applications.pages.chart.server import make_water
from stepmill_applications.sources.npm import Npm
from stepmill_applications.sources.source import Installed
from stepmill_applications.written import Written


def _make(_installed: Installed, folder: Path) -> None:
    make_water(folder)


def _command(installed: Installed, serving: Serving) -> Command:
    module = "stepmill_applications.pages.chart.server"
    words = (str(installed.tree), str(serving.folder), str(serving.port))
    return Command(arguments=(sys.executable, "-m", module, *words), environment=dict(os.environ))


LEAFLET = Written(
    name="leaflet",
    source=Npm(package="leaflet", lock="leaflet"),
    making=1,
    make=_make,
    command=_command,
)
"""The application."""
