"""How Delta's client, and Arrow after it, reach the files of tables: with which credentials, and with how many tries.

A table in a folder needs nothing. One in a bucket needs credentials, which change during a run, and
Delta's client keeps those it was made with. So a table is opened again when its options have
changed, and each file of a dataset is opened with the credentials of that moment.

Delta's client retries when a store answers with an error, but gives up when a response breaks off.
Reading changes nothing, so `retry_read` repeats it.
"""

import io
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow as pa
from deltalake.exceptions import DeltaError
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs
from typing_extensions import override

from schemas.backoff import Backoff
from storage.objects.error_messages import is_transient
from storage.objects.protocol import ObjectStore
from storage.objects.urls import folder, is_bucket

if TYPE_CHECKING:
    from deltalake._internal import ObjectInputFile

    from storage.objects.s3 import Connection

T = TypeVar("T")

_BACKOFF = Backoff(first_seconds=0.05, max_seconds=3.2, tries=8)


class Access(Protocol):
    """Access to the tables of one folder or bucket."""

    def options(self) -> dict[str, str] | None:
        """Return the `storage_options` of Delta's client; None where it needs none.

        Raises:
            Unwritable: there are no credentials.
        """
        ...

    def filesystem(self, url: str, sizes: Mapping[str, int]) -> fs.FileSystem:
        """Return the folder `url`, for reading; `sizes` are those of its files, by path."""
        ...


class FolderAccess(Access):
    """Access to tables in a folder."""

    @override
    def options(self) -> None:
        return

    @override
    def filesystem(self, url: str, sizes: Mapping[str, int]) -> fs.FileSystem:
        del sizes
        return fs.SubTreeFileSystem(url, fs.LocalFileSystem())


FOLDER = FolderAccess()
"""The same for every folder."""


class BucketAccess(Access):
    """Access to tables in a bucket."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection

    @override
    def options(self) -> dict[str, str]:
        return self._connection.options()

    @override
    def filesystem(self, url: str, sizes: Mapping[str, int]) -> fs.FileSystem:
        return fs.PyFileSystem(_BucketFiles(url, self._connection, sizes))


def access_to(store: ObjectStore) -> Access:
    """Return the access to the tables in `store`; it shares the client of a bucket."""
    if not is_bucket(store.url):
        return FOLDER
    from storage.objects import s3  # noqa: PLC0415 - heavy, and only for this

    if not isinstance(store, s3.S3Store):
        raise TypeError(f"{store.url}: expected an S3Store, got {type(store).__name__}")
    return BucketAccess(store.connection)


def table_url(run: str, table: str) -> str:
    """Return the URL under which Delta's client finds a run's `table`.

    Raises:
        BadConfig: this version cannot open such a URL.
    """
    if is_bucket(run):
        from storage.objects import s3  # noqa: PLC0415 - heavy, and only for this

        return f"{s3.Address.parse(run).url}/tables/{table}"
    return str(folder(run).absolute() / "tables" / table)


def entry_key(table: str, number: int) -> str:
    """Return the key of an entry of a table's log."""
    return f"tables/{table}/_delta_log/{number:020d}.json"


def checkpoint_key(table: str, number: int) -> str:
    """Return the key of a checkpoint of a table's log."""
    return f"tables/{table}/_delta_log/{number:020d}.checkpoint.parquet"


def retry_read(read: Callable[[], T]) -> T:
    """Return the result of `read`, retrying transient failures; this blocks."""
    for pause in _BACKOFF.pauses():
        try:
            return read()
        except (DeltaError, OSError) as error:
            if pause is None or not is_transient(error):
                raise
        threading.Event().wait(pause)
    raise AssertionError("the last try returns or raises")


class _BucketFiles(DeltaStorageHandler):
    """A table's files, each opened with the credentials there are at the time."""

    def __init__(self, url: str, connection: "Connection", sizes: Mapping[str, int]) -> None:
        self._url = url
        self._sizes = dict(sizes)
        self._connection = connection
        self._options = connection.options()
        super().__init__(url, self._options, self._sizes)

    @override
    def open_input_file(self, path: str) -> pa.PythonFile:
        options = self._connection.options()
        if options != self._options:
            super().__init__(self._url, options, self._sizes)
            self._options = options
        return pa.PythonFile(_RetryingFile(retry_read(lambda: self._handler.open_input_file(path))))


class _RetryingFile(io.RawIOBase):
    """A file whose reads are retried."""

    mode = "rb"

    def __init__(self, file: "ObjectInputFile") -> None:
        self._file = file
        self._position = 0

    @override
    def seekable(self) -> bool:
        return True

    @override
    def readable(self) -> bool:
        return True

    @override
    def tell(self) -> int:
        return self._position

    @override
    def seek(self, offset: int, whence: int = 0) -> int:
        self._position = self._file.seek(offset, whence)
        return self._position

    @override
    def read(self, size: int = -1) -> bytes:
        def read() -> bytes:
            self._file.seek(self._position)
            return self._file.read(size)

        data = retry_read(read)
        self._position += len(data)
        return data
