"""What a place for bytes can do, whatever it is made of.

An `ObjectStore` holds whole objects under flat keys such as `spool/<unit>/<episode>`. It is kept
so small that a folder, a bucket and a dictionary can all honour it to the letter:

* a write is whole or it did not happen; a reader never sees half an object;
* `put_new` lets exactly one of many writers win, `replace` changes only what was read;
* listing is flat, by string prefix, **in no order**, and shows no unfinished write;
* no key may be another key's folder (`a` beside `a/b`): a folder cannot hold that, and buckets
  disagree on how they list it.

Nothing here knows what the bytes mean. A key that leaves the store is a defect of the caller and
a `ValueError`; everything the world does wrong is an error of `schemas.errors`.
"""

import re
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Protocol

from schemas.base import Record
from schemas.errors import StepmillError
from storage.objects.temp_object import Draft, Source

UNFINISHED = re.compile(r"\.tmp-[0-9a-f]{16}")
"""The last part of a name under which a folder holds a write that has not ended."""

_FORBIDDEN_PARTS = {"", ".", ".."}
_MAX_PART_BYTES = 255


class Missing(StepmillError):
    """There is no object under the key."""

    def __init__(self, key: str, where: str) -> None:
        super().__init__(f"{where}: there is no object '{key}'")
        self.key = key
        self.where = where

    def __reduce__(self) -> tuple[type["Missing"], tuple[str, str]]:
        """Keep the error picklable: it may cross a process."""
        return type(self), (self.key, self.where)


class ObjectInfo(Record):
    """What a listing says of an object."""

    key: str
    """Its name, parts separated by `/`."""
    size: int
    """Bytes."""
    modified: datetime
    """When it was written, UTC, by the store's clock."""


class ObjectStore(Protocol):
    """Whole objects under flat keys."""

    @property
    def url(self) -> str:
        """Where the store is, for messages and for what must be told a place; no credentials."""
        ...

    async def get(self, key: str, *, start: int = 0, stop: int | None = None) -> bytes:
        """Return the bytes of `key`, or of the slice `start:stop` of it.

        Raises:
            Missing: there is no such object.
        """
        ...

    async def info(self, key: str) -> ObjectInfo:
        """Return what a listing would say of `key`.

        Raises:
            Missing: there is no such object.
        """
        ...

    async def put(self, key: str, data: Source) -> None:
        """Write `key` whole, over whatever was there.

        Raises:
            Unwritable: nothing can be written there; what was there still is.
        """
        ...

    async def put_new(self, key: str, data: Source) -> bool:
        """Write `key` whole if it is not there; return False and change nothing if it is.

        Raises:
            Unwritable: nothing can be written there.
        """
        ...

    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        """Write `key` whole if it still holds `expected`.

        Raises:
            Conflict: it holds something else, or nothing, by now.
            Unwritable: nothing can be written there; what was there still is.
        """
        ...

    def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """Yield every object whose key begins with `prefix`, in no order."""
        ...

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove the objects; one that is not there is no error.

        Raises:
            Unwritable: an object cannot be removed.
        """
        ...

    def draft(self, prefix: str) -> Draft:
        """Return an empty draft of an object in the folder `prefix`; it blocks, but not for long.

        Raises:
            Unwritable: nothing can be written there.
        """
        ...

    def unfinished(self) -> AsyncIterator[ObjectInfo]:
        """Yield what writers hold open or left behind when they were killed: no object yet."""
        ...

    async def give_up(self, before: datetime) -> int:
        """Remove what is unfinished and was begun `before`, by the store's clock; return how many.

        Where a writer still holds it, it stays, or the writer begins again and loses nothing.

        Raises:
            Unwritable: something cannot be removed.
        """
        ...

    async def probe(self) -> None:
        """Prove that something can be written, and leave nothing behind.

        Raises:
            Unwritable: nothing can be, and why.
        """
        ...


def checked_key(key: str) -> str:
    """Return `key` if it is one that stays inside any store.

    Raises:
        ValueError: it is empty, absolute, climbs, or is named like an unfinished write.
    """
    parts = key.split("/")
    if any(part in _FORBIDDEN_PARTS or not _is_plain(part) for part in parts):
        raise ValueError(f"not a key: {key!r}")
    return key


def _is_plain(part: str) -> bool:
    printable = "\\" not in part and part.isprintable()
    fits = len(part.encode("utf-8", "surrogatepass")) <= _MAX_PART_BYTES
    return printable and fits and not UNFINISHED.fullmatch(part)
