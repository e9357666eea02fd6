"""What this package offers to Stepmill: each application, found, installed with its snapshots, and served."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from generators.sites.installable.protocol import Command, Machine
from stepmill_applications.application import Application, Found, Serving
from stepmill_applications.application_task import CONTENTS, content_of
from stepmill_applications.fossil.application import FOSSIL
from stepmill_applications.mediawiki.application import MEDIAWIKI
from stepmill_applications.snapshots import base_folder, put_back, snapshot_folder
from stepmill_applications.sources.source import Installed

stepmill_api = 1

APPLICATIONS: Mapping[str, Application] = MappingProxyType(
    {application.name: application for application in (FOSSIL, MEDIAWIKI)}
)
"""Those that it has."""

AT = "2026-01-15 10:00:00"
"""The moment at which an instance's clock stands still, UTC; no record of any content is later."""


def fossil(machine: Machine) -> "Packaged":
    """Return fossil on a machine."""
    return Packaged(FOSSIL, machine)


def mediawiki(machine: Machine) -> "Packaged":
    """Return MediaWiki on a machine."""
    return Packaged(MEDIAWIKI, machine)


@dataclass(frozen=True)
class Packaged:
    """An application of Debian's packages on one machine."""

    application: Application
    """Which."""
    machine: Machine
    """Where."""

    def find(self) -> Found | None:
        """Return it as it is here; None if parts of it are missing."""
        found = self.application.source.find(self.application.name, self.machine.data)
        return None if found is None else Found(found, self._serve)

    def install(self, say: Callable[[str], None]) -> Found:
        """Return it, downloaded and unpacked if it was not there, with a snapshot of each seeded content.

        Raises:
            Refusal: apt or dpkg is not here, or apt knows none of a package.
            Unfinished: a download or a package is broken, or the application failed; the same call goes on.
        """
        one, data = self.application, self.machine.data
        found = one.source.install(one.name, data, environ=self.machine.environ, say=say)
        for content in range(CONTENTS):
            say(f"{one.name}: making content {content + 1} of {CONTENTS}")
            snapshot_folder(one, found, data=data, seed=content)
        return Found(found, self._serve)

    def _serve(self, found: Installed, words: Sequence[str]) -> Command:
        """Put the content of each seed below `worlds` of an instance's folder, for resets; return what serves it.

        Raises:
            Unfinished: a snapshot was not there, and making it failed.
        """
        one, data = self.application, self.machine.data
        asked = _parser(one.name).parse_args(words)
        asked.folder.mkdir(parents=True, exist_ok=True)
        for content in range(CONTENTS):
            folder = asked.folder / "worlds" / str(content)
            folder.mkdir(parents=True, exist_ok=True)
            put_back(one, found, data=data, folder=folder, content=content)
        put_back(one, found, data=data, folder=asked.folder, content=content_of(asked.seed))
        base = base_folder(one, found, data=data)
        serving = Serving(folder=asked.folder.resolve(), base=base, port=asked.port)
        command = one.command(found, serving)
        clock = found.environment(self.machine.environ, at=asked.at or None)
        return Command(arguments=command.arguments, environment={**command.environment, **clock})


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m generators.sites.installable serve {name}",
        description="Serve an instance of the application.",
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="the instance's (the current one)"
    )
    parser.add_argument("--port", type=int, default=0, help="of 127.0.0.1, to serve at")
    parser.add_argument(
        "--seed", type=int, default=0, help="of a task; it says which content it is set in (0)"
    )
    parser.add_argument(
        "--at", default=AT, help=f"when its clock stands still, UTC ({AT}); '': it runs"
    )
    return parser
