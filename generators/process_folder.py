"""A folder for this process and its children: browsers' profiles, applications' files, authorities.

It is removed when this process ends. A killed process leaves it behind; the next process that makes such a
folder removes it. A lock on a file in it shows whether its owner is alive: the kernel releases the lock
however a process ends, and it also holds between containers that share the parent folder.
"""

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "stepmill-process-"
"""Prefix of the names of such folders."""

_LOCK = ".lock"
_NEW_SECONDS = 60.0
"""A folder without a lock is being made if it is younger than this, seconds."""

_making = threading.Lock()

_held: dict[tuple[int, Path], tuple[Path, int]] = {}
"""The folder and the descriptor of its lock, by process and parent folder."""


def process_folder(above: Path) -> Path:
    """Return this process's folder in `above`, which other users may enter but not list.

    Folders of killed processes are removed first.

    Raises:
        OSError: `above` is not writable.
    """
    key = os.getpid(), above
    with _making:
        if key in _held and _held[key][0].is_dir():
            return _held[key][0]
        clear_abandoned(above)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=above))
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.chmod(0o711)
        _held[key] = folder, lock
        atexit.register(_remove, key)
        return folder


def clear_abandoned(above: Path) -> None:
    """Remove the folders in `above` that killed processes of this user left there."""
    for folder in _own_folders(above):
        if any(folder == kept for kept, _ in _held.values()):
            continue
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR)
        except FileNotFoundError:
            with contextlib.suppress(OSError):
                if time.time() - folder.lstat().st_mtime > _NEW_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
            continue
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # its owner lives
            continue
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def _own_folders(above: Path) -> Iterator[Path]:
    """Yield this user's folders; folders of other users under such names are ignored."""
    for folder in above.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if (
                not folder.is_symlink()
                and folder.is_dir()
                and folder.lstat().st_uid == os.geteuid()
            ):
                yield folder


def _remove(key: tuple[int, Path]) -> None:
    """Remove a folder at the end of its process; a fork leaves it to the process that made it."""
    folder, lock = _held[key]
    if key[0] == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
