"""The pages as applications: packages of the npm registry, and the server of a page that uses them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from generators.sites.installable.protocol import Command
from stepmill_applications.application import Serving
from stepmill_applications.pages.chart import server as chart
from stepmill_applications.pages.notes import server as notes
from stepmill_applications.sources.npm import Npm
from stepmill_applications.sources.source import Installed
from stepmill_applications.written import Written


def _page(name: str, package: str, *, server: str, make: Callable[[Path], None]) -> Written:
    """Return the page that a module serves, with the content that `make` puts into an empty folder."""

    def command(installed: Installed, serving: Serving) -> Command:
        words = (str(installed.tree), str(serving.folder), str(serving.port))
        arguments = (sys.executable, "-m", server, *words)
        return Command(arguments=arguments, environment=dict(os.environ))

    return Written(
        name=name,
        source=Npm(package=package, lock=name),
        making=1,
        make=lambda _, folder: make(folder),
        command=command,
    )


TIPTAP = _page("tiptap", "@tiptap/core", server=notes.__name__, make=notes.make_notes)
"""The notes: TipTap."""

LEAFLET = _page("leaflet", "leaflet", server=chart.__name__, make=chart.make_water)
"""The water: Leaflet and ECharts."""
