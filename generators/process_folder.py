"""A folder of this process for what it and what it starts keep on disk: browsers' profiles, applications' files, authorities.

It goes when this process ends. A process that is killed leaves it behind; the next one that makes such a folder removes
it. Whether its owner lives is told by a lock on a file in it, which the kernel lets go of however a process ends, and
which holds between containers that share the folder above.
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
"""How the names of such folders begin."""

_LOCK = ".lock"
_NEW_SECONDS = 60.0
"""A folder without a lock that is younger is being made."""

_making = threading.Lock()

_held: dict[tuple[int, Path], tuple[Path, int]] = {}
"""By process and the folder above: the folder, and the descriptor that holds its lock."""


def process_folder(above: Path) -> Path:
    """Return this process's folder in `above`, which other users may pass through but not list.

    Those of processes that were killed are removed first.

    Raises:
        OSError: nothing can be made in `above`.
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
    """Remove the folders in `above` that processes of this user left there when they were killed."""
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
    """Yield the folders of this user; what another one put there under such a name is not looked into."""
    for folder in above.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if (
                not folder.is_symlink()
                and folder.is_dir()
                and folder.lstat().st_uid == os.geteuid()
            ):
                yield folder


def _remove(key: tuple[int, Path]) -> None:
    """Remove a folder at the end of its process; a fork that ends leaves it to the process that made it."""
    folder, lock = _held[key]
    if key[0] == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
