"""Objects in a dictionary: for tests, and for trying things without a place.

It honours the whole contract of `storage.objects.protocol` and is deliberately unhelpful where the
contract promises nothing: it lists in an order that no caller could come to rely on.
"""

import threading
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime

from typing_extensions import override

from schemas.base import sha256_hex
from schemas.errors import Conflict
from storage.objects.protocol import Missing, ObjectInfo, ObjectStore, check_key
from storage.objects.temp_object import Draft, Source


class MemoryStore(ObjectStore):
    """An `ObjectStore` that is gone with the process."""

    def __init__(self, name: str = "memory") -> None:
        self._name = name
        self._objects: dict[str, tuple[bytes, datetime]] = {}
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """A name for messages; nothing else can open it."""
        return f"{self._name}:"

    @override
    async def get(self, key: str, *, start: int = 0, stop: int | None = None) -> bytes:
        return self._found(key)[0][start:stop]

    @override
    async def info(self, key: str) -> ObjectInfo:
        data, modified = self._found(key)
        return ObjectInfo(key=key, size=len(data), modified=modified)

    @override
    async def put(self, key: str, data: Source) -> None:
        self._objects[check_key(key)] = (data[:], datetime.now(UTC))

    @override
    async def put_new(self, key: str, data: Source) -> bool:
        entry = (data[:], datetime.now(UTC))
        with self._lock:
            return self._objects.setdefault(check_key(key), entry) is entry

    @override
    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        with self._lock:
            found = self._objects.get(check_key(key))
            if found is None or found[0] != expected:
                raise Conflict(f"{self.url} {key}: another writer changed it")
            self._objects[key] = (data, datetime.now(UTC))

    @override
    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        for key in sorted(self._objects, key=lambda key: sha256_hex(key.encode())):
            found = self._objects.get(key)
            if found is not None and key.startswith(prefix):
                yield ObjectInfo(key=key, size=len(found[0]), modified=found[1])

    @override
    async def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._objects.pop(check_key(key), None)

    @override
    def draft(self, prefix: str) -> Draft:
        del prefix
        return Draft.in_memory()

    @override
    async def unfinished_writes(self) -> AsyncIterator[ObjectInfo]:
        """A dictionary has no such state."""
        for found in list[ObjectInfo]():
            yield found

    @override
    async def remove_unfinished(self, before: datetime) -> int:
        """A dictionary has nothing unfinished."""
        del before
        return 0

    @override
    async def probe(self) -> None:
        """Do nothing."""

    def _found(self, key: str) -> tuple[bytes, datetime]:
        try:
            return self._objects[check_key(key)]
        except KeyError:
            raise Missing(key, self.url) from None
