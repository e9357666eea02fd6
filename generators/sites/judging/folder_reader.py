"""The reader of a state that is a folder: a digest of each file in it.

Reading changes nothing and follows no link. The caller reads when no request is in flight.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import JsonValue

from schemas.errors import BadState

MAX_FILES = 100_000
"""Largest number of files in a folder."""


def digest_folder(path: Path, *, leave_out: Collection[str] = ()) -> dict[str, JsonValue]:
    """Return `{relative path: SHA-256 in hex}` for each file below a folder.

    A link is recorded by its target, as `{"link": …}`, and not followed. Sockets, pipes, devices and files
    that are removed during the reading are left out.

    Args:
        path: the folder.
        leave_out: patterns of relative paths, such as `cache/*`; a folder's pattern leaves out everything
            in it.

    Raises:
        BadState: the folder does not exist, a file cannot be read, or there are too many.
    """
    if not path.is_dir():
        raise BadState(f"{path}: there is no such folder")
    out: dict[str, JsonValue] = {}
    try:
        for name, file in _files(path, "", leave_out):
            if (told := _digest(file)) is not None:
                out[name] = told
            if len(out) > MAX_FILES:
                raise BadState(f"{path}: more than {MAX_FILES:,} files: leave out some")
    except OSError as error:
        raise BadState(f"{error.filename}: cannot be read: {error.strerror or error}") from error
    return dict(sorted(out.items()))


def _files(folder: Path, prefix: str, leave_out: Collection[str]) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = prefix + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
            if any(fnmatchcase(name, pattern) for pattern in leave_out):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path), f"{name}/", leave_out)
            else:
                yield name, Path(entry.path)


def _digest(file: Path) -> JsonValue:
    """Return the digest of a file or the target of a link; None if it is gone or neither."""
    try:
        mode = file.lstat().st_mode
        if stat.S_ISLNK(mode):
            return {"link": os.fsencode(file.readlink()).decode("utf-8", "backslashreplace")}
        if not stat.S_ISREG(mode):
            return None
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except FileNotFoundError:
        return None
