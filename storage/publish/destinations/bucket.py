"""Objects in any store as a destination: a bucket, above all.

Nothing can be locked there, so nothing is. Data files are named by their content, and two
publications that write the same one write the same bytes. The mark is put only if there is none,
which parts two runs that find the same empty place; the manifest replaces only the one that was
read, so of two publications that overlap one ends and the other is told to run again. What the
other removed or replaced meanwhile, that next run puts back.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from typing_extensions import override

from schemas.base import sha256_hex
from schemas.errors import Conflict, OtherRun
from storage.lake.shard_commit import hashed
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.temp_object import Draft, Source
from storage.publish.card.loading_snippets import Called
from storage.publish.destinations.listing import Content, Stock
from storage.publish.destinations.ownership import MARK, owned
from storage.publish.destinations.protocol import Destination
from storage.publish.plan.manifest import MANIFEST, TEXTS


class Store(Destination):
    """A `Destination` in an `ObjectStore`."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._manifest: bytes | None = None

    @property
    def address(self) -> str:
        """The store's URL."""
        return self._store.url

    @property
    def called(self) -> Called:
        """The store's URL: readers give the whole of it."""
        return Called(self._store.url, by_file=True)

    @property
    def called_here(self) -> Called:
        """The store's URL."""
        return self.called

    @override
    async def content(self) -> Content:
        texts = {path: await self._text(path) for path in (*TEXTS, MARK)}
        there = {path: text for path, text in texts.items() if text is not None}
        self._manifest = there.get(MANIFEST)
        return Content(
            sizes={item.key: item.size async for item in self._store.list()},
            digests={path: sha256_hex(text) for path, text in there.items()},
            texts=there,
        )

    @override
    async def digest(self, path: str) -> str | None:
        try:
            size = (await self._store.info(path)).size
            return await hashed(self._store, path, size)
        except Missing:
            return None

    @override
    async def stock(self, run_id: str) -> Stock:
        return owned(self.address, run_id, await self.content())

    @asynccontextmanager
    @override
    async def hold(self) -> AsyncIterator[None]:
        """Nobody is kept out here."""
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
    async def delete(self, paths: Sequence[str]) -> None:
        await self._store.delete(paths)

    @override
    async def finish(self, version: int) -> None:
        """What was put is there already."""

    @override
    async def probe(self) -> None:
        await self._store.probe()

    async def _claim(self, mark: bytes) -> None:
        """Put the mark; another run may have come first."""
        if await self._store.put_new(MARK, mark):
            return
        there = await self._text(MARK)
        if there != mark:
            raise OtherRun(
                f"{self.address}: another run began to publish here at the same time; "
                "publish to another place"
            )

    async def _conclude(self, manifest: bytes) -> None:
        """Put the manifest over the one that was read, and over no other."""
        try:
            if self._manifest is None:
                done = await self._store.put_new(MANIFEST, manifest)
            else:
                await self._store.replace(MANIFEST, manifest, expected=self._manifest)
                done = True
        except Conflict:
            done = False
        # A refused write may be our own, carried out before its answer was lost.
        if not done and await self._text(MANIFEST) != manifest:
            raise Conflict(
                f"{self.address}: another publication ended here meanwhile; run this again"
            )

    async def _text(self, path: str) -> bytes | None:
        try:
            return await self._store.get(path)
        except Missing:
            return None
