"""How an application gets here from PyPI: an environment of its own, of the versions that a lock names.

The locks are beside this module, one for each application, as pip reads them. An environment is made
by Python's own `venv` and pip, below a folder of the user's; Stepmill's environment stays as it is. A
finished environment gets its name by one rename, so a kill leaves only a folder that the next call removes.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from generators.data_folder import make_whole
from schemas.base import sha256_hex
from schemas.errors import Refusal, Unfinished
from stepmill_applications.sources.source import Installed

LOCKS = Path(__file__).with_name("locks")
"""The folder of the locks."""

ENVIRONMENTS = Path(__file__).parents[1] / "environments"
"""The folder of programs that run in environments of applications, and import what is there alone."""

PYTHON = "bin/python"
"""The interpreter of an environment."""

_SHOWN = 12
_LAST_CHARS = 300


def environment_of(folder: Path) -> dict[str, str]:
    """Return the environment of a program of such an environment, whose own files lie in `folder`.

    A stopped clock is kept: the application's file may have one (`clock.freeze_server`).
    """
    kept = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    return kept | {"HOME": str(folder), "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True, kw_only=True)
class PyPI:
    """Distributions of PyPI, in an environment of their own."""

    package: str
    """The distribution whose version is the application's; its lock has its name."""
    locks: Path = LOCKS
    """The folder of the locks."""

    @property
    def lock(self) -> Path:
        """The versions of all distributions of the environment."""
        return self.locks / f"{self.package}.txt"

    def find(self, name: str, data: Path) -> Installed | None:
        """Return the application as it is on this machine; None if its environment is not made."""
        tree = self._tree(name, data)
        # Python names the interpreter of its environments by a link, whose target may be gone.
        return Installed(tree=tree, version=self._version()) if (tree / PYTHON).exists() else None

    def install(
        self, name: str, data: Path, *, environ: Mapping[str, str], say: Callable[[str], None]
    ) -> Installed:
        """Return the application, its environment made if it was not there.

        Raises:
            Refusal: this Python makes no environments.
            Unfinished: a distribution could not be installed; the same call tries it again.
        """
        tree = self._tree(name, data)
        if not (found := self.find(name, data)):
            say(f"{name}: installing {self.package} {self._version()} into {tree}")
            make_whole(tree, lambda folder: self._fill(name, folder, environ))
            found = self.find(name, data)
        if found is None:
            raise Unfinished(f"{tree} has no {PYTHON}; remove the folder and install again")
        return found

    def _tree(self, name: str, data: Path) -> Path:
        content = f"{self.lock.read_text(encoding='utf-8')} {sys.version_info[:2]}"
        return data / name / f"python-{sha256_hex(content.encode())[:_SHOWN]}"

    def _version(self) -> str:
        pinned = rf"(?m)^{re.escape(self.package)}==([^\s;]+)"
        found = re.search(pinned, self.lock.read_text(encoding="utf-8"))
        if found is None:
            raise Refusal(f"{self.lock} does not say which {self.package} it is")
        return found[1]

    def _fill(self, name: str, folder: Path, environ: Mapping[str, str]) -> None:
        if problem := _run((sys.executable, "-m", "venv", str(folder)), environ):
            raise Refusal(f"{name}: this Python makes no environment: {problem}")
        pip = (str(folder / PYTHON), "-m", "pip", "install", "--quiet", "--no-deps")
        if problem := _run((*pip, "--requirement", str(self.lock)), environ):
            raise Unfinished(f"{name}: pip failed: {problem}; run it again to try once more")


def run_in(installed: Installed, folder: Path, *arguments: str, **environ: str) -> None:
    """Run Python of an environment to its end, in `folder`.

    Raises:
        Unfinished: it failed, with the end of what it said.
    """
    done = subprocess.run(  # noqa: S603 - a fixed command
        (str(installed.find(PYTHON)), *arguments),
        cwd=folder,
        env=environment_of(folder) | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[-_LAST_CHARS:]
        raise Unfinished(f"{arguments[0]} failed: {said}")


def _run(command: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Run a command, and return the end of what it said if it failed; empty if it did not."""
    kept = {key: value for key, value in environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(  # noqa: S603 - a fixed command
        command,
        env={"PATH": os.defpath, **kept},
        capture_output=True,
        text=True,
        check=False,
    )
    said = " ".join((done.stderr or done.stdout).split())
    return (said[-_LAST_CHARS:] or f"code {done.returncode}") if done.returncode else ""
