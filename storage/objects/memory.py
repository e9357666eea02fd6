"""Objects in a dictionary: for tests, and for trying things without a place.

It honours the whole contract of `storage.objects.protocol` and is deliberately unhelpful where the
contract promises nothing: it lists in an order that no caller could come to rely on.
"""

import threading
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime

from schemas.base import sha256_hex
from schemas.errors import Conflict
from storage.objects.delta_access import FOLDER, Access
from storage.objects.protocol import Missing, ObjectInfo, checked_key
from storage.objects.temp_object import Draft, Source


class MemoryStore:
    """An `ObjectStore` that is gone with the process."""

    def __init__(self, name: str = "memory") -> None:
        self._name = name
        self._objects: dict[str, tuple[bytes, datetime]] = {}
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """A name for messages; nothing else can open it."""
        return f"{self._name}:"

    @property
    def access(self) -> Access:
        """See `ObjectStore.access`; no table lies here."""
        return FOLDER

    async def get(self, key: str, *, start: int = 0, stop: int | None = None) -> bytes:
        """See `ObjectStore.get`."""
        return self._found(key)[0][start:stop]

    async def info(self, key: str) -> ObjectInfo:
        """See `ObjectStore.info`."""
        data, modified = self._found(key)
        return ObjectInfo(key=key, size=len(data), modified=modified)

    async def put(self, key: str, data: Source) -> None:
        """See `ObjectStore.put`."""
        self._objects[checked_key(key)] = (data[:], datetime.now(UTC))

    async def put_new(self, key: str, data: Source) -> bool:
        """See `ObjectStore.put_new`."""
        entry = (data[:], datetime.now(UTC))
        with self._lock:
            return self._objects.setdefault(checked_key(key), entry) is entry

    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        """See `ObjectStore.replace`."""
        with self._lock:
            found = self._objects.get(checked_key(key))
            if found is None or found[0] != expected:
                raise Conflict(f"{self.url} {key}: another writer changed it")
            self._objects[key] = (data, datetime.now(UTC))

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """See `ObjectStore.list`."""
        for key in sorted(self._objects, key=lambda key: sha256_hex(key.encode())):
            found = self._objects.get(key)
            if found is not None and key.startswith(prefix):
                yield ObjectInfo(key=key, size=len(found[0]), modified=found[1])

    async def delete(self, keys: Iterable[str]) -> None:
        """See `ObjectStore.delete`."""
        for key in keys:
            self._objects.pop(checked_key(key), None)

    def draft(self, prefix: str) -> Draft:
        """See `ObjectStore.draft`."""
        del prefix
        return Draft.in_memory()

    async def unfinished(self) -> AsyncIterator[ObjectInfo]:
        """See `ObjectStore.unfinished`; a dictionary has no such state."""
        for found in list[ObjectInfo]():
            yield found

    async def give_up(self, before: datetime) -> int:
        """See `ObjectStore.give_up`; a dictionary has nothing unfinished."""
        del before
        return 0

    async def probe(self) -> None:
        """See `ObjectStore.probe`."""

    def _found(self, key: str) -> tuple[bytes, datetime]:
        try:
            return self._objects[checked_key(key)]
        except KeyError:
            raise Missing(key, self.url) from None
