"""The lock of the packages of worlds, and their installed files.

`packages.json` has for each package its version, the hash of the registry's archive, and the files that pages use
with their hashes. A file with another hash is an error, so a page is the same on every machine.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from pydantic import Field, TypeAdapter

from generators.data_folder import data_folder
from schemas.base import Record, content_hash, sha256_hex
from schemas.errors import Refusal

LOCK = Path(__file__).with_name("packages.json")
"""The lock file."""

INSTALL = "stepmill sites install worlds"
"""The command that installs all packages."""

_SHOWN = 12


class Package(Record):
    """One package of the lock."""

    name: str = Field(pattern=r"^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$")
    """The npm name, as `@scope/name`."""
    version: str = Field(pattern=r"^\d+\.\d+\.\d+[0-9A-Za-z.+-]*$")
    """The exact version."""
    integrity: str = Field(pattern=r"^sha512-[A-Za-z0-9+/]{86}==$")
    """The hash of its archive, in npm's format."""
    licence: str
    """The licence in its `package.json`."""
    files: Mapping[str, str]
    """The files that pages use, by their path within the package: SHA-256, hexadecimal."""

    @property
    def pinned(self) -> str:
        """Name and version, as in specifications of worlds."""
        return f"{self.name}@{self.version}"

    def folder(self, data: Path) -> Path:
        """Return the folder of its files; a lock entry with other files has another folder."""
        content = content_hash(self.model_dump(mode="json"))[:_SHOWN]
        name = self.name.removeprefix("@").replace("/", "+")
        return data / "worlds" / "packages" / f"{name}-{self.version}-{content}"

    def address(self, path: str) -> str:
        """Return the path of one of its files for pages."""
        if path not in self.files:
            raise KeyError(f"{self.pinned}: the lock has no file {path}")
        return f"/_/packages/{self.name}/{self.version}/{path}"


def packages_data() -> Path:
    """Return the user's folder of installed packages."""
    return data_folder(os.environ)


@cache
def read_lock() -> Mapping[str, Package]:
    """Return the packages of the lock by name."""
    packages = TypeAdapter(list[Package]).validate_json(LOCK.read_bytes())
    return {package.name: package for package in packages}


def not_here(data: Path | None = None) -> str | None:
    """Return which packages are missing and how to install them, as a message; None: all are installed."""
    folder = data or packages_data()
    absent = [one.pinned for one in read_lock().values() if not one.folder(folder).is_dir()]
    if not absent:
        return None
    others = f" and {len(absent) - 1} more packages" if len(absent) > 1 else ""
    return f"{absent[0]}{others} of worlds' pages: not installed: {INSTALL}"


def check_packages(pinned: Iterable[str], data: Path | None = None) -> None:
    """Verify the files of packages.

    Raises:
        Refusal: a package is not in the lock, or a file is missing or has another hash.
    """
    for name in pinned:
        package = next((one for one in read_lock().values() if one.pinned == name), None)
        if package is None:
            raise Refusal(f"{name} is not among the packages of worlds that this version has")
        for path in package.files:
            _read(package.folder(data or packages_data()), package.name, path)


def read_served(address: str, pinned: Iterable[str], data: Path | None = None) -> bytes | None:
    """Return the file at a path below `/_/packages/`; None: no such file in these packages.

    Raises:
        Refusal: the file is missing or has another hash.
    """
    for package in map(read_lock().get, (name.rpartition("@")[0] for name in pinned)):
        path = address.removeprefix(f"{package.name}/{package.version}/") if package else address
        if package is not None and path != address and path in package.files:
            return _read(package.folder(data or packages_data()), package.name, path)
    return None


@cache  # some megabytes in all, for thousands of visits
def _read(folder: Path, name: str, path: str) -> bytes:
    """Return a file after verifying its hash."""
    package = read_lock()[name]
    try:
        content = (folder / path).read_bytes()
    except OSError as error:
        raise Refusal(f"{package.pinned}: {path}: {error.strerror}: {INSTALL}") from None
    if sha256_hex(content) != package.files[path]:
        raise Refusal(
            f"{package.pinned}: {path} is not what the lock says; remove {folder}, then {INSTALL}"
        )
    return content
