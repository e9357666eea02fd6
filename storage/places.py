"""From the URL of a run or destination to what can read and write there.

One place decides what a URL means, so that a folder, `file://…` and a bucket are told apart the
same way by every command. This version opens folders; a URL of any other kind is refused by name
before anything is written.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from schemas.errors import BadConfig, Unwritable
from schemas.sections import StorageSection
from storage.local import LocalStore
from storage.objects import ObjectStore

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def open_store(url: str, storage: StorageSection) -> ObjectStore:
    """Return the store at `url`; nothing is made or written there yet.

    Raises:
        BadConfig: this version cannot open such a URL.
        Unwritable: there is a file where the folder should be.
    """
    del storage  # a bucket's endpoint and region; folders have none
    return LocalStore(folder(url))


def folder(url: str) -> Path:
    """Return the folder that `url` names.

    Raises:
        BadConfig: it names no folder.
        Unwritable: there is a file where the folder should be.
    """
    path = Path(_path_of(url)).expanduser()
    if path.exists() and not path.is_dir():
        raise Unwritable(f"{url}: is a file; give a folder")
    return path


def table_url(run: str, table: str) -> str:
    """Return what Delta Lake is told to find a run's `table` under.

    Raises:
        BadConfig: this version cannot open such a URL.
    """
    return str(folder(run).absolute() / "tables" / table)


def _path_of(url: str) -> str:
    if not url or "\0" in url:
        raise BadConfig(f"{url!r}: give a folder or file://…")
    if not _SCHEME.match(url):
        return url
    parts = urlsplit(url)
    if parts.scheme.lower() != "file":
        raise BadConfig(
            f"{url}: this version reads and writes folders only; give a folder or file://…"
        )
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise BadConfig(f"{url}: names another machine; write file:///path")
    return unquote(parts.path)
