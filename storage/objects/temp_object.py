"""A file that is being written and is no object yet.

What is too large to be held in memory is written to a draft, hashed on the way, and then put into
a store as a whole. A draft lies where its store can best take it from: beside the objects of a
folder, where it is named like any write that has not ended; in a file without a name for a
bucket, which goes with the process; in memory for a dictionary. Whoever makes one closes it, and
with that it is gone, put or not.

A large draft is hashed while it grows: a thread reads back what was written, which the system still
has in memory, beside the thread that makes the rest.
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

from schemas.errors import Unwritable

_HASHED_AT_ONCE = 1 << 22
"""Bytes that are written before they are hashed; smaller drafts are hashed when somebody asks."""

_READ_AT_ONCE = 1 << 20


class Draft:
    """Bytes at rest that can be written once, front to back, and read anywhere."""

    def __init__(self, file: BinaryIO, path: Path | None = None) -> None:
        self._file = file
        self._hash = hashlib.sha256(usedforsecurity=False)
        self._hashed = 0
        self._size = 0
        self._mute = False
        self._thread: ThreadPoolExecutor | None = None
        self._hashing: Future[None] | None = None
        self.path = path
        """Where it lies; None if it has no name."""

    @classmethod
    def in_memory(cls) -> Self:
        """Return a draft that takes memory and no disk."""
        return cls(io.BytesIO())

    @classmethod
    def nameless(cls) -> Self:
        """Return a draft in the system's folder for temporary files, which nobody else sees.

        Raises:
            Unwritable: nothing can be written there.
        """
        try:
            return cls(cast("BinaryIO", tempfile.TemporaryFile()))
        except OSError as error:
            reason = error.strerror or error
            raise Unwritable(
                f"what is on its way to the store cannot be written: {reason}; make room in the "
                "folder for temporary files, or set TMPDIR to another one"
            ) from error

    @property
    def sha256(self) -> str:
        """Of what was written, hex.

        Raises:
            Unwritable: it did not fit, or cannot be read back.
        """
        if self._hashing is not None:
            self._hashing.result()
        self._flush()
        self._hash_up_to(self._size)
        return self._hash.hexdigest()

    @property
    def closed(self) -> bool:
        """It is gone."""
        return self._file.closed

    def write(self, data: bytes) -> int:
        """Add `data`, all of it.

        Raises:
            Unwritable: it does not fit.
        """
        size = memoryview(data).nbytes
        if self._mute:
            return size
        try:
            self._file.write(data)
        except OSError as error:
            raise self._refused("written", error) from error
        self._size += size
        if self._size - self._hashed >= _HASHED_AT_ONCE and not isinstance(self._file, io.BytesIO):
            self._hash_meanwhile()
        return size

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._size

    def flush(self) -> None:
        """Do nothing: reading what was written needs no care."""

    def __len__(self) -> int:
        """Return how many bytes were written."""
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        """Return the bytes of a slice without a step, as of `bytes`."""
        start, stop, _ = part.indices(self._size)
        self._flush()
        found = bytearray(max(0, stop - start))
        return bytes(memoryview(found)[: self._read(found, start)])

    def sync(self) -> None:
        """Have the disk hold what was written.

        Raises:
            Unwritable: it did not fit.
        """
        self._flush()
        if self.path is not None:
            os.fsync(self._file.fileno())

    def reader(self) -> io.BufferedReader:
        """Return a file to read it from; the draft outlives it."""
        return io.BufferedReader(_Reader(self))

    @property
    def place(self) -> Path:
        """Where this process can open it, name or not, for those who take nothing but a path."""
        self._flush()
        return self.path or Path(f"/proc/self/fd/{self._file.fileno()}")

    def mute(self) -> None:
        """Take in nothing more: it is about to be closed, whatever its writer still says."""
        self._mute = True

    def close(self) -> None:
        """Let it go."""
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
            raise self._refused("written", error) from error

    def _hash_meanwhile(self) -> None:
        """Have what was written hashed, unless what came before still is."""
        if self._hashing is not None:
            if not self._hashing.done():
                return
            self._hashing.result()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="draft")
        self._flush()
        self._hashing = self._thread.submit(self._hash_up_to, self._size)

    def _hash_up_to(self, stop: int) -> None:
        found = bytearray(min(_READ_AT_ONCE, stop - self._hashed))
        while self._hashed < stop:
            view = memoryview(found)[: stop - self._hashed]
            size = self._read(view, self._hashed)
            if not size:
                raise self._refused("read back", OSError(errno.EIO, "it is shorter than it was"))
            self._hash.update(view[:size])
            self._hashed += size

    def _read(self, into: bytearray | memoryview, start: int) -> int:
        """Read into a buffer what lies behind `start`; where the next write goes is untouched."""
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
            raise self._refused("read back", error) from error
        return done

    def _refused(self, what: str, error: OSError) -> Unwritable:
        where = self.path or tempfile.gettempdir()
        return Unwritable(f"{where}: cannot be {what}: {error.strerror or error}")


Source = bytes | Draft
"""What can be put into a store."""


class _Reader(io.RawIOBase):
    """A draft as a file, with a place of its own in it."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._at = 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read anywhere."""
        return True

    def tell(self) -> int:
        """Return where it is."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._draft)}[whence]
        self._at = base + offset
        return self._at

    def readinto(self, buffer: object) -> int:
        """Read into `buffer` as much as fits or is left."""
        view = memoryview(buffer)  # type: ignore[arg-type] # whatever has a buffer
        found = self._draft[self._at : self._at + view.nbytes]
        view[: len(found)] = found
        self._at += len(found)
        return len(found)
