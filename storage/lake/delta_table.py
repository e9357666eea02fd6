"""One Delta table as a commit log: what is asked of it, and what is told to it.

Delta refuses a second commit of an application transaction only if the first one came in after
the writer's snapshot; one that the snapshot already shows is accepted, and its rows are there
twice. So a commit here is always three steps on one handle: refresh it, ask **that handle** for
the transaction, and commit with it only if the answer is no. An error from a commit means nothing
by itself (the commit may be in, and its answer lost), so the three steps are taken again. A table
that an older version made is given the columns that came later before it is asked.

`Handle` is those steps, blocking. `Table` keeps a handle in a thread of its own: what is asked
of a table is done one after the other, and a caller who is cancelled cancels nothing that began.
A process that used `deltalake` must never fork.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction
from pyarrow.dataset import Dataset

from schemas.backoff import Backoff
from schemas.errors import Conflict, Damaged, StepmillError, Unwritable
from schemas.tables import TABLES, arrow_schema
from storage.lake.delta_access import FOLDER, Access, retry_read
from storage.lake.delta_scan import dataset_of, files_of
from storage.lake.delta_stats import Added
from storage.objects.error_messages import in_words, keeps_out, passes, unread

T = TypeVar("T")

CONFIGURATION = {"delta.logRetentionDuration": "interval 3650 days"}
"""Old versions stay readable for ten years; transactions are kept for ever by their default."""

STAGED = re.compile(
    rf"tables/(?P<table>{'|'.join(TABLES)})/_delta_log/"
    r"(?:\d{20}\.json|\d{20}\.checkpoint\.parquet|_last_checkpoint)#\d+"
)
"""A key under which Delta's client holds a write to a folder that has not ended."""

_BACKOFF = Backoff(first_seconds=0.02, max_seconds=2.0, tries=10)
"""Of a commit: longer than a few dozen writers of one table need to get past each other."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a commit says in a table's log."""

    transaction: str
    """The application transaction that is committed once."""
    token: int
    """What tells the transaction's content from any other under its name."""
    files: Sequence[Added]
    """The files that count with it."""
    also: Transaction | None = None
    """What is noted in the same commit, whatever it said before; None: nothing."""


class Handle:
    """A Delta table as this process last saw it. Every method blocks."""

    def __init__(self, name: str, url: str, access: Access = FOLDER) -> None:
        self.name = name
        self.url = url
        self._access = access
        self._options: dict[str, str] | None = None
        self._schema = arrow_schema(name)
        self._table: DeltaTable | None = None

    def refresh(self) -> DeltaTable | None:
        """Return the table as it is now; None if nobody made it yet."""
        self._renew()
        held = self._table
        try:
            if held is None:
                self._table = DeltaTable(self.url, storage_options=self._options)
            else:
                held.update_incremental()
        except TableNotFoundError:
            self._table = None
        except DeltaError:
            if held is None:
                raise
            # The log behind an old handle may have been cleaned up: look with a new one.
            self._table = None
            return self.refresh()
        return self._table

    def _renew(self) -> None:
        """Let the table go if what it was opened with has become something else."""
        options = self._access.options()
        now = None if options is None else dict(options)
        if now != self._options:
            self._table, self._options = None, now

    def ask(self, transaction: str) -> int | None:
        """Return the token `transaction` was committed with; None if it was not."""
        table = self.refresh()
        return None if table is None else table.transaction_version(transaction)

    def attempt(self, entry: Entry) -> int:
        """Commit `entry` unless its transaction is in; return the token that is."""
        table = self.refresh()
        if table is None:
            self.create()
            table = self.refresh()
        elif later := self._later(table):
            # A commit of its own, and asked after it: others may have committed before it.
            table.alter.add_columns(later)
            table = self.refresh()
        if table is None:
            raise TableNotFoundError(f"{self.url}: the table was made and is not there")
        there = table.transaction_version(entry.transaction)
        if there is None:
            noted = [Transaction(entry.transaction, entry.token)]
            noted += [] if entry.also is None else [entry.also]
            self.write(table, CommitProperties(app_transactions=noted), entry.files)
            return entry.token
        return there

    def create(self) -> None:
        """Make the table; of several that do, every one may fail and one have succeeded."""
        DeltaTable.create(
            self.url,
            schema=Schema.from_arrow(self._schema),
            mode="ignore",
            configuration=CONFIGURATION,
            storage_options=self._options,
        )

    def _later(self, table: DeltaTable) -> list[Field]:
        """Return the columns that came after the table was made; files without them are null."""
        there = {field.name for field in table.schema().fields}
        later = [field for field in self._schema if field.nullable and field.name not in there]
        return Schema.from_arrow(pa.schema(later)).fields if later else []

    def write(
        self, table: DeltaTable, properties: CommitProperties, files: Sequence[Added]
    ) -> None:
        """Append `files` to the log with the very handle that was asked."""
        table.create_write_transaction(
            [
                AddAction(
                    path=added.path,
                    size=added.size,
                    partition_values={},
                    modification_time=added.modified_ms,
                    data_change=True,
                    stats=added.stats,
                )
                for added in files
            ],
            mode="append",
            schema=Schema.from_arrow(self._schema),
            commit_properties=properties,
        )

    def version(self) -> int | None:
        """Return the table's version; None if nobody made it yet."""
        table = self.refresh()
        return None if table is None else table.version()

    def dataset(self, units: Collection[str] | None = None) -> Dataset | None:
        """Return the table's rows, or the files that can hold those of `units` (see `delta_scan`).

        None if nobody made the table.
        """
        table = self.refresh()
        if table is None:
            return None
        return dataset_of(table, self.url, access=self._access, units=units)

    def census(self) -> tuple[pa.Table, Dataset] | None:
        """Return what the log says of every file, and the rows of those that hold several units.

        None if nobody made the table yet.
        """
        table = self.refresh()
        if table is None:
            return None
        files = files_of(table)
        return files, dataset_of(
            table, self.url, access=self._access, units=(), shared=True, files=files
        )


