"""Where a run or a dataset of a test lies, a folder or a bucket, and what is in it."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import pytest
from pyarrow.dataset import Dataset
from support.servers.seaweedfs import Weed

from schemas.configuration.sections import StorageSection
from storage.lake.delta_table import DeltaHandle
from storage.lake.file_access import Access, access_to, table_url
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A place; its store is asked from a loop of its own."""

    url: str
    """Its URL."""

    def objects(self, prefix: str = "") -> dict[str, bytes]:
        """Return what lies there, by key."""

        async def read() -> dict[str, bytes]:
            store = store_at(self.url)
            keys = [item.key async for item in store.list(prefix)]
            async with asyncio.TaskGroup() as group:
                tasks = {key: group.create_task(store.get(key)) for key in keys}
            return {key: task.result() for key, task in tasks.items()}

        return _done(read())

    def keys(self, prefix: str = "") -> list[str]:
        """Return the keys of what lies there."""

        async def read() -> list[str]:
            return [item.key async for item in store_at(self.url).list(prefix)]

        return _done(read())

    def put(self, key: str, data: bytes) -> None:
        """Have an object lie there."""
        _done(store_at(self.url).put(key, data))

    def remove(self, prefix: str) -> None:
        """Remove every object whose key begins so."""
        _done(store_at(self.url).delete(self.keys(prefix)))

    def copy(self, to: "Place") -> None:
        """Have the same objects lie elsewhere."""
        found = self.objects()

        async def write() -> None:
            store = store_at(to.url)
            async with asyncio.TaskGroup() as group:
                for key, data in found.items():
                    group.create_task(store.put(key, data))

        _done(write())

    def table(self, name: str) -> Dataset | None:
        """Return a run's table as it is now; None if there is none."""
        return DeltaHandle(name, table_url(self.url, name), _tables_at(self.url)).dataset()

    def rows(self, table: str, *columns: str) -> list[dict[str, Any]]:
        """Return columns of a table's rows; none where there is no table."""
        dataset = self.table(table)
        rows: list[dict[str, Any]] = (
            [] if dataset is None else dataset.to_table(columns=list(columns)).to_pylist()
        )
        return rows


# A client of a bucket costs more than all that is asked of it here.
@lru_cache(8)
def store_at(url: str) -> ObjectStore:
    """Return the store of a place."""
    return open_store(url, StorageSection())


@lru_cache(8)
def _tables_at(url: str) -> Access:
    return access_to(open_store(url, StorageSection()))


@contextmanager
def at(server: Weed) -> Iterator[None]:
    """Have a server's credentials in the standard places."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        yield


def _done(work: Coroutine[Any, Any, T]) -> T:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
