"""Which files of a Delta table a read opens, and the dataset they make.

`deltalake` makes a dataset of every file with the whole of its statistics, milliseconds a file,
which is a minute for a table of twenty thousand. A run's tables are read either whole or by unit,
so here a file carries one range, its units', and a read of some units takes only the files that
can hold them: by that range, or by the name that the unit's own commit gave them.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyarrow.dataset import Dataset, FileSystemDataset, ParquetFileFormat

from storage.lake.delta_access import Access

_LEAST, _GREATEST = "min.unit_id", "max.unit_id"
_TOLD = ("path", "size_bytes", "num_records", _LEAST, _GREATEST)


def files_of(table: DeltaTable) -> pa.Table:
    """Return what the log says of every file: where it lies, its size, rows and range of units."""
    told = pa.table(table.get_add_actions(flatten=True))
    return told.select([name for name in _TOLD if name in told.column_names])


def dataset_of(
    table: DeltaTable,
    url: str,
    *,
    access: Access,
    units: Collection[str] | None = None,
    shared: bool = False,
    files: pa.Table | None = None,
) -> Dataset:
    """Return a table's rows, or those files of them that can hold rows of `units`.

    A table whose rows name no unit (`tasks`, `prompts`) is narrowed by file name alone: what a
    unit committed itself is there, unless its files were since made part of larger ones. With
    `shared` files of which the log does not say whose alone they are come too. `files` are those of
    `files_of`, if they are at hand.
    """
    if table.protocol().min_reader_version > 1:
        # Somebody turned on a feature that plain files do not show.
        return table.to_pyarrow_dataset()
    format_ = ParquetFileFormat()
    files = files_of(table) if files is None else files
    sizes = zip(*(files[column].to_pylist() for column in ("path", "size_bytes")), strict=True)
    filesystem = access.filesystem(url, {unquote(path): size for path, size in sizes})
    fragments = [
        format_.make_fragment(path, filesystem=filesystem, partition_expression=units)
        for path, units in _chosen(files, _wanted(units, shared=shared))
    ]
    schema = pa.schema(table.schema().to_arrow())  # type: ignore[arg-type] # by its C interface
    return FileSystemDataset(fragments, schema, format_, filesystem)


def _chosen(
    files: pa.Table, wanted: Callable[[dict[str, Any]], bool]
) -> Iterator[tuple[str, pc.Expression | None]]:
    """Yield the path of each file that is wanted, with the range of its units."""
    ranged = _LEAST in files.column_names
    columns = ["path", _LEAST, _GREATEST] if ranged else ["path"]
    for file in files.select(columns).to_pylist():
        if not wanted(file):
            continue
        least, greatest = file.get(_LEAST), file.get(_GREATEST)
        units = None
        if least is not None and greatest is not None:
            field = pc.field("unit_id")
            units = field == least if least == greatest else (field >= least) & (field <= greatest)
        yield unquote(file["path"]), units


def _wanted(units: Collection[str] | None, *, shared: bool) -> Callable[[dict[str, Any]], bool]:
    """Return what says of a file whether it may hold rows of `units`."""
    if units is None:
        return lambda _: True
    known, ordered = frozenset(units), sorted(units)

    def wanted(file: dict[str, Any]) -> bool:
        if file["path"].partition("-")[0] in known:
            return True
        least, greatest = file.get(_LEAST), file.get(_GREATEST)
        if least is None or greatest is None:
            return shared or _LEAST in file
        if least == greatest:
            return least in known
        after = bisect_left(ordered, least)
        return shared or (after < len(ordered) and ordered[after] <= greatest)

    return wanted
