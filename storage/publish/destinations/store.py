"""A store as a destination: a bucket, or a folder.

Data files are named by their content, and two publications that write the same file write the same
bytes. A publication puts its mark only if no mark exists, so two runs cannot both claim an empty bucket.
The manifest replaces only the one that was read, so of two publications that overlap one ends and the
other fails with a `Conflict`; run again, it restores what the first one removed or replaced.

A bucket has no locks. In a folder a publication also locks `data/`, and the kernel releases the lock
with the process, so two publications cannot undo each other and a killed one leaves nothing to unlock.
The folder of a run is refused.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from typing_extensions import override

from schemas.base import sha256_hex
from schemas.errors import Conflict, Damaged, OtherRun, Unwritable
from storage.lake.shard_upload import object_sha256
from storage.objects.durable_files import folder_lock
from storage.objects.local import LocalStore
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.temp_object import Draft, Source
from storage.publish.card.loading import DatasetName
from storage.publish.destinations.ownership import MARK, Listing
from storage.publish.destinations.protocol import Destination
from storage.publish.plan.manifest import MANIFEST, TEXTS
from storage.run_file import refuse_run_folder

_LOCK_PAUSE = 0.2
"""Seconds between two looks at a lock that another publication holds."""


class StoreDestination(Destination):
    """A `Destination` in an `ObjectStore`, above all a bucket."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._manifest: bytes | None = None

    @property
    def address(self) -> str:
        """The store's URL."""
        return self._store.url

    @property
    def name(self) -> DatasetName:
        """The store's URL, which readers give in full."""
        return DatasetName(self._store.url, by_file=True)

    @override
    async def listing(self) -> Listing:
        texts = {path: await self._text(path) for path in (*TEXTS, MARK)}
        existing = {path: text for path, text in texts.items() if text is not None}
        self._manifest = existing.get(MANIFEST)
        return Listing(
            sizes={item.key: item.size async for item in self._store.list()},
            digests={path: sha256_hex(text) for path, text in existing.items()},
            texts=existing,
        )

    @override
    async def digest(self, path: str) -> str | None:
        try:
            size = (await self._store.info(path)).size
            return await object_sha256(self._store, path, size)
        except Missing:
            return None

    @override
    async def read(self, path: str) -> bytes:
        data = await self._text(path)
        if data is None:
            raise Damaged(f"{self.address}: {path} is missing; publish its run again to restore it")
        return data

    @asynccontextmanager
    @override
    async def hold(self, *, wait: bool = False) -> AsyncIterator[None]:
        del wait
        # Nothing is locked: `_conclude` detects another publication.
        await self._store.probe()
        yield

    @override
    def draft(self, folder: str) -> Draft:
        return self._store.draft(folder)

    @override
    async def put(self, path: str, data: Source) -> None:
        if path == MARK:
            await self._claim(data[:])
        elif path == MANIFEST:
            await self._conclude(data[:])
        else:
            await self._store.put(path, data)

    @override
    async def claim(self, path: str, data: bytes) -> bool:
        return await self._store.put_new(path, data) or await self._text(path) == data

    @override
    async def delete(self, paths: Sequence[str]) -> None:
        await self._store.delete(paths)

    @override
    async def finish(self, version: int) -> None:
        """Do nothing: every file is visible once it is put."""

    @override
    async def probe(self) -> None:
        await self._store.probe()

    async def _claim(self, mark: bytes) -> None:
        """Put the mark, unless another run was first."""
        if await self._store.put_new(MARK, mark):
            return
        if await self._text(MARK) != mark:
            raise OtherRun(
                f"{self.address}: another run began to publish here at the same time; "
                "publish to another place"
            )

    async def _conclude(self, manifest: bytes) -> None:
        """Put the manifest, replacing only the one that was read."""
        try:
            if self._manifest is None:
                done = await self._store.put_new(MANIFEST, manifest)
            else:
                await self._store.replace(MANIFEST, manifest, expected=self._manifest)
                done = True
        except Conflict:
            done = False
        # A refused write may follow our own, whose response was lost.
        if not done and await self._text(MANIFEST) != manifest:
            raise Conflict(
                f"{self.address}: another publication ended here meanwhile; run this again"
            )

    async def _text(self, path: str) -> bytes | None:
        try:
            return await self._store.get(path)
        except Missing:
            return None


class FolderDestination(StoreDestination):
    """A `Destination` in a folder, which is created with the first file."""

    def __init__(self, root: Path) -> None:
        self._folder = LocalStore(root)
        super().__init__(self._folder)

    @property
    @override
    def name(self) -> DatasetName:
        return DatasetName(self._folder.root.name or self.address)

    @property
    @override
    def local_name(self) -> DatasetName:
        return DatasetName(self.address)

    @override
    async def listing(self) -> Listing:
        await asyncio.to_thread(refuse_run_folder, self._folder.root, "publish")
        try:
            content = await super().listing()
            unfinished = [item.key async for item in self._folder.unfinished_writes()]
        except OSError as error:
            raise Unwritable(f"{self.address}: cannot be read: {error.strerror}") from error
        return replace(content, unfinished=tuple(sorted(unfinished)))

    @asynccontextmanager
    @override
    async def hold(self, *, wait: bool = False) -> AsyncIterator[None]:
        async with _lock(self._folder.root, wait=wait):
            for item in [item async for item in self._folder.unfinished_writes()]:
                (self._folder.root / item.key).unlink(missing_ok=True)
            await self._folder.probe()
            yield

    @override
    async def claim(self, path: str, data: bytes) -> bool:
        await self.put(path, data)
        return True


@asynccontextmanager
async def _lock(root: Path, *, wait: bool) -> AsyncIterator[None]:
    """Hold the lock of a published folder."""
    data = root / "data"
    with ExitStack() as stack:
        while True:
            try:
                data.mkdir(parents=True, exist_ok=True)
                stack.enter_context(folder_lock(data, wait=False))
                break
            except BlockingIOError:
                if not wait:
                    raise Unwritable(
                        f"{root}: another publication is writing here; run this again when it has ended"
                    ) from None
                await asyncio.sleep(_LOCK_PAUSE)
            except OSError as error:
                raise Unwritable(f"{root}: cannot be written: {error.strerror}") from error
        yield
