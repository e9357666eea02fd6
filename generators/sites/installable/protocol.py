"""An application that can be installed: what a package offers that brings one onto this machine and serves it.

The application is somebody else's program, which pages of a site come from. The package knows where it is
found, how it gets here without root, and what serves an instance of it; nothing here knows which it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Where an application is looked for, installed and started."""

    data: Path
    """The folder of the user's with all applications, each in a folder of its name; it may be missing."""
    environ: Mapping[str, str]
    """The environment of this program."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A program to become."""

    arguments: tuple[str, ...]
    """The first is its path."""
    environment: Mapping[str, str]
    """All of its environment."""


class Installation(Protocol):
    """An application as it is on this machine."""

    @property
    def version(self) -> str:
        """The application's own version."""
        ...

    @property
    def folder(self) -> Path:
        """Where it is; `/` where the system has it."""
        ...

    def serve(self, words: Sequence[str]) -> Command:
        """Make an instance ready and return what serves it.

        `words` stand after the application's name in a site's `start.command`: which instance, and where.

        Raises:
            Refusal: the words are none of this application's.
            Unfinished: the instance could not be made ready.
        """
        ...


class Installable(Protocol):
    """An application that can be brought onto this machine."""

    def find(self) -> Installation | None:
        """Return it as it is here; None if it, or a part of it, is missing. Nothing is started."""
        ...

    def install(self, say: Callable[[str], None]) -> Installation:
        """Return it, brought here with all that its instances are made of, if it was not; `say` what is done.

        A kill at any moment leaves what the same call goes on from.

        Raises:
            Refusal: it cannot be had here, with what to do.
            Unfinished: it could not be brought, and the same call may go on.
        """
        ...
