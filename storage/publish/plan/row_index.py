"""Where in a table's files the rows of each id lie, so that a few ids can be read without the rest.

The tables' files lie as commits and compaction left them: a file a unit, or many units in one.
`locate` reads one column of a table once and notes for every id the row groups it is in; what is
kept are numbers, no file's metadata, so that ten thousand files weigh little.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

Spot = tuple[int, int]
"""A fragment's and a row group's number; a fragment that has no row groups is one."""


class Located:
    """A table's rows, found by id."""

    def __init__(self, dataset: ds.Dataset, key: str) -> None:
        self._schema = dataset.schema
        self._key = key
        self._fragments: list[ds.Fragment] = list(dataset.get_fragments())
        self._spots: dict[str, list[Spot]] = {}
        for number in range(len(self._fragments)):
            for group, ids in enumerate(self._ids(number)):
                for item in ids:
                    self._spots.setdefault(item, []).append((number, group))

    def __contains__(self, item: str) -> bool:
        return item in self._spots

    def read(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """Return the rows of `ids`, in no order, with those of `columns` that the table has."""
        groups: defaultdict[int, set[int]] = defaultdict(set)
        for item in ids:
            for number, group in self._spots[item]:
                groups[number].add(group)
        here = [name for name in columns if name in self._schema.names]
        return pa.concat_tables(
            self._open(number, sorted(found)).to_table(
                schema=self._schema,
                columns=here,
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
        """Return a fragment, a fresh one: one that was read keeps its metadata for ever."""
        fragment = self._fragments[number]
        if not isinstance(fragment, ds.ParquetFileFragment):
            return fragment
        fresh: ds.Fragment = ds.ParquetFileFormat().make_fragment(
            fragment.path, fragment.filesystem
        )
        if groups is None or not isinstance(fresh, ds.ParquetFileFragment):
            return fresh
        return cast("ds.Fragment", fresh.subset(row_group_ids=list(groups)))
