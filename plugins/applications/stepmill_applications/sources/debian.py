"""How an application gets onto a machine: from the system, or from Debian packages, without root.

What the system has is used as it is. Otherwise apt, which verifies what it fetches, downloads the
packages, and they are unpacked into a folder of the user's, beside each other and without being set
up; nothing outside that folder changes. A kill at any moment leaves downloads that the next call
goes on from, and a folder that it removes: the finished tree gets its name by one rename.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generators.data_folder import make_whole
from schemas.errors import Refusal, Unfinished
from stepmill_applications.sources.source import SYSTEM, Installed

_MANIFEST = "stepmill-packages.json"
_LAST_CHARS = 300


@dataclass(frozen=True, kw_only=True)
class Debian:
    """Packages of Debian."""

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
    repointed: tuple[str, ...] = ()
    """Texts, as glob patterns below a tree, that name files of the packages by their places in the system."""
    system: Path = SYSTEM
    """The tree of the system."""

    def find(self, name: str, data: Path) -> Installed | None:
        """Return the application as it is on this machine; None if parts of it are missing."""
        tree = data / name / "tree"
        if (tree / _MANIFEST).is_file():
            versions = json.loads((tree / _MANIFEST).read_text(encoding="utf-8"))
            return Installed(tree=tree, version=versions[self.package])
        if _first_missing(self.parts, self.system) is None:
            return Installed(tree=self.system, version=_system_version(self.package))
        return None

    def install(
        self, name: str, data: Path, *, environ: Mapping[str, str], say: Callable[[str], None]
    ) -> Installed:
        """Return the application, downloaded and unpacked if it was not there.

        Raises:
            Refusal: apt or dpkg is not here, or apt knows none of a package.
            Unfinished: a download or a package is broken; the same call goes on from there.
        """
        if found := self.find(name, data):
            return found
        for tool in ("apt-get", "dpkg-deb"):
            if shutil.which(tool, path=environ.get("PATH")) is None:
                raise Refusal(
                    f"{name} is not here, and {tool} is not either, to get it from Debian's "
                    f"packages; install {', '.join((*self.bare, *self.resolved))} by other means"
                )
        home = data / name
        downloads = home / "packages"
        downloads.mkdir(parents=True, exist_ok=True)
        names = sorted({*self._closure(name, environ), *self.bare})
        say(f"{name}: downloading {len(names)} packages")
        _run(("apt-get", *_as_user(), "download", *names), environ, cwd=downloads, names=name)
        say(f"{name}: unpacking them into {home / 'tree'}")
        make_whole(home / "tree", lambda folder: self._unpack(name, home, folder, environ=environ))
        found = self.find(name, data)
        if found is None:
            raise Unfinished(f"{home / 'tree'} is not whole; remove it and install again")
        return found

    def _closure(self, name: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield the packages of the families, and those others that the system lacks."""
        everything = self._simulate(name, environ, "-o", "Dir::State::status=/dev/null")
        yield from (one for one in everything if one.startswith(self.families))
        yield from self._simulate(name, environ)

    def _simulate(self, name: str, environ: Mapping[str, str], *options: str) -> list[str]:
        command = ("apt-get", "--simulate", "-o", "Debug::NoLocking=true", *options)
        asked = ("install", "--no-install-recommends", "--no-install-suggests", *self.resolved)
        said = _run((*command, *asked), environ, names=name)
        return [line.split()[1] for line in said.splitlines() if line.startswith("Inst ")]

    def _unpack(self, name: str, home: Path, folder: Path, *, environ: Mapping[str, str]) -> None:
        """Unpack all that was downloaded into `folder`, and write down what it was."""
        versions = {}
        for package in sorted((home / "packages").glob("*.deb")):
            _run(("dpkg-deb", "-x", str(package), str(folder)), environ, names=package.name)
            one, version, _ = package.name.split("_", 2)
            versions[one] = version.replace("%3a", ":")
        _repoint(folder)
        for pattern in self.repointed:
            _repoint_texts(folder.glob(pattern), home / "tree")
        shutil.rmtree(home / "packages")
        if missing := _first_missing(self.parts, folder):
            raise Unfinished(f"{name}: the packages of this release have no {missing}")
        (folder / _MANIFEST).write_text(json.dumps(versions, sort_keys=True), encoding="utf-8")


def _as_user() -> tuple[str, ...]:
    """Return what keeps apt from warning that its own user cannot write to our folder."""
    return ("-o", "APT::Sandbox::User=root") if os.geteuid() == 0 else ()


def _run(
    command: Sequence[str], environ: Mapping[str, str], *, names: str, cwd: Path | None = None
) -> str:
    done = subprocess.run(  # noqa: S603 - a fixed command
        command,
        env={**environ, "LC_ALL": "C"},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.returncode:
        return done.stdout
    errors = [line for line in done.stderr.splitlines() if line.startswith("E:")] or [
        done.stderr.strip()
    ]
    words = errors[0][:_LAST_CHARS] or f"it ended with {done.returncode} and said nothing"
    if any(
        sign in words for sign in ("Unable to locate", "no installation candidate", "Can't select")
    ):
        raise Refusal(f"{names}: {words}; run apt-get update, or this release has no such package")
    raise Unfinished(f"{names}: {' '.join(command[:2])} failed: {words}; run it again to go on")


def _repoint(folder: Path) -> None:
    """Make absolute links relative whose target lies in the tree."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            link = Path(place, name)
            if not link.is_symlink():
                continue
            target = link.readlink()
            inside = folder / target.relative_to(target.anchor)
            if target.is_absolute() and (inside.exists() or inside.is_symlink()):
                link.unlink()
                link.symlink_to(os.path.relpath(inside, link.parent))


def _repoint_texts(files: Iterable[Path], tree: Path) -> None:
    """Make texts that name files of `/usr/share` name those of the tree."""
    for file in files:
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("'/usr/share/", f"'{tree}/usr/share/"), encoding="utf-8")


def _first_missing(parts: Sequence[str], tree: Path) -> str | None:
    """Return the first part that a tree lacks; None if it has all."""
    return next((part for part in parts if not any(tree.glob(part))), None)


def _system_version(package: str) -> str:
    query = shutil.which("dpkg-query")
    if query is None:
        return "unknown"
    done = subprocess.run(  # noqa: S603 - a fixed command
        (query, "-W", "-f", "${Version}", package), capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"
