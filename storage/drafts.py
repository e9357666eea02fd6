"""A file that is being written and is no object yet.

What is too large to be held in memory is written to a draft, hashed on the way, and then put into
a store as a whole. A draft lies where its store can best take it from: beside the objects of a
folder, where it is named like any write that has not ended; in a file without a name for a
bucket, which goes with the process; in memory for a dictionary. Whoever makes one closes it, and
with that it is gone, put or not.

Hashing and writing a large draft take as long as making its bytes does, and both let other Python
code run; so they are done in a thread beside the one that makes them.
"""

import hashlib
import io
import os
import tempfile
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self, cast

from schemas.errors import Unwritable

_LARGE = 1 << 22
"""Bytes from which on a draft has a thread of its own."""

_WAITING = 8
"""Pieces that may wait for that thread; Parquet comes in pieces of about a page."""


class Draft:
    """Bytes at rest that can be written once, front to back, and read anywhere."""

    def __init__(self, file: BinaryIO, path: Path | None = None) -> None:
        self._file = file
        self._hash = hashlib.sha256(usedforsecurity=False)
        self._size = 0
        self._mute = False
        self._lock = threading.Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[None]] = deque()
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
            Unwritable: it did not fit.
        """
        self._settle(left=0)
        return self._hash.hexdigest()

    @property
    def closed(self) -> bool:
        """It is gone."""
        return self._file.closed

    def write(self, data: bytes) -> int:
        """Add `data`, all of it.

        Raises:
            Unwritable: it does not fit, or what came before it did not.
        """
        size = memoryview(data).nbytes
        if self._mute:
            return size
        self._size += size
        if self._size < _LARGE:
            self._take(data)
            return size
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="draft")
        self._waiting.append(self._thread.submit(self._take, bytes(data)))
        self._settle(left=_WAITING)
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
        self._settle(left=0)
        with self._lock:
            self._file.seek(start)
            return self._file.read(max(0, stop - start))

    def sync(self) -> None:
        """Have the disk hold what was written.

        Raises:
            Unwritable: it did not fit.
        """
        self._settle(left=0)
        self._file.flush()
        if self.path is not None:
            os.fsync(self._file.fileno())

    def reader(self) -> io.BufferedReader:
        """Return a file to read it from; the draft outlives it."""
        return io.BufferedReader(_Reader(self))

    @property
    def place(self) -> Path:
        """Where this process can open it, name or not, for those who take nothing but a path."""
        self._settle(left=0)
        self._file.flush()
        return self.path or Path(f"/proc/self/fd/{self._file.fileno()}")

    def mute(self) -> None:
        """Take in nothing more: it is about to be closed, whatever its writer still says."""
        self._mute = True

    def close(self) -> None:
        """Let it go."""
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
            self._waiting.clear()
        with suppress(OSError):
            self._file.close()
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)

    def _take(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            where = self.path or tempfile.gettempdir()
            reason = error.strerror or error
            raise Unwritable(f"{where}: cannot be written: {reason}") from error
        self._hash.update(data)

    def _settle(self, *, left: int) -> None:
        """Wait until no more than so many pieces wait; one that failed says so again and again."""
        while len(self._waiting) > left:
            self._waiting[0].result()
            self._waiting.popleft()


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
