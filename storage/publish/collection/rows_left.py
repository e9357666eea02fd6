"""The rows of a published file that stay when episodes are withdrawn."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.tables.tables import to_row
from storage.publish.plan.build import Outcome, result_of
from storage.publish.plan.config_columns import config_schema

_OWNERS = ("episode_id", "chosen_episode_id", "rejected_episode_id")
"""The columns that name the episode of a row; a row with two of them is of both."""


def _owners(table: pa.Table) -> list[str]:
    return [name for name in _OWNERS if name in table.column_names]


def without(table: pa.Table, gone: Collection[str]) -> pa.Table:
    """Return the rows that are of none of some episodes."""
    listed = pa.array(sorted(gone), pa.string())
    for name in _owners(table):
        table = table.filter(pc.invert(pc.is_in(table[name], value_set=listed)))
    return table


def has_rows(source: pq.ParquetFile, config: str, gone: Collection[str]) -> bool:
    """Return whether a file changes when some episodes are withdrawn."""
    if config in ("tasks", "results"):
        return True
    if config == "prompts":
        return False
    names = [name for name in _OWNERS if name in source.schema_arrow.names]
    table = source.read(columns=names)
    return without(table, gone).num_rows < table.num_rows


def rows_left(
    source: pq.ParquetFile, config: str, gone: Collection[str], stay: Sequence[Outcome]
) -> Iterator[pa.Table]:
    """Yield the rows of a file that stay."""
    schema = config_schema(config)
    made: defaultdict[tuple[str, ...], list[Outcome]] = defaultdict(list)
    for one in stay:
        made[one.key].append(one)
    tasks = pa.array(sorted({one.task_id for one in stay}), pa.string())
    for group in range(source.num_row_groups):
        table = _as_schema(source.read_row_group(group), schema)
        if config == "tasks":
            yield table.filter(pc.is_in(table["task_id"], value_set=tasks))
        elif config == "results":
            keys = [
                (row["task_id"], row["policy"], row["policy_kind"], row["model"] or "")
                for row in table.select(["task_id", "policy", "policy_kind", "model"]).to_pylist()
            ]
            rows = [to_row(result_of(made[key])) for key in keys if made.get(key)]
            yield pa.Table.from_pylist(rows, schema=schema)
        else:
            yield without(table, gone)


def _as_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns of a schema; those that an earlier version lacks are null."""
    columns = [
        table[f.name].cast(f.type)
        if f.name in table.column_names
        else pa.chunked_array([pa.nulls(table.num_rows, f.type)])
        for f in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
