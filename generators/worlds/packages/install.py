"""Installs the packages of worlds from the npm registry, without npm and without Node.

An archive is unpacked only if it has the hash of the lock, and only the files that the lock names. A complete package
gets its folder by one rename.
"""

import base64
import binascii
import hashlib
import io
import re
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx2

from generators.data_folder import make_whole
from generators.worlds.packages.lock import Package, read_lock
from schemas.base import sha256_hex
from schemas.errors import Refusal, Unfinished

REGISTRY = "https://registry.npmjs.org"
"""The default registry, unless npm's own settings name another."""

SECONDS = 60
"""Timeout of a request to the registry, in seconds."""

_MAX_BYTES = 200_000_000
_SETTING = re.compile(r"^\s*registry\s*=\s*(\S+)\s*$", re.MULTILINE)


def find_registry(environ: Mapping[str, str]) -> str:
    """Return npm's registry: from its variable, the user's `.npmrc`, or the public one."""
    for name in ("NPM_CONFIG_REGISTRY", "npm_config_registry"):
        if environ.get(name):
            return environ[name].rstrip("/")
    try:
        text = (Path(environ.get("HOME") or "~").expanduser() / ".npmrc").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    found = _SETTING.search(text)
    return found[1].strip("\"'").rstrip("/") if found else REGISTRY


def install_packages(
    data: Path, *, environ: Mapping[str, str], say: Callable[[str], None] = lambda _: None
) -> int:
    """Install the missing packages of the lock, and return the number of all.

    Raises:
        Refusal: an archive differs from the lock.
        Unfinished: a package could not be fetched; the same call resumes.
    """
    registry = find_registry(environ)
    for package in read_lock().values():
        if not package.folder(data).is_dir():
            say(f"worlds: installing {package.pinned}")
            make_whole(package.folder(data), _filler(package, registry))
    return len(read_lock())


def _filler(package: Package, registry: str) -> Callable[[Path], None]:
    def fill(folder: Path) -> None:
        archive = fetch_archive(registry, package.name, package.version)
        if integrity_of(archive) != package.integrity:
            raise Refusal(f"{package.pinned}: the registry's archive is not that of the lock")
        files = unpack(archive, package.pinned)
        for path, digest in package.files.items():
            if sha256_hex(files.get(path, b"")) != digest:
                raise Refusal(f"{package.pinned}: its archive has no {path} of the lock's hash")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(files[path])

    return fill


def fetch_archive(registry: str, name: str, version: str) -> bytes:
    """Return a package's archive.

    Raises:
        Unfinished: the registry did not return it.
    """
    address = f"{registry}/{quote(name, safe='@/')}/-/{name.rpartition('/')[2]}-{version}.tgz"
    try:
        answer = httpx2.get(address, timeout=SECONDS, follow_redirects=True).raise_for_status()
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        host = (
            urlsplit(registry).hostname or "the registry"
        )  # without a password that is in the address
        raise Unfinished(
            f"{name}@{version} could not be fetched from {host}: {reason_of(error)}; run it again to go on"
        ) from None
    return answer.content


def reason_of(error: Exception) -> str:
    """Return why a request to a registry failed, without its URL, which may contain a password."""
    if isinstance(error, httpx2.HTTPStatusError):
        return f"it answered {error.response.status_code}"
    return type(error).__name__


def integrity_of(archive: bytes) -> str:
    """Return an archive's hash in npm's format."""
    return f"sha512-{base64.b64encode(hashlib.sha512(archive).digest()).decode()}"


def unpack(archive: bytes, pinned: str) -> dict[str, bytes]:
    """Return the files of an archive by their path within the package.

    Raises:
        Refusal: the archive is invalid or too large.
    """
    files = dict[str, bytes]()
    left = _MAX_BYTES
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            for member in tar:
                left -= member.size
                content = tar.extractfile(member) if member.isfile() and left > 0 else None
                if content is not None:
                    files[member.name.partition("/")[2]] = content.read()
    except (tarfile.TarError, EOFError, OSError, binascii.Error) as error:
        raise Refusal(f"{pinned}: its archive cannot be read: {error}") from None
    if left <= 0:
        raise Refusal(f"{pinned}: its archive holds more than {_MAX_BYTES} bytes")
    return files
