"""From the URL of a run or destination to what can read and write there.

One place decides what a URL means, so that a folder, `file://…` and a bucket are told apart the
same way by every command. A URL of any other kind is refused by name before anything is written.
AWS's client takes a while to load, so only a bucket's URL loads it.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from schemas.errors import BadConfig, Unwritable
from schemas.sections import StorageSection
from storage.objects.local import LocalStore
from storage.objects.protocol import ObjectStore

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_BUCKET = re.compile(r"(?i)s3://")
_GIVE = "give a folder, file://… or s3://bucket/prefix"


def open_store(url: str, storage: StorageSection) -> ObjectStore:
    """Return the store at `url`; nothing is made or written there yet.

    Raises:
        BadConfig: this version cannot open such a URL.
        Unwritable: there is a file where the folder should be.
    """
    if is_bucket(url):
        from storage.objects import s3  # noqa: PLC0415 - heavy, and only for this

        return s3.S3Store(s3.Connection(s3.Address.parse(url), storage))
    return LocalStore(folder(url))


def is_bucket(url: str) -> bool:
    """Say whether `url` names a place in a bucket."""
    return _BUCKET.match(url) is not None


def folder(url: str) -> Path:
    """Return the folder that `url` names.

    Raises:
        BadConfig: it names no folder.
        Unwritable: there is a file where the folder should be, or it cannot be looked at.
    """
    try:
        path = Path(_path_of(url)).expanduser()
        if path.exists() and not path.is_dir():
            raise Unwritable(f"{url}: is a file; give a folder")
    except RuntimeError:
        raise BadConfig(f"{url}: nobody here has that home folder; give the whole path") from None
    except OSError as error:
        raise Unwritable(
            f"{url}: cannot be opened: {error.strerror}; give another folder"
        ) from None
    return path


def _path_of(url: str) -> str:
    path = _decoded(url) if _SCHEME.match(url) else url
    if not path or "\0" in path:
        raise BadConfig(f"{url!r}: {_GIVE}")
    return path


def _decoded(url: str) -> str:
    """Return the path that a URL with a scheme names; nothing if it names none."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise BadConfig(f"{url}: is no URL ({error}); {_GIVE}") from None
    if parts.scheme.lower() != "file":
        raise BadConfig(f"{url}: this version reads and writes folders and buckets only; {_GIVE}")
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise BadConfig(f"{url}: names another machine; write file:///path")
    return unquote(parts.path)
