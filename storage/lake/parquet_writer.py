"""The Parquet writer: one set of settings for every file, committed or published.

The settings suit readers and the Hub:

* pictures are stored raw, without compression and dictionary, so that a later publication that
  changes a few of them uploads only these; all other columns are zstd;
* the page index and statistics on every scalar column, so that readers can skip pages;
* row groups of at most 32 MB before compression: readers and writers hold one in memory, or several
  where many units are written or read at once;
* content-defined chunks for tables without pictures, where they halve a repeated upload (for
  raw pictures they triple it);
* a `huggingface` entry in the footer that says which column is an image.

The bytes of a file depend on its rows alone, not on how they were batched or on the time. So a shard
can be named by its hash, and two workers write the same one.

A file grows group by group in a draft, in memory or in a temporary file.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.base import canonical_json
from schemas.errors import StepmillError
from schemas.tables.tables import Row
from storage.lake.row_batch import (
    PICTURE,
    PictureColumn,
    RowBatch,
    holds_pictures,
    picture_columns,
)
from storage.objects.temp_object import Draft

ROW_GROUP_BYTES = 32_000_000
"""The maximum size of a row group, before compression."""

MEGABYTE = 1 << 20
"""The unit of `storage.shard_mb`."""

_PAGE_BYTES = 1 << 20
_PICTURE_BATCH = 8
"""Values encoded before the page size is checked; a thousand pictures make a page of 100 MB."""
_FULL = 0.75
_HF_NAMES = {"double": "float64", "float": "float32"}

Rows = pa.RecordBatch | pa.Table | Sequence[Row]
"""Rows of a table: Arrow's, with all columns of the table and no other, or records."""


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """A complete Parquet file; its receiver closes the draft."""

    draft: Draft = field(repr=False)
    """The file."""
    rows: int
    """The number of rows."""

    @property
    def data(self) -> bytes:
        """The file's bytes, in memory."""
        return self.draft[:]

    @property
    def sha256(self) -> str:
        """SHA-256 of the file, hex."""
        return self.draft.sha256

    def __eq__(self, other: object) -> bool:
        """Return whether both files have the same bytes."""
        return isinstance(other, Shard) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        """Return a hash of the file's bytes."""
        return hash(self.sha256)


class ParquetWriter:
    """Splits a stream of rows into Parquet files of about `shard_bytes`.

    It holds at most one unfinished file and one row group. `write` takes rows and returns the files
    that they filled, `close` returns the last one, and `discard` discards it. Each file is written
    to a draft that `begin` returns.
    """

    def __init__(
        self,
        schema: pa.Schema,
        *,
        shard_bytes: int,
        group_bytes: int | None = None,
        begin: Callable[[], Draft] = Draft.in_memory,
    ) -> None:
        self._schema = schema.with_metadata(footer(schema))
        self._shard_bytes = shard_bytes
        self._group_bytes = min(group_bytes or ROW_GROUP_BYTES, shard_bytes)
        # A small group is a single page: page headers are new bytes, and after a removed row the pages
        # end elsewhere, so splitting the group into pages would mean more bytes to upload again.
        self._page_bytes = max(group_bytes or 0, _PAGE_BYTES)
        self._begin = begin
        self._sink: Draft | None = None
        self._writer: pq.ParquetWriter | None = None
        self._rows = 0
        self._plain: list[pa.Table] = []
        names = picture_columns(schema)
        self._pictures = {name: PictureColumn(self._group_bytes) for name in names}
        self._pending_bytes = 0

    @property
    def file_bytes(self) -> int:
        """Bytes written to the unfinished file."""
        return 0 if self._sink is None else len(self._sink)

    @property
    def pending_bytes(self) -> int:
        """Estimated bytes of the buffered rows, before compression."""
        return self._pending_bytes

    def write(self, rows: Rows) -> list[Shard]:
        """Append `rows`; return the files that are full.

        Raises:
            ValueError: an Arrow table has other columns than the writer.
            pyarrow.ArrowException: a value is not of its column's type.
        """
        if isinstance(rows, pa.RecordBatch | pa.Table):
            batch = RowBatch.from_arrow(rows, self._schema)
        else:
            batch = RowBatch.from_records(rows, self._schema)
        full: list[Shard] = []
        start = 0
        for row, size in enumerate(sizes := batch.sizes()):
            group = self._pending_bytes + size
            fits = group <= self._group_bytes and self.file_bytes + group <= self._shard_bytes
            if not fits and (self._pending_bytes or self.file_bytes):
                self._buffer(batch, start, row)
                start = row
                self.flush()
                if self.file_bytes + size > self._shard_bytes * _FULL:
                    full += [shard for shard in [self._finish()] if shard is not None]
            self._pending_bytes += size
        self._buffer(batch, start, len(sizes))
        return full

    def close(self) -> Shard | None:
        """Return the last file; None if no rows are left."""
        self.flush()
        return self._finish()

    def discard(self) -> None:
        """Discard the unfinished file."""
        if self._sink is None:
            return
        self._sink.discard_writes()
        if self._writer is not None:
            with suppress(StepmillError, pa.ArrowException, OSError):
                self._writer.close()
        self._sink.close()
        self._sink, self._writer = None, None
        self._clear_buffer()

    def flush(self) -> None:
        """Write the buffered rows as one row group, at once: pages must not depend on the calls."""
        if not self._plain:
            return
        if self._sink is None or self._writer is None:
            self._sink = self._begin()
            sink = cast("IO[bytes]", self._sink)  # it has the methods that Arrow calls
            settings = writer_settings(self._schema, picture_page_bytes=self._page_bytes)
            self._writer = pq.ParquetWriter(sink, self._schema, **settings)
        plain = pa.concat_tables(self._plain).combine_chunks()
        columns = [
            self._pictures[name].array() if name in self._pictures else plain[name]
            for name in self._schema.names
        ]
        group = pa.Table.from_arrays(columns, schema=self._schema)
        self._writer.write_table(group, row_group_size=group.num_rows)
        self._rows += group.num_rows
        self._clear_buffer()

    def _buffer(self, batch: RowBatch, start: int, stop: int) -> None:
        """Append some rows of `batch` to the row group; their pictures are copied."""
        if start == stop:
            return
        self._plain.append(batch.plain.slice(start, stop - start))
        for name, column in self._pictures.items():
            column.add(batch.pictures[name][start:stop])

    def _clear_buffer(self) -> None:
        self._plain.clear()
        for column in self._pictures.values():
            column.clear()
        self._pending_bytes = 0

    def _finish(self) -> Shard | None:
        if self._writer is None or self._sink is None:
            return None
        self._writer.close()
        shard = Shard(draft=self._sink, rows=self._rows)
        self._sink, self._writer, self._rows = None, None, 0
        return shard


