"""An application with one seeded content, whose tasks are written by hand in its task file.

Its content is made once for each version of the application, in a folder that gets its name when it is
whole. An instance starts in a copy of it, and has a second copy below `world`, for resets.
"""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from generators.data_folder import make_whole
from generators.sites.installable.protocol import Command, Machine
from schemas.errors import Refusal
from stepmill_applications.application import Found, Serving
from stepmill_applications.sources.source import Installed, Source

WORLD = "world"
"""The folder of an instance with the content as it was made."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """An application whose one content is made without a seed; an entry point names it."""

    stepmill_api: ClassVar[int] = 1
    name: str
    """As in `stepmill sites install NAME`; its pages are at `http://NAME.localhost`."""
    source: Source
    """The packages that it is made of."""
    making: int
    """The version of how its content is made: raised when that changes."""
    make: Callable[[Installed, Path], None]
    """Makes its content in an empty folder."""
    command: Callable[[Installed, Serving], Command]
    """What serves a folder's content, with all of its environment but for the clock."""

    def __call__(self, machine: Machine) -> "WrittenHere":
        """Return the application on a machine."""
        return WrittenHere(self, machine)


@dataclass(frozen=True)
class WrittenHere:
    """An application on one machine, installed or not."""

    application: Written
    """Which."""
    machine: Machine
    """Where."""

    def find(self) -> Found | None:
        """Return it as it is here; None if parts of it are missing."""
        one = self.application
        found = one.source.find(one.name, self.machine.data)
        return None if found is None else Found(found, self._serve)

    def install(self, say: Callable[[str], None]) -> Found:
        """Return it, brought here if it was not, with its content.

        Raises:
            Refusal: it cannot be had here, with what to do.
            Unfinished: it could not be brought, or its content not be made; the same call goes on.
        """
        one, machine = self.application, self.machine
        found = one.source.install(one.name, machine.data, environ=machine.environ, say=say)
        say(f"{one.name}: making its content")
        self._content(found)
        return Found(found, self._serve)

    def _content(self, found: Installed) -> Path:
        """Return the folder with its content, made if it is not there.

        Raises:
            Unfinished: the application failed while it was made.
        """
        one, version = self.application, re.sub(r"[^\w.+~-]", "_", found.version)
        place = self.machine.data / one.name / "content" / f"{version}-{one.making}"
        return make_whole(place, lambda folder: one.make(found, folder))

    def _serve(self, found: Installed, words: Sequence[str]) -> Command:
        """Copy the content into an instance's folder; return what serves it there.

        Raises:
            Refusal: the words are not a folder and a port.
            Unfinished: the content was not there, and making it failed.
        """
        match words:
            case [place, port] if port.isdecimal():
                folder = Path(place).resolve()
            case _:
                wanted = "expected a folder and a port"
                raise Refusal(f"{self.application.name}: {wanted}, got {' '.join(words)!r}")
        content = self._content(found)
        for copy in (folder, folder / WORLD):
            shutil.copytree(content, copy, symlinks=True, dirs_exist_ok=True)
        serving = Serving(folder=folder, base=content, port=int(port))
        return self.application.command(found, serving)
