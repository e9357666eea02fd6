"""Objects as files below a folder.

A write goes to a temporary file in the folder of its object, is synchronised to the disk, and then
takes its real name in one step: renamed over an old object, or linked if there must be none. A
process that is killed at any line therefore leaves the old object, the new one, or a temporary file
that no listing shows. A change of an existing name holds the folder's lock, which the kernel
releases with the process; there is no lock file to clean up.

Work on files blocks, so it runs in a thread.
"""

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePosixPath

from typing_extensions import override

from schemas.errors import Conflict, Damaged, Unwritable
from storage.objects.durable_files import (
    ANYBODY,
    create_draft,
    folder_lock,
    make_private_folder,
    remove_unless_locked,
    sync_folder,
    temporary_file,
)
from storage.objects.protocol import UNFINISHED, Missing, ObjectInfo, ObjectStore, check_key
from storage.objects.temp_object import Draft, Source

_PAGE_ENTRIES = 1_000
"""Entries listed per call in a thread."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_PROBE_BYTES = 65_536
"""Enough for a full disk to refuse."""


class LocalStore(ObjectStore):
    """An `ObjectStore` in a folder, which is created with the first object."""

    def __init__(self, root: Path, *, private: bool = False) -> None:
        """With `private`, a folder that this store creates can be entered by the user alone."""
        self._private = private
        self._root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow links

    @property
    def root(self) -> Path:
        """The folder."""
        return self._root

    @property
    def url(self) -> str:
        """The folder's path."""
        return str(self._root)

    @override
    async def get(self, key: str, *, start: int = 0, stop: int | None = None) -> bytes:
        return await asyncio.to_thread(self._get, check_key(key), start, stop)

    @override
    async def info(self, key: str) -> ObjectInfo:
        path = self._path(key)
        try:
            status = await asyncio.to_thread(path.stat)
        except (FileNotFoundError, NotADirectoryError):
            raise Missing(key, self.url) from None
        if not stat.S_ISREG(status.st_mode):
            raise Missing(key, self.url)
        return _info(key, status)

    @override
    async def put(self, key: str, data: Source) -> None:
        await asyncio.to_thread(self._put, self._path(key), data)

    @override
    async def put_new(self, key: str, data: Source) -> bool:
        return await asyncio.to_thread(self._put_new, self._path(key), data)

    @override
    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        if not await asyncio.to_thread(self._replace, self._path(key), data, expected):
            raise Conflict(f"{self._path(key)}: another writer changed it")

    @override
    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        async for item in self._walk(prefix, unfinished=False):
            yield item

    @override
    async def unfinished_writes(self) -> AsyncIterator[ObjectInfo]:
        async for item in self._walk("", unfinished=True):
            yield item

    @override
    async def remove_unfinished(self, before: datetime) -> int:
        # A running writer holds the lock of its file, so its file stays.
        old = [item.key async for item in self.unfinished_writes() if item.modified < before]
        return await asyncio.to_thread(self._remove_unfinished, old)

    @override
    async def delete(self, keys: Iterable[str]) -> None:
        await asyncio.to_thread(self._delete, [self._path(key) for key in keys])

    @override
    def draft(self, prefix: str) -> Draft:
        folder = self._path(prefix)
        with self._write_mode(folder) as mode:
            return create_draft(folder, mode)

    @override
    async def probe(self) -> None:
        await asyncio.to_thread(self._probe)

    @contextmanager
    def _write_mode(self, path: Path) -> Iterator[int]:
        """Yield the mode of new files: for the user alone if only the user may enter the store's folder."""
        with _write_errors(path):
            if self._private:
                make_private_folder(self._root)
            closed = self._root.is_dir() and not self._root.stat().st_mode & _OTHERS
            yield 0o600 if closed else ANYBODY

    def _path(self, key: str) -> Path:
        return self._root / PurePosixPath(check_key(key))

    def _get(self, key: str, start: int, stop: int | None) -> bytes:
        try:
            with self._path(key).open("rb") as file:
                file.seek(start)
                return file.read() if stop is None else file.read(max(0, stop - start))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise Missing(key, self.url) from None
        except OSError as error:
            raise Damaged(f"{self._path(key)}: cannot be read: {error.strerror}") from error

    def _put(self, path: Path, data: Source) -> None:
        with (
            self._write_mode(path) as mode,
            temporary_file(path, data, mode=mode) as temporary,
            folder_lock(path.parent),
        ):
            temporary.replace(path)
            sync_folder(path.parent)

    def _put_new(self, path: Path, data: Source) -> bool:
        with self._write_mode(path) as mode:
            if path.exists():
                return False
            with temporary_file(path, data, mode=mode) as temporary:
                try:
                    path.hardlink_to(temporary)
                except FileExistsError:
                    return False
                sync_folder(path.parent)
                return True

    def _replace(self, path: Path, data: bytes, expected: bytes) -> bool:
        with (
            self._write_mode(path) as mode,
            temporary_file(path, data, mode=mode) as temporary,
            folder_lock(path.parent),
        ):
            try:
                current = path.read_bytes()
            except FileNotFoundError:
                return False
            if current != expected:
                return False
            temporary.replace(path)
            sync_folder(path.parent)
            return True

    def _delete(self, paths: Iterable[Path]) -> None:
        for path in paths:
            with _write_errors(path):
                with suppress(FileNotFoundError, NotADirectoryError), folder_lock(path.parent):
                    path.unlink()
                self._prune(path.parent)

    def _remove_unfinished(self, keys: Iterable[str]) -> int:
        removed = 0
        for path in (self._root / key for key in keys):
            with _write_errors(path):
                removed += remove_unless_locked(path)
                self._prune(path.parent)
        return removed

    def _prune(self, folder: Path) -> None:
        """Remove folders that are empty now: in a bucket they would not exist either."""
        while folder != self._root and self._root in folder.parents:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _probe(self) -> None:
        path = self._root / "probe"
        created = [folder for folder in (self._root, *self._root.parents) if not folder.exists()]
        try:
            with self._write_mode(self._root), temporary_file(path, bytes(_PROBE_BYTES)):
                pass
        finally:
            for folder in created:
                with suppress(OSError):
                    folder.rmdir()

    async def _walk(self, prefix: str, *, unfinished: bool) -> AsyncIterator[ObjectInfo]:
        entries = _scan(self._root, prefix, unfinished=unfinished)
        while page := await asyncio.to_thread(_page, entries):
            for item in page:
                yield item


