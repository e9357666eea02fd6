"""A temporary file that becomes an object once it is whole.

Data too large for memory is written to a draft, hashed on the way, and then put into a store as a
whole. The store decides where a draft is cheapest: a folder keeps it beside its objects, named like
any unfinished write; a bucket in a file without a name, which the system removes with the process; a
dictionary in memory. The caller that makes a draft closes it, which removes it, whether it was put
or not.

A large draft is hashed while it grows: one thread reads back the bytes written so far, which the system
still caches, while another writes the rest.
"""

import errno
import hashlib
import io
import os
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self, cast

from typing_extensions import override

from schemas.errors import Unwritable

_HASH_BYTES = 1 << 22
"""Bytes that are written before they are hashed; smaller drafts are hashed when their hash is read."""

_BUFFER_BYTES = 1 << 20


class Draft:
    """Bytes that are appended, and can be read anywhere."""

    def __init__(self, file: BinaryIO, path: Path | None = None) -> None:
        self._file = file
        self._hash = hashlib.sha256(usedforsecurity=False)
        self._hashed = 0
        self._size = 0
        self._discarding = False
        self._thread: ThreadPoolExecutor | None = None
        self._hashing: Future[None] | None = None
        self.path = path
        """The file; None if it has no name."""

    @classmethod
    def in_memory(cls) -> Self:
        """Return a draft that takes memory and no disk."""
        return cls(io.BytesIO())

    @classmethod
    def nameless(cls) -> Self:
        """Return a draft without a name in the system's folder for temporary files.

        Raises:
            Unwritable: that folder cannot be written.
        """
        try:
            return cls(cast("BinaryIO", tempfile.TemporaryFile()))
        except OSError as error:
            raise _no_room(error) from error

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes written, hex.

        Raises:
            Unwritable: the disk is full, or the file cannot be read back.
        """
        if self._hashing is not None:
            self._hashing.result()
        self._flush()
        self._hash_up_to(self._size)
        return self._hash.hexdigest()

    @property
    def closed(self) -> bool:
        """Whether it was closed, and thereby removed."""
        return self._file.closed

    def write(self, data: bytes) -> int:
        """Append all of `data`.

        Raises:
            Unwritable: the disk is full.
        """
        size = memoryview(data).nbytes
        if self._discarding:
            return size
        try:
            self._file.write(data)
        except OSError as error:
            raise self._unwritable("written", error) from error
        self._size += size
        if self._size - self._hashed >= _HASH_BYTES and not isinstance(self._file, io.BytesIO):
            self._hash_in_thread()
        return size

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._size

    def flush(self) -> None:
        """Do nothing: every read flushes first."""

    def __len__(self) -> int:
        """Return how many bytes were written."""
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        """Return the bytes of a slice without a step, as of `bytes`."""
        start, stop, _ = part.indices(self._size)
        self._flush()
        buffer = bytearray(max(0, stop - start))
        return bytes(memoryview(buffer)[: self._read(buffer, start)])

    def sync(self) -> None:
        """Synchronise the file to the disk.

        Raises:
            Unwritable: the disk is full.
        """
        self._flush()
        if self.path is not None:
            os.fsync(self._file.fileno())

    def reader(self) -> io.BufferedReader:
        """Return a file that reads the draft; closing the file does not close the draft."""
        return io.BufferedReader(_Reader(self))

    @property
    def open_path(self) -> Path:
        """A path at which this process can open it, name or not, for libraries that take only paths."""
        self._flush()
        return self.path or Path(f"/proc/self/fd/{self._file.fileno()}")

    def discard_writes(self) -> None:
        """Discard further writes: it is about to be closed, and its Parquet writer still has some."""
        self._discarding = True

    def close(self) -> None:
        """Close and remove the file."""
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
        with suppress(OSError):
            self._file.close()
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)

    def _flush(self) -> None:
        try:
            self._file.flush()
        except OSError as error:
            raise self._unwritable("written", error) from error

    def _hash_in_thread(self) -> None:
        """Start to hash the bytes written so far, unless earlier ones are still being hashed."""
        if self._hashing is not None:
            if not self._hashing.done():
                return
            self._hashing.result()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="draft")
        self._flush()
        self._hashing = self._thread.submit(self._hash_up_to, self._size)

    def _hash_up_to(self, stop: int) -> None:
        buffer = bytearray(min(_BUFFER_BYTES, stop - self._hashed))
        while self._hashed < stop:
            view = memoryview(buffer)[: stop - self._hashed]
            size = self._read(view, self._hashed)
            if not size:
                raise self._unwritable(
                    "read back", OSError(errno.EIO, "the file is shorter than the bytes written")
                )
            self._hash.update(view[:size])
            self._hashed += size

    def _read(self, into: bytearray | memoryview, start: int) -> int:
        """Read from `start` into a buffer; the position of the next write does not move."""
        if isinstance(self._file, io.BytesIO):
            data = self._file.getbuffer()[start : start + len(into)]
            into[: len(data)] = data
            return len(data)
        view, done = memoryview(into), 0
        try:
            while done < len(into) and (
                size := os.preadv(self._file.fileno(), [view[done:]], start)
            ):
                done, start = done + size, start + size
        except OSError as error:
            raise self._unwritable("read back", error) from error
        return done

    def _unwritable(self, what: str, error: OSError) -> Unwritable:
        if self.path is None:
            return _no_room(error)
        return Unwritable(f"{self.path}: cannot be {what}: {error.strerror or error}")


def _no_room(error: OSError) -> Unwritable:
    return Unwritable(
        f"cannot write a temporary file for the store: {error.strerror or error}; make room in the "
        "folder for temporary files, or set TMPDIR to another one"
    )


Source = bytes | Draft
"""The content of an object, for `put`."""


class _Reader(io.RawIOBase):
    """A draft as a file, with a read position of its own."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._position = 0

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return True

    @override
    def tell(self) -> int:
        return self._position

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._draft)}[whence]
        self._position = base + offset
        return self._position

    @override
    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type] # anything with a buffer
        data = self._draft[self._position : self._position + view.nbytes]
        view[: len(data)] = data
        self._position += len(data)
        return len(data)
