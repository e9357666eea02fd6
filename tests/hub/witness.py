"""What a program that is killed would leave on the local Hub, before every request that it makes."""

import copy
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from effort import THOROUGH
from hub.faults import Fault
from hub.server import LocalHub
from hub.state import Repo


@dataclass(frozen=True)
class Left:
    """What a publication that is killed leaves on a Hub."""

    request: str
    """What was to come."""
    folder: Path
    """A copy of the Hub's."""
    repos: dict[str, Repo]
    """A copy of its repositories."""

    @contextmanager
    def hub(self, folder: Path) -> Iterator[LocalHub]:
        """Start a Hub with it."""
        with LocalHub(folder, xet=False) as hub:
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)
            hub.state.repos.update(copy.deepcopy(self.repos))
            yield hub


class Witness(Fault):
    """Lets every request by, and keeps what is on the Hub before it, unless it was so before.

    What has gone up and is in no commit yet counts only where there is time.
    """

    def __init__(self, hub: LocalHub, folder: Path, keep: Path) -> None:
        super().__init__("")
        self._hub = hub
        self._folder = folder
        self._keep = keep
        self._seen = list[object]()
        self.left = list[Left]()

    def strikes(self, method: str, path: str, body: bytes) -> bool:
        del body
        files = [*self._folder.rglob("*")] if THOROUGH else []
        there = copy.deepcopy(self._hub.state.repos), {found for found in files if found.is_file()}
        if there not in self._seen:
            self._seen.append(there)
            to = self._keep / str(len(self.left))
            shutil.copytree(self._folder, to)
            self.left.append(Left(f"{method} {path}", to, there[0]))
        return False


def left_by(tmp_path: Path, *acts: Callable[[LocalHub], object]) -> list[Left]:
    """Do one thing after the other on a Hub; return what a kill of the last would leave."""
    folder = tmp_path / "watched"
    with LocalHub(folder, xet=False) as hub:
        for act in acts[:-1]:
            act(hub)
        witness = Witness(hub, folder, tmp_path / "kept")
        hub.faults.append(witness)
        acts[-1](hub)
    return witness.left
