"""A store and a Delta table that are cut at the n-th thing done to them, as by `kill -9`."""

from collections.abc import AsyncIterator, Iterable
from datetime import datetime

from support.stores.faulty_lake import Cut

from storage.lake.delta_table import CommitEntry, DeltaHandle
from storage.lake.lake import Lake
from storage.objects.protocol import ObjectInfo, ObjectStore
from storage.objects.temp_object import Draft, Source


class Fuse:
    """Burns down by one at each thing done, and then cuts."""

    def __init__(self, length: int | None) -> None:
        self._left = length

    def burn(self) -> None:
        if self._left is not None:
            if self._left <= 0:
                raise Cut
            self._left -= 1


class FusedStore:
    """A store whose every change burns the fuse: once before it and once after."""

    def __init__(self, store: ObjectStore, fuse: Fuse) -> None:
        self._store = store
        self._fuse = fuse

    @property
    def url(self) -> str:
        return self._store.url

    async def get(self, key: str, *, start: int = 0, stop: int | None = None) -> bytes:
        return await self._store.get(key, start=start, stop=stop)

    async def info(self, key: str) -> ObjectInfo:
        return await self._store.info(key)

    async def put(self, key: str, data: Source) -> None:
        self._fuse.burn()
        await self._store.put(key, data)
        self._fuse.burn()

    async def put_new(self, key: str, data: Source) -> bool:
        self._fuse.burn()
        done = await self._store.put_new(key, data)
        self._fuse.burn()
        return done

    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        self._fuse.burn()
        await self._store.replace(key, data, expected=expected)
        self._fuse.burn()

    def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        return self._store.list(prefix)

    async def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._fuse.burn()
            await self._store.delete([key])
        self._fuse.burn()

    def draft(self, prefix: str) -> Draft:
        return self._store.draft(prefix)

    def unfinished_writes(self) -> AsyncIterator[ObjectInfo]:
        return self._store.unfinished_writes()

    async def remove_unfinished(self, before: datetime) -> int:
        self._fuse.burn()
        return await self._store.remove_unfinished(before)

    async def probe(self) -> None:
        await self._store.probe()


class FusedHandle(DeltaHandle):
    """A table whose every commit burns the fuse: once before it and once after."""

    fuse = Fuse(None)

    def commit_once(self, entry: CommitEntry) -> int:
        self.fuse.burn()
        recorded = super().commit_once(entry)
        self.fuse.burn()
        return recorded


def fuse_tables(lake: Lake, fuse: Fuse) -> None:
    """Have every table of `lake` burn `fuse`."""
    for name, table in lake._tables.items():
        handle = FusedHandle(name, lake._urls[name], lake._access)
        handle.fuse = fuse
        table._handle = handle