def _page(entries: Iterator[ObjectInfo]) -> list[ObjectInfo]:
    try:
        return [*islice(entries, _PAGE_ENTRIES)]
    except OSError as error:
        reason = error.strerror or str(error)
        raise Damaged(f"{error.filename}: cannot be listed: {reason}") from error


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Turn an `OSError` of a write into an `Unwritable` that names the path."""
    try:
        yield
    except OSError as error:
        raise Unwritable(f"{path}: cannot be written: {error.strerror or error}") from error


def _scan(root: Path, prefix: str, *, unfinished: bool) -> Iterator[ObjectInfo]:
    """Yield the finished or the unfinished files whose key begins with `prefix`.

    Links are not followed, and only files that are yielded are asked for their size.
    """
    start = prefix.rpartition("/")[0]
    pending = [check_key(start)] if start else [""]
    while pending:
        folder = pending.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            key = f"{folder}/{entry.name}" if folder else entry.name
            if not _is_text(entry.name):
                shown = key.encode("ascii", "backslashreplace").decode()
                raise Damaged(f"{root}/{shown}: its name is not text in UTF-8; rename or remove it")
            if not (key.startswith(prefix) or prefix.startswith(f"{key}/")):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(key)
                continue
            if (UNFINISHED.fullmatch(entry.name) is not None) != unfinished:
                continue
            with suppress(FileNotFoundError):
                yield _info(key, entry.stat(follow_symlinks=False))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _info(key: str, status: os.stat_result) -> ObjectInfo:
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    return ObjectInfo(key=key, size=status.st_size, modified=modified)
