"""The notes as an application: TipTap of the npm registry, and the server of its page."""

import os
import sys
from pathlib import Path

from generators.sites.installable.protocol import Command
from stepmill_applications.application import Serving
from stepmill_applications.pages.notes.server import make_notes
from stepmill_applications.sources.npm import Npm
from stepmill_applications.sources.source import Installed
from stepmill_applications.written import Written


def _make(_installed: Installed, folder: Path) -> None:
    make_notes(folder)


def _command(installed: Installed, serving: Serving) -> Command:
    module = "stepmill_applications.pages.notes.server"
    words = (str(installed.tree), str(serving.folder), str(serving.port))
    return Command(arguments=(sys.executable, "-m", module, *words), environment=dict(os.environ))


TIPTAP = Written(
    name="tiptap",
    source=Npm(package="@tiptap/core", lock="tiptap"),
    making=1,
    make=_make,
    command=_command,
)
"""The application."""
