"""Selects the files of a Delta table that a read opens, and makes a dataset of them.

`deltalake` makes a dataset of every file with all its statistics, which takes milliseconds a file:
a minute for a table of twenty thousand. A run's tables are read either whole or by unit, so here
each file has one range, that of its units, and a read of some units opens only the files that can
have rows of them: by that range, or by the unit in the file's name.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyarrow.dataset import Dataset, FileSystemDataset, ParquetFileFormat

from storage.lake.file_access import Access

_MIN, _MAX = "min.unit_id", "max.unit_id"
_COLUMNS = ("path", "size_bytes", "num_records", _MIN, _MAX)


def live_files(table: DeltaTable) -> pa.Table:
    """Return the path, size, number of rows and range of units of every file, from the log."""
    actions = pa.table(table.get_add_actions(flatten=True))
    return actions.select([name for name in _COLUMNS if name in actions.column_names])


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
    unit committed itself is found, unless its files were merged into larger ones since. With `shared`
    the files that may hold several units are included. `files` is the result of `live_files`, if the
    caller has it.
    """
    if table.protocol().min_reader_version > 1:
        # A feature is turned on that the plain files do not show, such as deletion vectors.
        return table.to_pyarrow_dataset()
    format_ = ParquetFileFormat()
    files = live_files(table) if files is None else files
    sizes = zip(*(files[column].to_pylist() for column in ("path", "size_bytes")), strict=True)
    filesystem = access.filesystem(url, {unquote(path): size for path, size in sizes})
    fragments = [
        format_.make_fragment(path, filesystem=filesystem, partition_expression=units)
        for path, units in _fragments(files, _may_hold(units, shared=shared))
    ]
    schema = pa.schema(table.schema().to_arrow())  # type: ignore[arg-type] # by its C interface
    return FileSystemDataset(fragments, schema, format_, filesystem)


def _fragments(
    files: pa.Table, may_hold: Callable[[dict[str, Any]], bool]
) -> Iterator[tuple[str, pc.Expression | None]]:
    """Yield the path of each file to read, with the range of its units."""
    ranged = _MIN in files.column_names
    columns = ["path", _MIN, _MAX] if ranged else ["path"]
    for file in files.select(columns).to_pylist():
        if not may_hold(file):
            continue
        min_, max_ = file.get(_MIN), file.get(_MAX)
        units = None
        if min_ is not None and max_ is not None:
            field = pc.field("unit_id")
            units = field == min_ if min_ == max_ else (field >= min_) & (field <= max_)
        yield unquote(file["path"]), units


def _may_hold(units: Collection[str] | None, *, shared: bool) -> Callable[[dict[str, Any]], bool]:
    """Return the predicate whether a file may hold rows of `units`."""
    if units is None:
        return lambda _: True
    known, ordered = frozenset(units), sorted(units)

    def may_hold(file: dict[str, Any]) -> bool:
        if file["path"].partition("-")[0] in known:
            return True
        min_, max_ = file.get(_MIN), file.get(_MAX)
        if min_ is None or max_ is None:
            return shared or _MIN in file
        if min_ == max_:
            return min_ in known
        after = bisect_left(ordered, min_)
        return shared or (after < len(ordered) and ordered[after] <= max_)

    return may_hold
