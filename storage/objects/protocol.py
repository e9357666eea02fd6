"""The protocol of an object store: a folder, a bucket, a dictionary.

An `ObjectStore` holds whole objects under flat keys such as `spool/<unit>/<episode>`. The protocol
is small enough for a folder, a bucket and a dictionary to honour all of it:

* a write happens as a whole or not at all; a reader never sees half an object;
* `put_new` lets exactly one of many writers win, `replace` changes only the object that was read;
* listing is flat, by string prefix, **in no order**, and omits unfinished writes;
* no key may be another key's folder (`a` beside `a/b`): a file system cannot have both, and buckets
  differ in how they list them.

A store does not interpret the bytes. A key that leads out of the store is a defect of the caller and a
`ValueError`; a full disk, a denied access or a lost connection is an error of `schemas.errors`.
"""

import re
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Protocol

from schemas.base import Record
from schemas.errors import StepmillError
from storage.objects.temp_object import Draft, Source

UNFINISHED = re.compile(r"\.tmp-[0-9a-f]{16}")
"""The file name of an unfinished write to a folder."""

_FORBIDDEN_PARTS = {"", ".", ".."}
_MAX_PART_BYTES = 255


class Missing(StepmillError):
    """The store has no object under the key."""

    def __init__(self, key: str, where: str) -> None:
        super().__init__(f"{where}: there is no object '{key}'")
        self.key = key
        self.where = where

    def __reduce__(self) -> tuple[type["Missing"], tuple[str, str]]:
        """Keep the error picklable: it may be sent to another process."""
        return type(self), (self.key, self.where)


class ObjectInfo(Record):
    """An object as a listing shows it."""

    key: str
    """Its parts are separated by `/`."""
    size: int
    """Bytes."""
    modified: datetime
    """When it was last written, UTC, by the store's clock."""


class ObjectStore(Protocol):
    """Whole objects under flat keys."""

    @property
    def url(self) -> str:
        """The store's URL or path, without credentials."""
        ...

    async def get(self, key: str, *, start: int = 0, stop: int | None = None) -> bytes:
        """Return the bytes of `key`, or of the slice `start:stop` of it.

        Raises:
            Missing: the store has no such object.
        """
        ...

    async def info(self, key: str) -> ObjectInfo:
        """Return `key` as a listing would show it.

        Raises:
            Missing: the store has no such object.
        """
        ...

    async def put(self, key: str, data: Source) -> None:
        """Write `key` as a whole, replacing any object of that key.

        Raises:
            Unwritable: the store cannot be written; the old object is unchanged.
        """
        ...

    async def put_new(self, key: str, data: Source) -> bool:
        """Write `key` as a whole unless it exists; if it does, return False and change nothing.

        Raises:
            Unwritable: the store cannot be written.
        """
        ...

    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        """Write `key` as a whole if its object is still `expected`.

        Raises:
            Conflict: its object has changed or is gone.
            Unwritable: the store cannot be written; the old object is unchanged.
        """
        ...

    def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """Yield every object whose key begins with `prefix`, in no order."""
        ...

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove the objects; a key without an object is not an error.

        Raises:
            Unwritable: an object cannot be removed.
        """
        ...

    def draft(self, prefix: str) -> Draft:
        """Return an empty draft for an object in the folder `prefix`; the call blocks briefly.

        Raises:
            Unwritable: the store cannot be written.
        """
        ...

    def unfinished_writes(self) -> AsyncIterator[ObjectInfo]:
        """Yield unfinished writes: those in progress, and those that killed writers left behind."""
        ...

    async def remove_unfinished(self, before: datetime) -> int:
        """Remove unfinished writes begun `before`, by the store's clock; return how many.

        A write that is still in progress either stays, or its writer starts it again.

        Raises:
            Unwritable: one cannot be removed.
        """
        ...

    async def probe(self) -> None:
        """Check that objects can be written, and leave nothing behind.

        Raises:
            Unwritable: they cannot; the error says why.
        """
        ...


def check_key(key: str) -> str:
    """Return `key` if it is valid in every store.

    Raises:
        ValueError: it is empty, absolute, has `..`, or is named like an unfinished write.
    """
    parts = key.split("/")
    if any(part in _FORBIDDEN_PARTS or not _is_plain(part) for part in parts):
        raise ValueError(f"invalid key: {key!r}")
    return key


def _is_plain(part: str) -> bool:
    printable = "\\" not in part and part.isprintable()
    fits = len(part.encode("utf-8", "surrogatepass")) <= _MAX_PART_BYTES
    return printable and fits and not UNFINISHED.fullmatch(part)
