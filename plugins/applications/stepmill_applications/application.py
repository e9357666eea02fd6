"""What an application is: where it comes from, how what it holds is made from a seed and how it is served.

An application is somebody else's program, started as it is; nothing here knows which. `sources` bring
it onto the machine, `snapshots.py` makes and restores what it holds, and `parts.py` offers all to Stepmill.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from generators.sites.installable.protocol import Command
from schemas.base import Record
from stepmill_applications.application_task import ApplicationTask
from stepmill_applications.sources.source import Installed, Source


@dataclass(frozen=True, kw_only=True)
class Application:
    """An application whose contents and tasks are drawn from seeds."""

    name: str
    """As in `stepmill sites install NAME`; its pages are at `http://NAME.localhost`."""
    source: Source
    """The packages that it is made of."""
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
    make_base: Callable[[Installed, Path], None]
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


@dataclass(frozen=True)
class Found:
    """An application that is here."""

    installed: Installed
    """Its programs."""
    serving: Callable[[Installed, Sequence[str]], Command]
    """Makes an instance ready, which words name, and returns what serves it."""

    @property
    def version(self) -> str:
        """The version of its main package."""
        return self.installed.version

    @property
    def folder(self) -> Path:
        """The folder of its packages; that which stands for `/` where they are Debian's."""
        return self.installed.tree

    def serve(self, words: Sequence[str]) -> Command:
        """Make an instance ready and return what serves it.

        Raises:
            Refusal: the words are none of this application's.
            Unfinished: the instance could not be made ready.
        """
        return self.serving(self.installed, words)
