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
from pathlib import Path

from schemas.errors import BadConfig, Damaged, OtherRun, Unwritable
from storage.local import LocalStore
from storage.objects import Missing
from storage.publish.destination import MARK, Stock
from storage.publish.manifest import CARD, MANIFEST, Manifest, read_manifest
from storage.runs import KEY as RUN_FILE


class Folder:
    """A `Destination` in a folder, which is made when the first file is."""

    def __init__(self, root: Path) -> None:
        self._store = LocalStore(root)

    @property
    def address(self) -> str:
        """The folder's path."""
        return self._store.url

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self._store.root.name or self.address

    async def stock(self, run_id: str) -> Stock:
        """See `Destination.stock`."""
        await asyncio.to_thread(self._refuse_run_folder)
        try:
            texts = {path: await self._text(path) for path in (CARD, MANIFEST, MARK)}
            return await self._stock(run_id, {p: t for p, t in texts.items() if t is not None})
        except OSError as error:
            raise Unwritable(f"{self.address}: cannot be read: {error.strerror}") from error

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """See `Destination.hold`."""
        with _alone(self._store.root):
            unfinished = [item.key async for item in self._store.unfinished()]
            await asyncio.to_thread(self._clear, unfinished)
            await self._store.probe()
            yield

    async def put(self, path: str, data: bytes) -> None:
        """See `Destination.put`."""
        await self._store.put(path, data)

    async def delete(self, paths: Sequence[str]) -> None:
        """See `Destination.delete`."""
        await self._store.delete(paths)

    def _refuse_run_folder(self) -> None:
        root = self._store.root.resolve()
        for place in (root, *root.parents):
            if (place / RUN_FILE).is_file() and (place / "tables").is_dir():
                raise BadConfig(
                    f"{self.address}: lies in the folder of a run ({place}); "
                    "publish to a folder outside it"
                )

    async def _stock(self, run_id: str, texts: dict[str, bytes]) -> Stock:
        manifest = self._owned(run_id, texts)
        sizes: dict[str, int] = {}
        async for item in self._store.list():
            if manifest is None and MARK not in texts:
                raise Unwritable(
                    f"{self.address}: is not empty and holds no dataset of this run "
                    f"(there is {item.key}); publish to an empty folder"
                )
            sizes[item.key] = item.size
        return Stock(
            sizes=sizes,
            manifest=manifest,
            texts={path: text for path, text in texts.items() if path != MARK},
            unfinished=len([item async for item in self._store.unfinished()]),
        )

    def _owned(self, run_id: str, texts: dict[str, bytes]) -> Manifest | None:
        """Return the manifest that lies there, if it and the mark are of this run."""
        try:
            manifest = (
                read_manifest(texts[MANIFEST], f"{self.address}/{MANIFEST}")
                if MANIFEST in texts
                else None
            )
        except Damaged as error:
            raise Unwritable(f"{error}; publish to an empty folder") from None
        owner = (
            manifest.run if manifest else texts.get(MARK, run_id.encode()).decode(errors="replace")
        )
        if owner != run_id:
            raise OtherRun(
                f"{self.address}: holds the dataset of another run ({owner}, not {run_id}); "
                "publish to another folder"
            )
        return manifest

    async def _text(self, path: str) -> bytes | None:
        try:
            return await self._store.get(path)
        except Missing:
            return None

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
