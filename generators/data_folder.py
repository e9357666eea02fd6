"""Folders of the user's data, each of which is complete if it exists.

A folder is filled under another name and renamed when complete, so a kill at any moment leaves no partial
folder, and of two processes that make the same folder the faster wins. Leftovers of a killed process are
removed by the next one that makes a folder beside them.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

_MAKING = "making-"


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's folder for applications and the packages of worlds."""
    home = environ.get("XDG_DATA_HOME") or str(
        Path(environ.get("HOME") or "~").expanduser() / ".local/share"
    )
    return Path(home) / "stepmill" / "applications"


def make_whole(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return `folder`, filled by `make` if it does not exist; exceptions of `make` pass through."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder.parent)
    making = Path(tempfile.mkdtemp(prefix=f"{_MAKING}{os.getpid()}-", dir=folder.parent))
    making.chmod(0o755)
    try:
        make(making)
        making.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another process was faster, with the same content
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_MAKING}*"):
        process = folder.name.removeprefix(_MAKING).partition("-")[0]
        if not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)
