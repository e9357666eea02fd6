"""One Delta table as a commit log.

Delta refuses a second commit of an application transaction only if the first one came in after
the writer's snapshot; one that the snapshot already shows is accepted, and the table has its rows
twice. So a commit here is always three steps on one handle: refresh it, ask **that handle** for
the transaction, and commit with it only if the answer is no. An error from a commit means nothing
by itself (the commit may be in, and its response lost), so the three steps are repeated. A table that
an older version created gets the columns that were added since before its next commit.

`DeltaHandle` does these steps and blocks. `AsyncDeltaTable` runs a handle in a thread, one call after
the other, and cancels no call that has begun.

Errors of Delta's client after the last try (`_ERRORS`):

| error | is tried again | becomes |
|---|---|---|
| the store denies access | no | `Unwritable` |
| the store does not answer, or fails in a way that may pass | yes | `Unwritable` |
| `OSError`, `TableNotFoundError`: the disk is full, the table is gone | yes | `Unwritable` |
| `CommitFailedError`: another writer was first | yes | `Conflict` |
| any other `DeltaError` | yes | `Damaged` |

A process that used `deltalake` must never fork.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from pyarrow.dataset import Dataset

from schemas.backoff import Backoff
from schemas.errors import Conflict, Damaged, StepmillError, Unwritable
from schemas.tables.tables import TABLES, arrow_schema
from storage.lake.delta_scan import dataset_of, live_files
from storage.lake.delta_stats import AddedFile
from storage.lake.file_access import FOLDER, Access, retry_read
from storage.objects.error_messages import is_access_error, is_transient, one_line, read_error

T = TypeVar("T")

CONFIGURATION = {"delta.logRetentionDuration": "interval 3650 days"}
"""Old versions stay readable for ten years; transactions are kept for ever by their default."""

STAGED = re.compile(
    rf"tables/(?P<table>{'|'.join(TABLES)})/_delta_log/"
    r"(?:\d{20}\.json|\d{20}\.checkpoint\.parquet|_last_checkpoint)#\d+"
)
"""A key under which Delta's client keeps an unfinished write to a folder."""

_BACKOFF = Backoff(first_seconds=0.02, max_seconds=2.0, tries=10)
"""The back-off of a commit, long enough for a few dozen writers of one table to take turns."""

_ERRORS: Sequence[tuple[type[Exception], type[StepmillError]]] = (
    (OSError, Unwritable),
    (TableNotFoundError, Unwritable),
    (CommitFailedError, Conflict),
    (DeltaError, Damaged),
)
"""The first that fits; see the table above."""


@dataclass(frozen=True, slots=True)
class CommitEntry:
    """The content that a commit adds to a table's log."""

    transaction: str
    """The application transaction, which is committed once."""
    token: int
    """A hash of the content: two commits under one name are the same if their tokens are."""
    files: Sequence[AddedFile]
    """The files that it adds."""
    extra_transaction: Transaction | None = None
    """A second transaction of the same commit, whose number may exist already; None if the commit has one
    transaction."""


class DeltaHandle:
    """A Delta table as this process last saw it. Every method blocks."""

    def __init__(self, name: str, url: str, access: Access = FOLDER) -> None:
        self.name = name
        self.url = url
        self._access = access
        self._options: dict[str, str] | None = None
        self._schema = arrow_schema(name)
        self._table: DeltaTable | None = None

    def refresh(self) -> DeltaTable | None:
        """Return the table as it is now; None if it does not exist yet."""
        options = self._access.options()
        if options != self._options:  # such as credentials that were renewed: open the table again
            self._table, self._options = None, options
        if self._table is not None:
            try:
                self._table.update_incremental()
            except DeltaError:
                self._table = None  # its log may have been cleaned up since: open the table again
        if self._table is None:
            with suppress(TableNotFoundError):
                self._table = DeltaTable(self.url, storage_options=self._options)
        return self._table

    def transaction_token(self, transaction: str) -> int | None:
        """Return the token `transaction` was committed with; None if it was not."""
        table = self.refresh()
        return None if table is None else table.transaction_version(transaction)

    def commit_once(self, entry: CommitEntry) -> int:
        """Commit `entry` unless its transaction is in; return the token that is."""
        table = self._ready()
        committed = table.transaction_version(entry.transaction)
        if committed is not None:
            return committed
        transactions = [Transaction(entry.transaction, entry.token), entry.extra_transaction]
        noted = CommitProperties(app_transactions=[item for item in transactions if item])
        self.write(table, noted, entry.files)
        return entry.token

    def commit_rows_once(
        self, transactions: Collection[str], token: int, files: Sequence[AddedFile]
    ) -> dict[str, int]:
        """Commit `files`, in which each row has a transaction of its own, unless one of these is in.

        Return the tokens of those that are in: of all of them, with `token`, after the commit.
        """
        table = self._ready()
        found = {name: table.transaction_version(name) for name in transactions}
        known = {name: number for name, number in found.items() if number is not None}
        if known:
            return known
        noted = [Transaction(name, token) for name in transactions]
        self.write(table, CommitProperties(app_transactions=noted), files)
        return dict.fromkeys(transactions, token)

    def _ready(self) -> DeltaTable:
        """Return the table as it is now, created if it did not exist, with the columns of today."""
        table = self.refresh()
        if table is None:
            self.create()
            table = self.refresh()
        elif columns := self._missing_columns(table):
            # A commit of its own; others may have committed before it, so refresh again.
            table.alter.add_columns(columns)
            table = self.refresh()
        if table is None:
            raise TableNotFoundError(f"{self.url}: the table was created and is gone")
        return table

    def create(self) -> None:
        """Create the table; of several writers that try at once all may get an error, though one succeeds."""
        DeltaTable.create(
            self.url,
            schema=Schema.from_arrow(self._schema),
            mode="ignore",
            configuration=CONFIGURATION,
            storage_options=self._options,
        )

    def _missing_columns(self, table: DeltaTable) -> list[Field]:
        """Return the columns that were added since the table was created; old files read as null."""
        existing = {field.name for field in table.schema().fields}
        missing = [item for item in self._schema if item.nullable and item.name not in existing]
        return Schema.from_arrow(pa.schema(missing)).fields if missing else []

    def write(
        self, table: DeltaTable, properties: CommitProperties, files: Sequence[AddedFile]
    ) -> None:
        """Append `files` to the log with the handle that was asked for the transaction."""
        table.create_write_transaction(
            [added.action(data_change=True) for added in files],
            mode="append",
            schema=Schema.from_arrow(self._schema),
            commit_properties=properties,
        )

    def version(self) -> int | None:
        """Return the table's version; None if it does not exist yet."""
        table = self.refresh()
        return None if table is None else table.version()

    def dataset(self, units: Collection[str] | None = None) -> Dataset | None:
        """Return the table's rows, or the files that can hold those of `units` (see `delta_scan`).

        None if the table does not exist yet.
        """
        table = self.refresh()
        if table is None:
            return None
        return dataset_of(table, self.url, access=self._access, units=units)

    def file_stats(self) -> tuple[pa.Table, Dataset] | None:
        """Return the log's facts about every file, and the rows of the files that hold several units.

        None if the table does not exist yet.
        """
        table = self.refresh()
        if table is None:
            return None
        files = live_files(table)
        return files, dataset_of(
            table, self.url, access=self._access, units=(), shared=True, files=files
        )


