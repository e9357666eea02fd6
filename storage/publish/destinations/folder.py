"""A folder as a destination.

A folder is accepted only if it is empty or holds a dataset of the same run; the folder of a run is
refused. A publication holds a lock on `data/`, which the kernel releases with the process, so two
publications cannot undo each other and a killed one leaves nothing to unlock.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from typing_extensions import override

from schemas.errors import BadConfig, Unwritable
from storage.objects.durable_files import locked
from storage.objects.local import LocalStore
from storage.objects.temp_object import Draft, Source
from storage.publish.card.loading_snippets import DatasetName
from storage.publish.destinations.bucket import BucketDestination
from storage.publish.destinations.listing import Listing, OwnedListing
from storage.publish.destinations.ownership import check_owner
from storage.publish.destinations.protocol import Destination
from storage.run_file import KEY as RUN_FILE


class FolderDestination(Destination):
    """A `Destination` in a folder, which is created with the first file."""

    def __init__(self, root: Path) -> None:
        self._store = LocalStore(root)
        self._objects = BucketDestination(self._store)

    @property
    def address(self) -> str:
        """The folder's path."""
        return self._store.url

    @property
    def name(self) -> DatasetName:
        """The folder's own name."""
        return DatasetName(self._store.root.name or self.address)

    @property
    def local_name(self) -> DatasetName:
        """The folder's path."""
        return DatasetName(self.address)

    @override
    async def listing(self) -> Listing:
        await asyncio.to_thread(self._refuse_run_folder)
        try:
            content = await self._objects.listing()
            unfinished = [item.key async for item in self._store.unfinished()]
        except OSError as error:
            raise Unwritable(f"{self.address}: cannot be read: {error.strerror}") from error
        return replace(content, unfinished=tuple(sorted(unfinished)))

    @override
    async def digest(self, path: str) -> str | None:
        return await self._objects.digest(path)

    @override
    async def owned_listing(self, run_id: str) -> OwnedListing:
        return check_owner(self.address, run_id, await self.listing())

    @asynccontextmanager
    @override
    async def hold(self) -> AsyncIterator[None]:
        with _locked(self._store.root):
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
        """Do nothing: every file is visible once it is put."""

    @override
    async def probe(self) -> None:
        await self._store.probe()

    def _refuse_run_folder(self) -> None:
        root = self._store.root.resolve()
        for folder in (root, *root.parents):
            if (folder / RUN_FILE).is_file() and (folder / "tables").is_dir():
                raise BadConfig(
                    f"{self.address}: lies in the folder of a run ({folder}); "
                    "publish to a folder outside it"
                )

    def _clear(self, unfinished: Sequence[str]) -> None:
        for key in unfinished:
            (self._store.root / key).unlink(missing_ok=True)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Hold the lock of a published folder."""
    data = root / "data"
    with ExitStack() as stack:
        try:
            data.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(data, wait=False))
        except BlockingIOError:
            raise Unwritable(
                f"{root}: another publication is writing here; run this again when it has ended"
            ) from None
        except OSError as error:
            raise Unwritable(f"{root}: cannot be written: {error.strerror}") from error
        yield