def shards(
    schema: pa.Schema,
    rows: Iterable[Rows],
    *,
    shard_bytes: int,
    group_bytes: int | None = None,
    begin: Callable[[], Draft] = Draft.in_memory,
) -> Iterator[Shard]:
    """Yield the files of `rows` as they fill up, each in a draft that `begin` returns."""
    writer = ParquetWriter(schema, shard_bytes=shard_bytes, group_bytes=group_bytes, begin=begin)
    try:
        for batch in rows:
            yield from writer.write(batch)
        last = writer.close()
        if last is not None:
            yield last
    finally:
        writer.discard()


def footer(schema: pa.Schema) -> dict[bytes, bytes]:
    """Return the footer's metadata: the features as the `datasets` library spells them."""
    features = {item.name: _feature(item.type) for item in schema}
    text = canonical_json({"info": {"features": features}})
    return {b"huggingface": text.encode()}


def _feature(kind: pa.DataType) -> dict[str, object] | list[object]:
    if kind == PICTURE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        # Every version of the library reads `Sequence`; only later ones read `List`.
        feature = _feature(kind.value_type)
        # A `Sequence` of a dictionary would be a dictionary of lists, so a list of one dictionary is
        # used.
        plain = pa.types.is_struct(kind.value_type) and kind.value_type != PICTURE
        return [feature] if plain else {"_type": "Sequence", "feature": feature}
    if pa.types.is_struct(kind):
        return {item.name: _feature(item.type) for item in kind}
    return {"_type": "Value", "dtype": _HF_NAMES.get(str(kind), str(kind))}


def writer_settings(schema: pa.Schema, *, picture_page_bytes: int = _PAGE_BYTES) -> dict[str, Any]:
    """Return the Parquet writer's arguments for a table of `schema`.

    A page of pictures is closed at about `picture_page_bytes`.
    """
    leaves = _leaves(schema)
    with_pictures = tuple(f"{item.name}." for item in schema if holds_pictures(item.type))
    pictures = {
        leaf for leaf in leaves if leaf.startswith(with_pictures) and leaf.endswith(".bytes")
    }
    text = [leaf for leaf in leaves if leaf not in pictures]
    settings: dict[str, Any] = {
        "compression": {leaf: "none" if leaf in pictures else "zstd" for leaf in leaves},
        "use_dictionary": text,
        "write_statistics": [leaf for leaf in leaves if "." not in leaf],
        "write_page_index": True,
        "data_page_size": picture_page_bytes if pictures else _PAGE_BYTES,
        "use_content_defined_chunking": not pictures,
    }
    return settings | ({"write_batch_size": _PICTURE_BATCH} if pictures else {})


@cache
def _leaves(schema: pa.Schema) -> Sequence[str]:
    """Return the paths that Parquet itself gives the schema's leaves."""
    sink = io.BytesIO()
    pq.write_table(schema.empty_table(), sink)
    columns = pq.read_metadata(sink).schema
    return [columns.column(number).path for number in range(len(columns))]
