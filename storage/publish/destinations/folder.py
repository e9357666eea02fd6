"""A folder as a destination.

A folder is taken only if it is empty or holds a dataset of the same run; a run's own folder never
is. While a publication goes on it holds a lock on `data/`, which the kernel drops with the
process, so two publications cannot undo each other and a killed one leaves nothing to unlock.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from typing_extensions import override

from schemas.errors import BadConfig, Unwritable
from storage.objects.local import LocalStore
from storage.objects.temp_object import Draft, Source
from storage.publish.card.loading_snippets import Called
from storage.publish.destinations.bucket import Store
from storage.publish.destinations.listing import Content, Stock
from storage.publish.destinations.ownership import owned
from storage.publish.destinations.protocol import Destination
from storage.run_file import KEY as RUN_FILE


class Folder(Destination):
    """A `Destination` in a folder, which is made when the first file is."""

    def __init__(self, root: Path) -> None:
        self._store = LocalStore(root)
        self._objects = Store(self._store)

    @property
    def address(self) -> str:
        """The folder's path."""
        return self._store.url

    @property
    def called(self) -> Called:
        """The folder's own name."""
        return Called(self._store.root.name or self.address)

    @property
    def called_here(self) -> Called:
        """The folder's path."""
        return Called(self.address)

    @override
    async def content(self) -> Content:
        await asyncio.to_thread(self._refuse_run_folder)
        try:
            content = await self._objects.content()
            unfinished = [item.key async for item in self._store.unfinished()]
        except OSError as error:
            raise Unwritable(f"{self.address}: cannot be read: {error.strerror}") from error
        return replace(content, unfinished=tuple(sorted(unfinished)))

    @override
    async def digest(self, path: str) -> str | None:
        return await self._objects.digest(path)

    @override
    async def stock(self, run_id: str) -> Stock:
        return owned(self.address, run_id, await self.content())

    @asynccontextmanager
    @override
    async def hold(self) -> AsyncIterator[None]:
        with _alone(self._store.root):
            unfinished = [item.key async for item in self._store.unfinished()]
            await asyncio.to_thread(self._clear, unfinished)
            await self._store.probe()
            yield

    @override
    def draft(self, folder: str) -> Draft:
        return self._objects.draft(folder)

    @override
    async def put(self, path: str, data: Source) -> None:
        await self._objects.put(path, data)

    @override
    async def delete(self, paths: Sequence[str]) -> None:
        await self._store.delete(paths)

    @override
    async def finish(self, version: int) -> None:
        """What was put is there already."""

    @override
    async def probe(self) -> None:
        await self._store.probe()

    def _refuse_run_folder(self) -> None:
        root = self._store.root.resolve()
        for place in (root, *root.parents):
            if (place / RUN_FILE).is_file() and (place / "tables").is_dir():
                raise BadConfig(
                    f"{self.address}: lies in the folder of a run ({place}); "
                    "publish to a folder outside it"
                )

    def _clear(self, unfinished: Sequence[str]) -> None:
        for key in unfinished:
            (self._store.root / key).unlink(missing_ok=True)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Hold the lock of a published folder."""
    place = root / "data"
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Unwritable(f"{root}: cannot be written: {error.strerror}") from error
    try:
        _lock(handle, root)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, root: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Unwritable(
            f"{root}: another publication is writing here; run this again when it has ended"
        ) from None
