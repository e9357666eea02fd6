"""`python -m generators.worlds.packages NAME VERSION FILE…`: write a package into the lock, with the files that pages use.

A FILE may be a glob. What the lock said of the package before is replaced.
"""

import json
import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase

from generators.worlds.packages.install import fetch_archive, find_registry, integrity_of, unpack
from generators.worlds.packages.lock import LOCK, Package, locked
from schemas.base import sha256_hex
from schemas.errors import Refusal, StepmillError


def main(arguments: Sequence[str]) -> int:
    """Write the entry and return the exit code."""
    try:
        package = _lock(*arguments[:2], globs=arguments[2:])
    except (StepmillError, TypeError) as error:
        sys.stderr.write(f"{error if isinstance(error, StepmillError) else __doc__}\n")
        return 2
    packages = {**locked(), package.name: package}
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