class AsyncDeltaTable:
    """A table of a run, for use in an event loop: each method is the `DeltaHandle`'s, in its thread."""

    def __init__(self, handle: DeltaHandle) -> None:
        self._handle = handle
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"delta-{handle.name}")

    async def transaction_token(self, transaction: str) -> int | None:
        """Return the token `transaction` was committed with; None if it was not."""
        return await self.read(partial(self._handle.transaction_token, transaction))

    async def version(self) -> int | None:
        """Return the table's version; None if it does not exist yet."""
        return await self.read(self._handle.version)

    async def dataset(self, units: Collection[str] | None = None) -> Dataset | None:
        """Return the table's rows, or the files that can hold those of `units`; None: no table."""
        return await self.read(partial(self._handle.dataset, units))

    async def file_stats(self) -> tuple[pa.Table, Dataset] | None:
        """Return the log's facts about every file, and the rows of files that several units share."""
        return await self.read(self._handle.file_stats)

    async def commit(self, entry: CommitEntry) -> int:
        """Commit `entry` unless its transaction is in; return the token that is.

        Raises:
            Conflict: other writers kept committing first.
            Unwritable: the log cannot be written.
            Damaged: the log cannot be read.
        """
        return await self.retry(partial(self._handle.commit_once, entry))

    async def commit_rows(
        self, transactions: Collection[str], token: int, files: Sequence[AddedFile]
    ) -> dict[str, int]:
        """Commit `files` unless one of their rows' transactions is in; return the tokens of those that are.

        Raises:
            Conflict, Unwritable, Damaged: as `commit`.
        """
        return await self.retry(partial(self._handle.commit_rows_once, transactions, token, files))

    async def retry(self, work: Callable[[], T]) -> T:
        """Return the result of `work` on the handle, retrying failures.

        Raises:
            Conflict: other writers kept committing first.
            Unwritable: the log cannot be written.
            Damaged: the log cannot be read.
        """
        for pause in _BACKOFF.pauses():
            try:
                return await self._run(work)
            except (DeltaError, OSError) as error:
                from_store = is_access_error(error)
                if pause is None or (from_store and not is_transient(error)):
                    fitting = (ours for theirs, ours in _ERRORS if isinstance(error, theirs))
                    kind = Unwritable if from_store else next(fitting)
                    text = f"{self._handle.url}: cannot commit: {one_line(error)}"
                    raise kind(text) from error
            await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def read(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which only reads with the handle.

        Raises:
            Damaged: the log cannot be read.
        """
        try:
            return await self._run(partial(retry_read, work))
        except (DeltaError, OSError) as error:
            raise read_error(error, f"{self._handle.url}: cannot be read") from None

    def close(self) -> None:
        """End the thread after the calls that have begun."""
        self._thread.shutdown(wait=True)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def dataset_at(url: str, version: int, access: Access = FOLDER) -> Dataset:
    """Return the rows of the table at `url` as they were at a Delta version.

    Raises:
        Damaged: that version cannot be read.
    """

    def open_dataset() -> Dataset:
        table = DeltaTable(url, version=version, storage_options=access.options())
        return dataset_of(table, url, access=access)

    try:
        return retry_read(open_dataset)
    except (DeltaError, OSError) as error:
        raise read_error(error, f"{url}: version {version} cannot be read") from None
