"""Rows on their way into a Parquet file: small columns as Arrow, pictures beside them.

Pictures are nearly all of a row group's bytes, and copying them takes most of the time. So they are kept
apart from the other columns: each stays in its source until its row group is known, and is copied once,
into the memory that the Parquet writer reads (`PictureColumn`). That memory is reused for the next row
group. The other columns are small, and are kept as Arrow tables.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from struct import pack
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from schemas.packed import PACKED
from schemas.tables.tables import Row

PICTURE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
"""The type of a column of pictures, as the `datasets` library reads it."""

_NUMBERS: Mapping[str, pa.DataType] = {"int32": pa.int32(), "float": pa.float32()}

_FIXED = 8
"""Estimated bytes of a value of a fixed-width type."""


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Some rows of a table."""

    plain: pa.Table
    """Every column but the pictures."""
    pictures: Mapping[str, Sequence[Row | None]]
    """Each column of pictures; a picture is its `bytes`, or an Arrow buffer of them, and its `path`."""

    @classmethod
    def from_records(cls, rows: Sequence[Row], schema: pa.Schema) -> "RowBatch":
        """Return `rows` as rows of `schema`, without keys that are not columns of it.

        Raises:
            pyarrow.ArrowException: a value is not of its column's type.
        """
        names = picture_columns(schema)
        plain = pa.schema([item for item in schema if item.name not in names])
        pictures = {name: [row.get(name) for row in rows] for name in names}
        columns = [_column([row.get(item.name) for row in rows], item.type) for item in plain]
        return cls(pa.Table.from_arrays(columns, schema=plain), pictures)

    @classmethod
    def from_arrow(cls, table: pa.RecordBatch | pa.Table, schema: pa.Schema) -> "RowBatch":
        """Return the rows of a table with the columns of `schema`; its pictures are not copied.

        Raises:
            ValueError: it has other columns.
        """
        whole = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
        whole = whole.cast(schema)
        pictures: dict[str, list[Row | None]] = {}
        for name in picture_columns(schema):
            column = whole[name]
            data, paths = column.flatten()
            values = zip(column.is_valid().to_pylist(), data, paths.to_pylist(), strict=True)
            pictures[name] = [
                {"bytes": picture.as_buffer(), "path": path} if valid else None
                for valid, picture, path in values
            ]
        return cls(whole.drop_columns(list(pictures)), pictures)

    def sizes(self) -> list[int]:
        """Return the estimated bytes of each row; independent of how the rows were batched."""
        is_string, is_binary = pa.types.is_string, pa.types.is_binary
        varying = [
            column
            for column in self.plain.columns
            if pa.types.is_nested(column.type) or is_string(column.type) or is_binary(column.type)
        ]
        columns = [_value_bytes(column) for column in varying]
        columns += [
            [_picture_bytes(value) for value in column] for column in self.pictures.values()
        ]
        fixed = _FIXED * (self.plain.num_columns - len(varying))
        if not columns:
            return [fixed] * self.plain.num_rows
        return [fixed + sum(row) for row in zip(*columns, strict=True)]


class PictureColumn:
    """A growing column of pictures, in memory that is reused.

    `capacity` is the initial size of that memory; it grows when needed.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._memory: pa.Buffer | None = None
        self.clear()

    def clear(self) -> None:
        """Remove all pictures, and keep the memory."""
        self._ends = [0]
        self._paths: list[str | None] = []
        self._absent: list[bool] = []
        self._with_data: list[bool] = []

    def add(self, pictures: Iterable[Row | None]) -> None:
        """Append copies of `pictures`, so that their source may be freed."""
        for picture in pictures:
            data = None if picture is None else picture["bytes"]
            self._ends.append(self._ends[-1] if data is None else self._copy(data))
            self._paths.append(None if picture is None else picture["path"])
            self._absent.append(picture is None)
            self._with_data.append(data is not None)

    def array(self) -> pa.StructArray:
        """Return the column, as a view of this memory; valid until `clear`."""
        valid = None if all(self._with_data) else pa.array(self._with_data).buffers()[1]
        ends = pa.py_buffer(pack(f"={len(self._ends)}i", *self._ends))
        memory = self._memory or pa.py_buffer(b"")
        data = pa.Array.from_buffers(pa.binary(), len(self._paths), [valid, ends, memory])
        parts: list[pa.Array[Any]] = [data, pa.array(self._paths, pa.string())]
        absent = pa.array(self._absent) if any(self._absent) else None
        return pa.StructArray.from_arrays(parts, fields=list(PICTURE), mask=absent)

    def _copy(self, data: bytes | pa.Buffer) -> int:
        """Append a copy of a picture; return its end."""
        source = memoryview(data).cast("B")
        start = self._ends[-1]
        stop = start + source.nbytes
        if self._memory is None or stop > self._memory.size:
            larger = pa.allocate_buffer(max(self._capacity, 2 * start, stop))
            if self._memory is not None:
                memoryview(larger).cast("B")[:start] = memoryview(self._memory).cast("B")[:start]
            self._memory = larger
        memoryview(self._memory).cast("B")[start:stop] = source
        return stop


def picture_columns(schema: pa.Schema) -> list[str]:
    """Return the columns that hold pictures."""
    return [item.name for item in schema if item.type == PICTURE]


def holds_pictures(kind: pa.DataType) -> bool:
    """Return whether the values of a column are pictures or lists of them."""
    return kind == PICTURE or (pa.types.is_list(kind) and kind.value_type == PICTURE)


def _column(values: list[object], kind: pa.DataType) -> "pa.Array[Any]":
    """Return a column of the values; packed numbers become one as they lie in memory."""
    packed = [value for value in values if isinstance(value, PACKED)]
    if not packed or not all(value is None or isinstance(value, PACKED) for value in values):
        return pa.array(values, kind)
    lengths = [len(value) if isinstance(value, PACKED) else 0 for value in values]
    ends = pa.py_buffer(pack(f"={len(lengths) + 1}i", 0, *accumulate(lengths)))
    valid = pa.array([value is not None for value in values]).buffers()[1]
    data = pa.py_buffer(b"".join(value.data for value in packed))
    numbers = pa.Array.from_buffers(_NUMBERS[packed[0].width.arrow], sum(lengths), [None, data])
    made = pa.Array.from_buffers(
        pa.list_(numbers.type), len(lengths), [valid, ends], children=[numbers]
    )
    return made.cast(kind)


def _picture_bytes(picture: Row | None) -> int:
    if picture is None:
        return 0
    data = 0 if picture["bytes"] is None else memoryview(picture["bytes"]).nbytes
    return data + len((picture["path"] or "").encode())


def _value_bytes(column: "pa.ChunkedArray[Any]") -> list[int]:
    """Return the bytes of each value, nulls as 0."""
    kind = column.type
    if pa.types.is_struct(kind):
        parts = [_value_bytes(part) for part in column.flatten()]
        return [sum(value) for value in zip(*parts, strict=True)]
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        values = cast(
            "pa.ChunkedArray[Any]", pc.list_flatten(column)
        )  # its stub returns the argument's type
        ends = [0, *accumulate(_value_bytes(values))]
        lengths = [length or 0 for length in pc.list_value_length(column).to_pylist()]
        stops = [*accumulate(lengths)]
        return [ends[stop] - ends[stop - n] for stop, n in zip(stops, lengths, strict=True)]
    if pa.types.is_list(kind):
        width = 8 if pa.types.is_primitive(kind.value_type) else 32
        return [(length or 0) * width for length in pc.list_value_length(column).to_pylist()]
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return [length or 0 for length in pc.binary_length(column).to_pylist()]
    return [_FIXED] * len(column)
