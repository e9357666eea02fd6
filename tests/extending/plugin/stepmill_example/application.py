"""An application to install: a page, and Python's own server of it."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from generators.data_folder import make_whole
from generators.sites.installable.protocol import Command, Machine
from schemas.errors import Refusal


class Shelf:
    stepmill_api = 1
    version = "1.0"

    def __init__(self, machine: Machine) -> None:
        self.folder = machine.data / "shelf"

    def find(self) -> "Shelf | None":
        return self if self.folder.is_dir() else None

    def install(self, say: Callable[[str], None]) -> "Shelf":
        say("shelf: writing its page")
        make_whole(self.folder, self._write)
        return self

    def _write(self, home: Path) -> None:
        (home / "index.html").write_text("<h3>Shelf</h3>")

    def serve(self, words: Sequence[str]) -> Command:
        if len(words) != 2:
            raise Refusal(f"shelf: expected a folder and a port, got {' '.join(words)!r}")
        folder, port = words
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        where = ("--bind", "127.0.0.1", "--directory", folder)
        return Command(
            arguments=(sys.executable, "-m", "http.server", *where, port),
            environment=dict(os.environ),
        )
