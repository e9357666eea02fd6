"""Planned files turned into Parquet, one at a time, from the rows of the run's tables.

What a file holds is decided by its plan and the tables alone, so building it twice gives the same
bytes. Every row is checked on its way: steps are contiguous and complete, pictures are the ones
recorded, no episode is there twice.
"""

from collections.abc import Callable, Generator, Iterator
from itertools import islice

import pyarrow as pa

from schemas.errors import Damaged
from schemas.tables import arrow_schema, to_row
from storage.lake.parquet_writer import Shard, shards
from storage.objects.temp_object import Draft
from storage.publish.plan.plan import PlannedFile, row_bytes, schema_of
from storage.publish.plan.rows import (
    RowRequest,
    Tables,
    check_pictures,
    check_steps,
    first_of_each,
    in_order,
    table_errors,
)
from storage.publish.plan.selection import Candidate

GROUP_BYTES = 16 << 20
"""The most a published row group holds: a reader of one row, over a network, reads one group."""

_KEYS = {"tasks": "task_id", "prompts": "prompt_sha256"}


def build(
    tables: Tables,
    planned: PlannedFile,
    *,
    shard_bytes: int,
    begin: Callable[[], Draft] = Draft.in_memory,
) -> Generator[Shard]:
    """Yield the Parquet files that `planned` comes to: one, unless its estimate was too low.

    Each is written to a draft that `begin` returns, group by group.

    Raises:
        Damaged: the tables lack a row, or hold one that is not what was recorded.
        Unwritable: a draft cannot be written, or the run's store refuses to be read.
    """
    with table_errors(f"version {tables.version} of the run's `{planned.config}`"):
        yield from shards(
            schema_of(planned.config),
            _rows(tables, planned),
            shard_bytes=shard_bytes,
            group_bytes=GROUP_BYTES,
            begin=begin,
        )


def _rows(tables: Tables, planned: PlannedFile) -> Iterator[pa.Table]:
    """Yield the file's rows, whole and in order."""
    if planned.config == "trajectories":
        yield from _trajectories(tables, planned)
        return
    expected = {c.episode_id: c.n_steps + 1 for c in planned.episodes if c.whole}
    for table in in_order(tables, _wanted(planned), schema_of(planned.config)):
        if planned.config == "steps":
            check_steps(table, expected)
            check_pictures(table)
        yield table if planned.episodes else first_of_each(table, _KEYS[planned.config])


def _trajectories(tables: Tables, planned: PlannedFile) -> Iterator[pa.Table]:
    """Yield the rows of `episodes` with the columns that the rule gives each."""
    schema = schema_of("trajectories")
    own = arrow_schema("episodes")
    extra = pa.schema([field for field in schema if field.name not in own.names])
    left = iter(planned.episodes)
    for table in in_order(tables, _wanted(planned), own):
        judged = list(islice(left, table.num_rows))
        if table["episode_id"].to_pylist() != [c.episode_id for c in judged]:
            raise Damaged(f"version {tables.version}: an episode of `episodes` is there twice")
        columns = pa.Table.from_pylist([to_row(c.acceptance) for c in judged], schema=extra)
        yield pa.Table.from_arrays([*table.columns, *columns.columns], schema=schema)


def _wanted(planned: PlannedFile) -> RowRequest:
    episodes: tuple[Candidate, ...] = planned.episodes
    return RowRequest(
        table="episodes" if planned.config == "trajectories" else planned.config,
        key=_KEYS.get(planned.config, "episode_id"),
        ids=planned.ids,
        weigh=lambda place: row_bytes(planned.config, episodes[place]) if episodes else 0,
    )
