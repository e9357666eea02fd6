"""How what pages are made of gets here from the npm registry: the packages of a lock, without npm and without Node.

The locks are beside this module, one for each application: names, versions and the hashes of the
registry's archives. A package is unpacked only if it has that hash; the finished folder gets its name by one rename.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from generators.data_folder import make_whole
from generators.worlds.packages.install import fetch_archive, find_registry, integrity_of, unpack
from schemas.base import Record, sha256_hex
from schemas.errors import Refusal
from stepmill_applications.sources.pypi import LOCKS
from stepmill_applications.sources.source import Installed

_SHOWN = 12


class Locked(Record):
    """One package of a lock."""

    name: str
    """Its name, as `@scope/name`."""
    version: str
    """Its exact version."""
    integrity: str
    """The hash of its archive, in npm's format."""


@dataclass(frozen=True, kw_only=True)
class Npm:
    """Packages of the npm registry, each in a folder of its name."""

    package: str
    """The package whose version is the application's."""
    lock: str
    """The name of the lock, without its ending."""
    locks: Path = LOCKS
    """The folder of the locks."""

    def find(self, name: str, data: Path) -> Installed | None:
        """Return the application as it is on this machine; None if its packages are not here."""
        tree = self._tree(name, data)
        return Installed(tree=tree, version=self._version()) if tree.is_dir() else None

    def install(
        self, name: str, data: Path, *, environ: Mapping[str, str], say: Callable[[str], None]
    ) -> Installed:
        """Return the application, its packages fetched if they were not here.

        Raises:
            Refusal: an archive differs from the lock.
            Unfinished: a package could not be fetched; the same call begins anew.
        """
        tree = self._tree(name, data)
        if not tree.is_dir():
            say(f"{name}: fetching {len(self._packages())} packages")
            make_whole(tree, lambda folder: self._fill(folder, find_registry(environ)))
        return Installed(tree=tree, version=self._version())

    def _fill(self, folder: Path, registry: str) -> None:
        for package in self._packages():
            archive = fetch_archive(registry, package.name, package.version)
            pinned = f"{package.name}@{package.version}"
            if integrity_of(archive) != package.integrity:
                raise Refusal(f"{pinned}: the registry's archive is not that of the lock")
            home = (folder / package.name).resolve()
            for path, content in unpack(archive, pinned).items():
                file = (home / path).resolve()
                if not file.is_relative_to(home):
                    raise Refusal(f"{pinned}: its archive has a file outside of it: {path}")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)

    def _packages(self) -> list[Locked]:
        return TypeAdapter(list[Locked]).validate_json(self._file.read_bytes())

    def _version(self) -> str:
        return next(one.version for one in self._packages() if one.name == self.package)

    def _tree(self, name: str, data: Path) -> Path:
        return data / name / f"packages-{sha256_hex(self._file.read_bytes())[:_SHOWN]}"

    @property
    def _file(self) -> Path:
        return self.locks / f"{self.lock}.json"
