"""`python -m generators.worlds.packages NAME VERSION FILE…`: lock a package and the files that pages use.

A FILE may be a glob. An existing entry of the package is replaced. `--audit` instead queries the registry's
advisories for the locked packages; the exit code is 1 if there is an advisory or the query failed.
"""

import json
import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase

import httpx2
from pydantic import ConfigDict, TypeAdapter, ValidationError

from generators.worlds.packages.install import (
    SECONDS,
    fetch_archive,
    find_registry,
    integrity_of,
    reason_of,
    unpack,
)
from generators.worlds.packages.lock import LOCK, Package, read_lock
from schemas.base import Record, sha256_hex
from schemas.errors import Refusal, StepmillError

_ADVISORIES = "/-/npm/v1/security/advisories/bulk"
"""The endpoint of `npm audit`: takes a JSON object of versions by package, returns the matching advisories."""


class _Advisory(Record):
    """The fields of an advisory that are read."""

    model_config = ConfigDict(extra="ignore")

    url: str
    """The URL of its description."""
    title: str
    """Its title."""
    severity: str
    """The severity, in npm's words."""


_ANSWER = TypeAdapter(dict[str, list[_Advisory]])


def main(arguments: Sequence[str]) -> int:
    """Write the entry, or audit the lock, and return the exit code."""
    if list(arguments) == ["--audit"]:
        return _audit()
    try:
        package = _lock(*arguments[:2], globs=arguments[2:])
    except (StepmillError, TypeError) as error:
        sys.stderr.write(f"{error if isinstance(error, StepmillError) else __doc__}\n")
        return 2
    packages = {**read_lock(), package.name: package}
    entries = [packages[name].model_dump(mode="json") for name in sorted(packages)]
    LOCK.write_text(f"{json.dumps(entries, indent=1)}\n", encoding="utf-8")
    sys.stderr.write(f"{package.pinned}: {len(package.files)} files, {package.licence}\n")
    return 0


def _lock(name: str, version: str, *, globs: Sequence[str]) -> Package:
    archive = fetch_archive(find_registry(os.environ), name, version)
    files = unpack(archive, f"{name}@{version}")
    for glob in globs:
        if not any(fnmatchcase(path, glob) for path in files):
            raise Refusal(
                f"{name}@{version} has no {glob}; it has {', '.join(sorted(files)[:200])}"
            )
    return Package(
        name=name,
        version=version,
        integrity=integrity_of(archive),
        licence=str(json.loads(files["package.json"]).get("license", "")),
        files={
            path: sha256_hex(files[path])
            for path in sorted(files)
            if any(fnmatchcase(path, glob) for glob in globs)
        },
    )


def _audit() -> int:
    asked = {package.name: [package.version] for package in read_lock().values()}
    try:
        answer = httpx2.post(
            f"{find_registry(os.environ)}{_ADVISORIES}", json=asked, timeout=SECONDS
        ).raise_for_status()
        found = _ANSWER.validate_json(answer.content)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValidationError) as error:
        why = reason_of(error)
        sys.stderr.write(f"the registry's advisories could not be asked for: {why}\n")
        return 1
    for name, advisories in found.items():
        for one in advisories:
            words = ascii(f"{name}: {one.severity}: {one.title} ({one.url})")[1:-1]
            sys.stderr.write(f"{words}\n")
    sys.stderr.write(f"{len(asked)} packages, {len(found)} with advisories\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
