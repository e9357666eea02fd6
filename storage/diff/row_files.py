"""The files that hold the rows of a table of a run, or of a config of a dataset, read without their pictures.

Two files of one identity hold the same rows: a file of a dataset is known by the hash in its manifest, and a
shard by its run and its name, as no shard is ever changed. So nobody has to read a file that both sides have.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from storage.lake.row_batch import holds_pictures
from storage.objects.error_messages import read_error
from storage.publish.plan.manifest import PublishedFile

_BATCH_ROWS = 512
"""Rows in memory at a time: a row of `observations` or `calls` may have tens of kilobytes."""


@dataclass(frozen=True, slots=True)
class RowFile:
    """One file."""

    identity: str
    """Equal for two files that hold the same rows."""
    fragment: ds.Fragment
    """Its rows; no byte of it is read yet."""
    schema: pa.Schema | None
    """The columns that its rows have, where those that the file itself lacks are null; None: the file's own."""

    @property
    def columns(self) -> Sequence[str]:
        """Its columns, without those that hold pictures."""
        schema = self.schema or self.fragment.physical_schema
        return [item.name for item in schema if not holds_pictures(item.type)]

    def count(self) -> int:
        """Return the number of its rows; its footer tells."""
        return int(self.fragment.count_rows())

    def read(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield its rows with these columns, a few hundred in memory."""
        yield from self.fragment.to_batches(
            schema=self.schema,
            columns=list(columns),
            batch_size=_BATCH_ROWS,
            batch_readahead=1,
            fragment_readahead=1,
            cache_metadata=False,
        )


RowFiles = Sequence[RowFile]
"""All files of a table or config."""


def table_files(dataset: ds.Dataset | None, table: str) -> RowFiles:
    """Return the files of a run's table; none without one.

    `table` is the run's id with the table's name: with the hash in a shard's name it says which rows there are.
    """
    if dataset is None:
        return ()
    fragments = list(dataset.get_fragments())
    return [RowFile(f"{table}/{one.path}", one, dataset.schema) for one in fragments]


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
