"""From the URL of a run or a destination to its object store.

Every command uses these functions to distinguish a folder, `file://…` and a bucket. They refuse a URL
of any other kind before anything is written. AWS's client is slow to import, so it is imported only
for the URL of a bucket.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from schemas.configuration.sections import StorageSection
from schemas.errors import BadConfig, Unwritable
from storage.objects.local import LocalStore
from storage.objects.protocol import ObjectStore

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_BUCKET = re.compile(r"(?i)s3://")
_GIVE = "give a folder, file://… or s3://bucket/prefix"


def open_store(url: str, storage: StorageSection, *, private: bool = False) -> ObjectStore:
    """Return the store at `url`; nothing is created or written yet.

    `private`: a folder that it creates is for the user alone; a bucket has rules of its own.

    Raises:
        BadConfig: the URL is of no kind that this version opens.
        Unwritable: the path is a file, not a folder.
    """
    if is_bucket(url):
        from storage.objects import s3  # noqa: PLC0415 - heavy, and only for this

        return s3.S3Store(s3.Connection(s3.Address.parse(url), storage))
    return LocalStore(folder(url), private=private)


def is_bucket(url: str) -> bool:
    """Return whether `url` is the URL of a bucket."""
    return _BUCKET.match(url) is not None


def folder(url: str) -> Path:
    """Return the folder that `url` names.

    Raises:
        BadConfig: `url` is not the URL or path of a folder.
        Unwritable: the path is a file, or cannot be read.
    """
    text = _path_of(url) if _SCHEME.match(url) else url
    if not text or "\0" in text:
        raise BadConfig(f"{url!r}: {_GIVE}")
    try:
        path = Path(text).expanduser()
        if path.exists() and not path.is_dir():
            raise Unwritable(f"{url}: is a file; give a folder")
    except RuntimeError:
        raise BadConfig(f"{url}: this machine has no such user; give the full path") from None
    except OSError as error:
        raise Unwritable(
            f"{url}: cannot be opened: {error.strerror}; give another folder"
        ) from None
    return path


def _path_of(url: str) -> str:
    """Return the path of a URL with a scheme; empty if it has none."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise BadConfig(f"{url}: invalid URL ({error}); {_GIVE}") from None
    if parts.scheme.lower() != "file":
        raise BadConfig(f"{url}: this version reads and writes folders and buckets only; {_GIVE}")
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise BadConfig(f"{url}: expected file:///path, got the name of another machine")
    return unquote(parts.path)
