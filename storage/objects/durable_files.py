"""Creates, renames, locks and synchronises files so that they survive a kill and a power failure.

A file is written under a temporary name, synchronised to the disk and renamed; `LocalStore` and the
folder of an export write in this way. A lock belongs to an open file or folder, and the kernel releases
it when the process ends, so nothing is left to clean.
"""

import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from storage.objects.temp_object import Draft, Source

ANYBODY = 0o666
"""The mode of a file that is not private, before the process's umask."""

_COPY_BYTES = 1 << 24
"""Bytes copied per step."""

_MKDIR_TRIES = 20
"""How often a folder may be removed by another process before a writer gives up."""


def write_file(path: Path, data: Source, *, synchronise: bool = True) -> None:
    """Write a file as a whole, replacing an old one; a reader sees the old file or the new one."""
    with temporary_file(path, data, synchronise=synchronise) as temporary:
        temporary.replace(path)
    if synchronise:
        sync_folder(path.parent)


@contextmanager
def temporary_file(
    path: Path, data: Source, *, synchronise: bool = True, mode: int = ANYBODY
) -> Iterator[Path]:
    """Yield a file of `data` beside `path`, and remove it unless the block renames it.

    `mode` is the file's permissions, reduced by the process's umask.
    """
    if isinstance(data, Draft) and data.path is not None and data.path.parent == path.parent:
        data.sync()
        yield data.path  # the draft's own file: closing the draft removes it
        return
    temporary = _temporary_path(path.parent)
    try:
        with os.fdopen(create_locked(temporary, mode), "wb") as file:
            for start in range(0, len(data), _COPY_BYTES):
                file.write(data[start : start + _COPY_BYTES])
            file.flush()
            if synchronise:
                os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def create_draft(folder: Path, mode: int = ANYBODY) -> Draft:
    """Return an empty draft in `folder`, which `write_file` renames to a file of that folder."""
    path = _temporary_path(folder)
    return Draft(os.fdopen(create_locked(path, mode), "w+b"), path)


def _temporary_path(folder: Path) -> Path:
    return folder / f".tmp-{secrets.token_hex(8)}"


def create_locked(path: Path, mode: int = ANYBODY) -> int:
    """Create a file and its folders, again if another process removes these meanwhile.

    The file is locked while it is open, which shows that its writer is running.
    """
    for _ in range(_MKDIR_TRIES):
        _make_folders(path.parent)
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            fcntl.flock(handle, fcntl.LOCK_SH)
            return handle
    raise FileNotFoundError(
        errno.ENOENT, f"its folder was removed {_MKDIR_TRIES} times by another process"
    )


def make_private_folder(folder: Path) -> None:
    """Create a folder that only the user may enter, unless there is one."""
    if not folder.is_dir():
        _make_folders(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Synchronise the names in `folder` to the disk."""
    handle = _open_folder(folder)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def folder_lock(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the folder's lock; the kernel releases it when the process ends.

    Raises:
        BlockingIOError: another process holds it, and `wait` is false.
    """
    handle = _open_folder(folder)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


def remove_unless_locked(path: Path) -> bool:
    """Remove an unfinished file unless its writer is running; return whether it was removed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def _open_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _make_folders(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folders(folder.parent)
    with suppress(FileNotFoundError):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)
