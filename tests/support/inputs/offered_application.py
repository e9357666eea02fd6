"""A package with an application that can be installed, `harbour`; tests say whether it is, and whether there is the package."""

from pathlib import Path

import pytest
from support.inputs.offered_parts import offer

from generators.sites.installable.registry import SERVE, not_installed

NAME = "harbour"
DISTRIBUTION = "harbour-sites"

COMMAND = (*SERVE, NAME, "{folder}", "{port}")
"""What starts a site of it."""

MISSING = not_installed(NAME)
"""Why its tasks wait where it is not installed."""

MODULE = """
import sys
from generators.sites.installable.protocol import Command
from schemas.errors import Refusal

class Harbour:
    stepmill_api = 1
    version = "7"

    def __init__(self, machine):
        self.environ, self.folder = machine.environ, machine.data / "harbour"

    def find(self):
        return self if self.folder.is_dir() else None

    def install(self, say):
        say("harbour: digging")
        self.folder.mkdir(parents=True)
        return self

    def serve(self, words):
        if not words:
            raise Refusal("harbour: say where")
        return Command(
            arguments=(sys.executable, "-c", "import sys; print(sys.argv[1:])", *words),
            environment={"PATH": "/bin"},
        )
"""


class Harbour:
    """The application and its package, on the machine of one test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Offer it in `folder`; it is not installed."""
        place = folder / "packages"
        part = {f"stepmill.applications:{NAME}": "harbour_application:Harbour"}
        offer(place, DISTRIBUTION, part, modules={"harbour_application": MODULE})
        monkeypatch.syspath_prepend(place)
        monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
        self._home = folder / "data" / "stepmill" / "applications" / NAME

    def install(self) -> None:
        """Have it here."""
        self._home.mkdir(parents=True, exist_ok=True)

    def remove(self) -> None:
        """Have it here no more."""
        self._home.rmdir()
