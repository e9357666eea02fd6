"""Objects as files below a folder.

A write goes to a temporary name in the folder where it will lie, is synchronised to the disk, and
then takes its real name in one step: renamed over what was there, or linked if nothing may be
there. Being killed at any line therefore leaves an old object, a new one, or a temporary file
that no listing shows as an object. Changes of an existing name hold the folder's lock, which the
kernel drops with the process; there is no lock file to clean.

Work on files blocks, so it runs in a thread.
"""

import asyncio
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePosixPath

from typing_extensions import override

from schemas.errors import Conflict, Damaged, Unwritable
from storage.objects.protocol import UNFINISHED, Missing, ObjectInfo, ObjectStore, checked_key
from storage.objects.temp_object import Draft, Source

_PAGE = 1_000
"""Entries listed in one visit to a thread."""

_PROBE_BYTES = 65_536
"""Enough that a full disk notices."""

_COPIED = 1 << 24
"""Bytes copied at once."""

_MKDIR_TRIES = 20
"""How often a folder may vanish under a writer because another one emptied it."""


class LocalStore(ObjectStore):
    """An `ObjectStore` in a folder, which is made when the first object is."""

    def __init__(self, root: Path) -> None:
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
        return await asyncio.to_thread(self._get, checked_key(key), start, stop)

    @override
    async def info(self, key: str) -> ObjectInfo:
        path = self._path(key)
        try:
            found = await asyncio.to_thread(path.stat)
        except (FileNotFoundError, NotADirectoryError):
            raise Missing(key, self.url) from None
        if not stat.S_ISREG(found.st_mode):
            raise Missing(key, self.url)
        return _info(key, found)

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
        async for found in self._walk(prefix, unfinished=False):
            yield found

    @override
    async def unfinished(self) -> AsyncIterator[ObjectInfo]:
        async for found in self._walk("", unfinished=True):
            yield found

    @override
    async def give_up(self, before: datetime) -> int:
        """A writer holds the lock of its file as long as it lives."""
        old = [found.key async for found in self.unfinished() if found.modified < before]
        return await asyncio.to_thread(self._give_up, old)

    @override
    async def delete(self, keys: Iterable[str]) -> None:
        await asyncio.to_thread(self._delete, [self._path(key) for key in keys])

    @override
    def draft(self, prefix: str) -> Draft:
        path = _temporary_in(self._path(prefix))
        with _writing(path):
            return Draft(os.fdopen(_create(path), "w+b"), path)

    @override
    async def probe(self) -> None:
        await asyncio.to_thread(self._probe)

    def _path(self, key: str) -> Path:
        return self._root / PurePosixPath(checked_key(key))

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
        with _writing(path), self._temporary(path, data) as temporary, _locked(path.parent):
            temporary.replace(path)
            _sync(path.parent)

    def _put_new(self, path: Path, data: Source) -> bool:
        with _writing(path):
            if path.exists():
                return False
            with self._temporary(path, data) as temporary:
                try:
                    path.hardlink_to(temporary)
                except FileExistsError:
                    return False
                _sync(path.parent)
                return True

    def _replace(self, path: Path, data: bytes, expected: bytes) -> bool:
        with _writing(path), self._temporary(path, data) as temporary, _locked(path.parent):
            try:
                found = path.read_bytes()
            except FileNotFoundError:
                return False
            if found != expected:
                return False
            temporary.replace(path)
            _sync(path.parent)
            return True

    def _delete(self, paths: Iterable[Path]) -> None:
        for path in paths:
            with _writing(path):
                with suppress(FileNotFoundError, NotADirectoryError), _locked(path.parent):
                    path.unlink()
                self._prune(path.parent)

    def _give_up(self, keys: Iterable[str]) -> int:
        removed = 0
        for path in (self._root / key for key in keys):
            with _writing(path):
                removed += _remove_unless_held(path)
                self._prune(path.parent)
        return removed

    def _prune(self, folder: Path) -> None:
        """Remove folders that hold nothing any more: a bucket would not show them either."""
        while folder != self._root and self._root in folder.parents:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _probe(self) -> None:
        path = self._root / "probe"
        made = [folder for folder in (self._root, *self._root.parents) if not folder.exists()]
        try:
            with _writing(self._root), self._temporary(path, bytes(_PROBE_BYTES)):
                pass
        finally:
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()

    @contextmanager
    def _temporary(self, path: Path, data: Source) -> Iterator[Path]:
        """Yield a synchronised file of `data` beside `path`; remove it unless it was renamed."""
        if isinstance(data, Draft) and data.path is not None and data.path.parent == path.parent:
            data.sync()
            yield data.path  # it is the draft's: who made that removes it
            return
        temporary = _temporary_in(path.parent)
        try:
            with os.fdopen(_create(temporary), "wb") as file:
                for start in range(0, len(data), _COPIED):
                    file.write(data[start : start + _COPIED])
                file.flush()
                os.fsync(file.fileno())
            yield temporary
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    async def _walk(self, prefix: str, *, unfinished: bool) -> AsyncIterator[ObjectInfo]:
        found = _scan(self._root, prefix, unfinished=unfinished)
        while page := await asyncio.to_thread(_page, found):
            for item in page:
                yield item


def _temporary_in(folder: Path) -> Path:
    return folder / f".tmp-{secrets.token_hex(8)}"


def _page(found: Iterator[ObjectInfo]) -> list[ObjectInfo]:
    try:
        return [*islice(found, _PAGE)]
    except OSError as error:
        reason = error.strerror or str(error)
        raise Damaged(f"{error.filename}: cannot be listed: {reason}") from error


def _create(path: Path) -> int:
    """Open a new file, with the folders it needs, however often another process prunes them.

    As long as it is open its lock says that its writer lives.
    """
    for _ in range(_MKDIR_TRIES):
        _make_folders(path.parent)
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            fcntl.flock(handle, fcntl.LOCK_SH)
            return handle
    raise FileNotFoundError(errno.ENOENT, "its folder cannot be made, or goes again and again")


def _make_folders(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folders(folder.parent)
    with suppress(FileNotFoundError):
        folder.mkdir(exist_ok=True)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    """Make the names in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; it goes with the process, even a killed one."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remove_unless_held(path: Path) -> bool:
    """Remove an unfinished file whose writer is gone; say whether it was there and went."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Name the path and the reason when the system refuses a write."""
    try:
        yield
    except OSError as error:
        raise Unwritable(f"{path}: cannot be written: {error.strerror or error}") from error


def _scan(root: Path, prefix: str, *, unfinished: bool) -> Iterator[ObjectInfo]:
    """Yield files below `root` whose key begins with `prefix`; links are not followed.

    They are either those that are finished or the others; only they are asked for their size.
    """
    folder = prefix.rpartition("/")[0]
    pending = [checked_key(folder)] if folder else [""]
    while pending:
        here = pending.pop()
        try:
            entries = sorted(os.scandir(root / here), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            key = f"{here}/{entry.name}" if here else entry.name
            if not (key.startswith(prefix) or prefix.startswith(f"{key}/")):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(key)
                continue
            if (UNFINISHED.fullmatch(entry.name) is not None) != unfinished:
                continue
            with suppress(FileNotFoundError):
                yield _info(key, entry.stat(follow_symlinks=False))


def _info(key: str, found: os.stat_result) -> ObjectInfo:
    modified = datetime.fromtimestamp(found.st_mtime, UTC)
    return ObjectInfo(key=key, size=found.st_size, modified=modified)
