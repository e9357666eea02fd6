"""The files that hold the rows of a table of a run, or of a config of a dataset, read without their pictures.

Two files of one identity hold the same rows: a file of a dataset is known by the hash in its manifest, and a
shard by its run and its name, as no shard is ever changed. So nobody has to read a file that both sides have.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from storage.lake.row_batch import holds_pictures
from storage.objects.error_messages import read_error
from storage.publish.plan.manifest import PublishedFile

_BATCH_ROWS = 512
"""Rows in memory at a time: a row of `observations` or `calls` may have tens of kilobytes."""

_STRETCH_FILES = 256
"""Files of a table that are opened together: in a run that was never compacted each has a few rows."""


@dataclass(frozen=True)
class RowFile:
    """One file."""

    identity: str
    """Equal for two files that hold the same rows."""
    fragment: ds.Fragment
    """Its rows; no byte of it is read yet."""
    table: "TableColumns | None"
    """The columns of the table that it is a file of, where those that it lacks are null; None: it has its own."""

    @cached_property
    def columns(self) -> Sequence[str]:
        """Its columns, without those that hold pictures; its footer tells, if it has its own."""
        if self.table is not None:
            return self.table.names
        return names_without_pictures(self.fragment.physical_schema)

    def count(self) -> int:
        """Return the number of its rows; its footer tells."""
        return int(self.fragment.count_rows())


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a run's table, which all of its files share."""

    schema: pa.Schema
    """All of them."""
    names: Sequence[str]
    """Those that hold no pictures."""


def names_without_pictures(schema: pa.Schema) -> list[str]:
    """Return the columns that hold no pictures."""
    return [item.name for item in schema if not holds_pictures(item.type)]


RowFiles = Sequence[RowFile]
"""All files of a table or config."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Files of the same columns, which are read together."""

    files: RowFiles
    """A file of a dataset, or some of a run's table."""

    @property
    def columns(self) -> Sequence[str]:
        """See `RowFile`."""
        return self.files[0].columns

    def read(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows with these columns, a few hundred in memory."""
        first, table = self.files[0].fragment, self.files[0].table
        schema = first.physical_schema if table is None else table.schema
        fragments = [file.fragment for file in self.files]
        dataset = ds.FileSystemDataset(fragments, schema, ds.ParquetFileFormat(pre_buffer=True))
        batches = dataset.to_batches(
            columns=list(columns),
            batch_size=_BATCH_ROWS,
            batch_readahead=1,
            fragment_readahead=2,
            cache_metadata=False,
        )
        yield from _join(batches)


def _join(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches of some hundred rows, of as many that have fewer as it takes."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _BATCH_ROWS:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting, rows = [], 0
    if rows:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def stretches(files: RowFiles) -> Iterator[Stretch]:
    """Yield the files in stretches: those of a table some hundred together, each other one alone."""
    for table, group in groupby(files, key=lambda file: file.table):
        found = list(group)
        size = 1 if table is None else _STRETCH_FILES
        for start in range(0, len(found), size):
            yield Stretch(found[start : start + size])


def table_files(dataset: ds.Dataset | None, table: str) -> RowFiles:
    """Return the files of a run's table; none without one.

    `table` is the run's id with the table's name: with the hash in a shard's name it says which rows there are.
    """
    if dataset is None:
        return ()
    columns = TableColumns(dataset.schema, names_without_pictures(dataset.schema))
    fragments = dataset.get_fragments()
    return [RowFile(f"{table}/{one.path}", one, columns) for one in fragments]


def files_by_config(
    files: Sequence[PublishedFile], filesystem: fs.FileSystem
) -> Mapping[str, RowFiles]:
    """Return the files of each config of a dataset."""
    format_ = ds.ParquetFileFormat(pre_buffer=True)
    found: dict[str, list[RowFile]] = {}
    for file in files:
        if file.config is not None:
            fragment = format_.make_fragment(file.path, filesystem=filesystem)
            found.setdefault(file.config, []).append(RowFile(file.sha256, fragment, None))
    return found


@contextmanager
def read_errors(address: str) -> Iterator[None]:
    """Translate errors of reading the files at `address`.

    Raises:
        Damaged: a file is gone, torn or altered.
        Unwritable: the store denies access, or does not answer.
    """
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise read_error(error, f"{address}: a file cannot be read") from None