class Table:
    """A table of a run, for use from an event loop."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"delta-{handle.name}")

    async def ask(self, transaction: str) -> int | None:
        """See `Handle.ask`."""
        return await self.read(partial(self._handle.ask, transaction))

    async def version(self) -> int | None:
        """See `Handle.version`."""
        return await self.read(self._handle.version)

    async def dataset(self, units: Collection[str] | None = None) -> Dataset | None:
        """See `Handle.dataset`."""
        return await self.read(partial(self._handle.dataset, units))

    async def census(self) -> tuple[pa.Table, Dataset] | None:
        """See `Handle.census`."""
        return await self.read(self._handle.census)

    async def commit(self, entry: Entry) -> int:
        """See `Handle.attempt`; asked and tried again until the answer is known.

        Raises:
            Conflict: other writers kept coming first.
            Unwritable: the log cannot be written.
            Damaged: the log cannot be read.
        """
        return await self.insist(partial(self._handle.attempt, entry))

    async def insist(self, work: Callable[[], T]) -> T:
        """Return what `work` on the handle returns; done again while it fails.

        Raises:
            Conflict: other writers kept coming first.
            Unwritable: the log cannot be written.
            Damaged: the log cannot be read.
        """
        for pause in _BACKOFF.pauses():
            try:
                return await self._run(work)
            except (DeltaError, OSError) as error:
                # A store that denies access denies it again.
                if pause is None or (keeps_out(error) and not passes(error)):
                    raise _named(error, f"{self._handle.url}: cannot commit") from error
            await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def read(self, work: Callable[[], T]) -> T:
        """Return what `work`, which only reads the handle, returns.

        Raises:
            Damaged: the log cannot be read.
        """
        try:
            return await self._run(partial(retry_read, work))
        except (DeltaError, OSError) as error:
            raise unread(error, f"{self._handle.url}: cannot be read") from None

    def close(self) -> None:
        """Let the thread end once it has done what it was asked."""
        self._thread.shutdown(wait=True)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def dataset_at(url: str, version: int, access: Access = FOLDER) -> Dataset:
    """Return the rows of the table at `url` as they were at a Delta version.

    Raises:
        Damaged: that version cannot be read.
    """

    def opened() -> Dataset:
        options = access.options()
        told = None if options is None else dict(options)
        table = DeltaTable(url, version=version, storage_options=told)
        return dataset_of(table, url, access=access)

    try:
        return retry_read(opened)
    except (DeltaError, OSError) as error:
        raise unread(error, f"{url}: version {version} cannot be read") from None


def _named(error: DeltaError | OSError, what: str) -> StepmillError:
    text = f"{what}: {in_words(error)}"
    if isinstance(error, OSError | TableNotFoundError) or keeps_out(error):
        return Unwritable(text)
    return Conflict(text) if isinstance(error, CommitFailedError) else Damaged(text)
