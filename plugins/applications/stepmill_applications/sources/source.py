"""What a source of applications does, and an application as it brought it onto the machine.

Each of the modules beside this one is a source: it finds and installs the packages that an application
is made of, below a folder of the user's, and knows nothing else about it.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from generators.sites.application.program_clock import FAKETIME, stand_still
from schemas.errors import Refusal

SYSTEM = Path("/")
"""The tree of what the system itself has."""


@dataclass(frozen=True, kw_only=True)
class Installed:
    """An application that can be started."""

    tree: Path
    """The folder that stands for `/` for Debian's packages, an environment of Python's or a `node_modules`."""
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


class Source(Protocol):
    """Packages of an application, and what they are installed by."""

    def find(self, name: str, data: Path) -> Installed | None:
        """Return the application `name` as it is on this machine; None if parts of it are missing."""
        ...

    def install(
        self, name: str, data: Path, *, environ: Mapping[str, str], say: Callable[[str], None]
    ) -> Installed:
        """Return it, brought below `data` if it was not there.

        Raises:
            Refusal: it cannot be had here, with what to do.
            Unfinished: it could not be brought; the same call goes on.
        """
        ...
