"""What an application is: where it comes from, how what it holds is made from a seed and how it is served.

An application is somebody else's program, started as it is; nothing here knows which. `packages.py`
brings it onto the machine, `snapshots.py` makes and restores what it holds, and `parts.py` offers all to Stepmill.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from generators.sites.application.program_clock import FAKETIME, stand_still
from generators.sites.installable.protocol import Command
from schemas.base import Record
from schemas.errors import Refusal
from stepmill_applications.application_task import ApplicationTask

SYSTEM = Path("/")
"""The tree of what the system itself has."""


@dataclass(frozen=True, kw_only=True)
class Application:
    """An application: where it comes from, and how its content is made from a seed and served."""

    name: str
    """As in `stepmill sites install NAME`; its pages are at `http://NAME.localhost`."""
    package: str
    """The package whose version is the application's."""
    resolved: tuple[str, ...]
    """The packages that are needed with all that these depend on."""
    bare: tuple[str, ...] = ()
    """Those needed without what they depend on, as a web server that is never started."""
    families: tuple[str, ...]
    """How the names of packages begin that must lie in one tree; of the others, libraries, those that
    the system has are used."""
    parts: tuple[str, ...]
    """Files that must be there, as glob patterns below a tree."""
    making: int
    """The version of how content is made: raised when the same content gives another state."""
    draw_content: Callable[[int], Record]
    """Draws its content from a seed."""
    state: str
    """The name of the SQLite file that holds the content."""
    start: str
    """The path at which an instance is asked whether it answers."""
    cookies: tuple[tuple[str, str], ...]
    """Names and values of what a browser is logged in by."""
    draw_tasks: Callable[[int], tuple[ApplicationTask, ...]]
    """Draws one task of each template from a seed."""
    make_base: "Callable[[Installed, Path], None]"
    """Makes, in an empty folder, what the contents of all seeds have in common."""
    make: "Callable[[Installed, int, ContentFolders], None]"
    """Makes the content of a seed in an empty folder."""
    command: "Callable[[Installed, Serving], Command]"
    """What serves a folder's content, with all of its environment but for the clock."""

    @property
    def origin(self) -> str:
        """The stable origin of its pages."""
        return f"http://{self.name}.localhost"


@dataclass(frozen=True, kw_only=True)
class Installed:
    """An application that can be started."""

    tree: Path
    """The folder that stands for `/`."""
    version: str
    """The version of its main package."""

    def find(self, pattern: str) -> Path:
        """Return the first file below the tree that a glob pattern matches.

        Raises:
            Refusal: there is none.
        """
        for file in sorted(self.tree.glob(pattern)):
            return file
        raise Refusal(f"{self.tree} has no {pattern}; remove the folder and install again")

    def environment(self, environ: Mapping[str, str], *, at: str | None = None) -> dict[str, str]:
        """Return what its programs need of `environ` and beside it.

        `at` is a time in UTC, as `2026-01-15 10:00:00`, at which its clock stands still; None: it runs.
        """
        found = {"PATH": environ.get("PATH", os.defpath), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        folders = [*self.tree.glob("lib/*-linux-*"), *self.tree.glob("usr/lib/*-linux-*")]
        if self.tree != SYSTEM and folders:
            found["LD_LIBRARY_PATH"] = os.pathsep.join(map(str, sorted(folders)))
        if at is not None:
            found |= stand_still(self.find(FAKETIME), at=at)
        return found


@dataclass(frozen=True, kw_only=True)
class ContentFolders:
    """Where the content of a seed is made."""

    folder: Path
    """There, and empty."""
    base: Path
    """Holds what the contents of all seeds have in common; read, never written."""


@dataclass(frozen=True, kw_only=True)
class Serving:
    """Where an instance is to run."""

    folder: Path
    """Holds its state; its own."""
    base: Path
    """Holds what the contents of all seeds have in common; read, never written."""
    port: int
    """On 127.0.0.1."""
