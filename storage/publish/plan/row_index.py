"""The row groups of each id in a table's files, so that a few ids can be read without the rest.

A file of a table holds one unit after a commit and many after a compaction. `RowIndex` reads one column
of a table once and keeps the row groups of every id: numbers alone and no file's metadata, so that the
index of ten thousand files is small.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

_RowGroupId = tuple[int, int]
"""The numbers of a fragment and of a row group in it; a fragment without row groups counts as one."""


class RowIndex:
    """An index of a table's rows by one of its columns."""

    def __init__(self, dataset: ds.Dataset, key: str) -> None:
        self._schema = dataset.schema
        self._key = key
        self._fragments: list[ds.Fragment] = list(dataset.get_fragments())
        self._row_groups: dict[str, list[_RowGroupId]] = {}
        for number in range(len(self._fragments)):
            for group, ids in enumerate(self._ids(number)):
                for item in ids:
                    self._row_groups.setdefault(item, []).append((number, group))

    def __contains__(self, item: str) -> bool:
        return item in self._row_groups

    def read(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """Return the rows of `ids`, in any order, with those of `columns` that the table has."""
        groups: defaultdict[int, set[int]] = defaultdict(set)
        for item in ids:
            for number, group in self._row_groups[item]:
                groups[number].add(group)
        existing = [name for name in columns if name in self._schema.names]
        return pa.concat_tables(
            self._open(number, sorted(found)).to_table(
                schema=self._schema,
                columns=existing,
                filter=pc.field(self._key).isin(pa.array(ids, pa.string())),
            )
            for number, found in sorted(groups.items())
        )

    def _ids(self, number: int) -> Iterator[set[str]]:
        """Yield the ids in each row group of a fragment."""
        fragment = self._open(number)
        parts = (
            fragment.split_by_row_group()
            if isinstance(fragment, ds.ParquetFileFragment)
            else [fragment]
        )
        for part in parts:
            column = part.to_table(schema=self._schema, columns=[self._key])[self._key]
            yield {str(item) for item in column.to_pylist()}

    def _open(self, number: int, groups: Sequence[int] | None = None) -> ds.Fragment:
        """Return a new handle of a fragment: a handle that was read keeps the file's metadata."""
        fragment = self._fragments[number]
        if not isinstance(fragment, ds.ParquetFileFragment):
            return fragment
        fresh: ds.Fragment = ds.ParquetFileFormat().make_fragment(
            fragment.path, fragment.filesystem
        )
        if groups is None or not isinstance(fresh, ds.ParquetFileFragment):
            return fresh
        return cast("ds.Fragment", fresh.subset(row_group_ids=list(groups)))
