"""The way to tables in a bucket: what Delta's client is told, and files that stay readable.

Delta's client keeps the credentials it was made with, which is not for long. A handle is opened
anew when there are others; so are the files behind a dataset, each of which is opened with the
credentials of its own moment.
"""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from storage.objects.read_retry import retry_read
from storage.objects.s3.connection import Connection

if TYPE_CHECKING:
    from deltalake._internal import ObjectInputFile


class BucketAccess:
    """The way to tables in a bucket."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def options(self) -> Mapping[str, str]:
        """See `Access.options`."""
        return self._connection.options()

    def filesystem(self, url: str, sizes: Mapping[str, int]) -> fs.FileSystem:
        """See `Access.filesystem`."""
        return fs.PyFileSystem(_Files(url, self._connection, sizes))


class _Files(DeltaStorageHandler):
    """A table's files, read with whatever credentials there are at the time."""

    def __init__(self, url: str, connection: Connection, sizes: Mapping[str, int]) -> None:
        self._where = url
        self._sizes = dict(sizes)
        self._connection = connection
        self._options = connection.options()
        super().__init__(url, dict(self._options), self._sizes)

    def open_input_file(self, path: str) -> pa.PythonFile:
        """Open a file for random access."""
        options = self._connection.options()
        if options != self._options:
            super().__init__(self._where, dict(options), self._sizes)
            self._options = options
        return pa.PythonFile(_Patient(retry_read(lambda: self._handler.open_input_file(path))))


class _Patient(io.RawIOBase):
    """A file whose reads are asked again."""

    mode = "rb"

    def __init__(self, file: "ObjectInputFile") -> None:
        self._file = file
        self._at = 0

    def seekable(self) -> bool:
        """Say that any part of it may be read."""
        return True

    def readable(self) -> bool:
        """Say that it may be read."""
        return True

    def tell(self) -> int:
        """Return where the next read begins."""
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        """Let the next read begin elsewhere."""
        self._at = self._file.seek(offset, whence)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""

        def read() -> bytes:
            self._file.seek(self._at)
            return self._file.read(size)

        data = retry_read(read)
        self._at += len(data)
        return data
