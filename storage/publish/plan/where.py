"""Which episodes meet the words of `select.where`, an expression of DuckDB's SQL.

The columns that it may name are those of `attempts`, and a few more. It is evaluated in a process of its own (see
`where_program`), because DuckDB can be interrupted between batches of rows and not within one: what takes too long is
killed.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.errors import BadConfig
from schemas.tables.published import Attempt
from schemas.tables.tables import arrow_schema, record_schema
from storage.publish.plan.candidate import Candidate, judged_row
from storage.publish.plan.rows import Tables

MAX_SECONDS = 30
"""How long the words may take, over all episodes of a version."""

_PROGRAM = Path(__file__).with_name("where_program.py")

_REFUSED = 3
"""The exit code with which the program refuses the words."""

_SHOWN = 8
"""How many values of a column an error names."""

_NOT_NAMED = ("unit_id", "sketch", "left_out_by")
"""Columns of `attempts` that say how a row was stored or selected."""

_MORE: "list[pa.Field[Any]]" = [
    pa.field("instruction", pa.string()),
    pa.field("tags", pa.list_(pa.string())),
    pa.field("difficulty", pa.string()),
    pa.field("date", pa.date32()),
    pa.field("labels", pa.list_(pa.string())),
    pa.field("verdicts", pa.map_(pa.string(), pa.string())),
]

_OF_TASKS = ("tags", "difficulty")


@cache
def where_schema() -> pa.Schema:
    """Return the columns that the words may name."""
    own = [field for field in record_schema(Attempt) if field.name not in _NOT_NAMED]
    return pa.schema([*own, *_MORE])


@cache
def columns_of_words(words: str) -> tuple[str, ...]:
    """Return the columns that the words name.

    Raises:
        BadConfig: the words are no expression over the columns, or could give something else another time.
    """
    answer = _evaluate(words, where_schema().empty_table(), seconds=MAX_SECONDS)
    return tuple(json.loads((answer.schema.metadata or {})[b"columns"]))


def find_matches(
    words: str, tables: Tables, candidates: Sequence[Candidate], *, seconds: int = MAX_SECONDS
) -> set[str]:
    """Return the ids of the candidates that meet the words.

    Raises:
        BadConfig: the words are no such expression, fail on a row, take longer than `seconds`, or none of the
            candidates meets them; the error says what there is.
    """
    names = columns_of_words(words)
    rows = _rows(tables, candidates, names)
    kept = _evaluate(words, rows, seconds=seconds)["kept"].to_pylist()
    found = {one.episode_id for one, is_kept in zip(candidates, kept, strict=True) if is_kept}
    if candidates and not found:
        there = "; ".join(f"{name}: {_values(rows[name])}" for name in names)
        raise BadConfig(
            f"select.where: none of the {len(candidates):,} episodes that may be published meets it: {words}",
            f"select.where: they have {there}",
        )
    return found


def _evaluate(words: str, table: pa.Table, *, seconds: int) -> pa.Table:
    """Return the program's answer.

    Raises:
        BadConfig: the words cannot be evaluated.
    """
    sink = pa.BufferOutputStream()
    stated = table.replace_schema_metadata({"where": words})
    with pa.ipc.new_stream(sink, stated.schema) as writer:
        writer.write_table(stated)
    command = (sys.executable, "-P", str(_PROGRAM), str(seconds))
    try:
        done = subprocess.run(  # noqa: S603 - this program, with a number
            command, input=sink.getvalue(), capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise BadConfig(
            f"select.where: takes longer than {seconds} s over {table.num_rows:,} episodes, and was stopped: {words}"
        ) from None
    if done.returncode:
        told = done.stdout.decode(errors="replace")
        why = told if done.returncode == _REFUSED else "it needs more memory than it may have"
        raise BadConfig(f"select.where: {why}: {words}")
    with pa.ipc.open_stream(done.stdout) as reader:
        return reader.read_all()


def _rows(tables: Tables, candidates: Sequence[Candidate], names: Sequence[str]) -> pa.Table:
    """Return some columns of the candidates' rows, in their order."""
    schema = where_schema()
    stored = _columns_for(
        tables, "episodes", "episode_id", [c.episode_id for c in candidates], names
    )
    of_tasks = [name for name in names if name in _OF_TASKS]
    stored |= _columns_for(tables, "tasks", "task_id", [c.task_id for c in candidates], of_tasks)
    made: dict[str, Callable[[Candidate], object]] = {
        "labels": lambda one: None if one.labels is None else [step.label for step in one.labels],
        "verdicts": lambda one: sorted(one.statuses),
        "template_id": lambda one: one.template_id,
        "success": lambda one: one.success,
        "status": lambda one: one.status.value,
    }
    judged = [judged_row(one) for one in candidates] if set(names) - {*stored, *made} else []
    columns: list[pa.ChunkedArray[Any] | pa.Array[Any]] = []
    for name in names:
        kind = schema.field(name).type
        if name in stored:
            columns.append(stored[name].cast(kind))
        elif name in made:
            columns.append(pa.array([made[name](one) for one in candidates], kind))
        else:
            columns.append(pa.array([row.get(name) for row in judged], kind))
    fields = [schema.field(name).with_nullable(nullable=True) for name in names]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _columns_for(
    tables: Tables, table: str, key: str, ids: Sequence[str], names: Sequence[str]
) -> "dict[str, pa.ChunkedArray[Any]]":
    """Return columns of a table for some ids, in their order; those that an earlier version lacks are null."""
    known = {name: "ended_at" if name == "date" else name for name in names}
    known = {name: column for name, column in known.items() if column in arrow_schema(table).names}
    dataset = tables.datasets.get(table)
    if dataset is None or not known:
        return {}
    there = [column for column in known.values() if column in dataset.schema.names]
    rows = dataset.to_table(columns=[*dict.fromkeys([key, *there])])
    places = pc.index_in(pa.array(ids, pa.string()), value_set=rows[key].combine_chunks())
    taken = rows.take(places)
    return {
        name: taken[column] if column in there else pa.chunked_array([pa.nulls(len(ids))])
        for name, column in known.items()
    }


def _values(column: "pa.ChunkedArray[Any]") -> str:
    """Return what a column holds in words: a range of numbers and days, else the commonest values."""
    found = [value for value in column.to_pylist() if value is not None]
    if not found:
        return "no value"
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return f"{min(found):g} to {max(found):g}"
    if pa.types.is_date(column.type):
        return f"{min(found)} to {max(found)}"
    counts = Counter(_parts(found))
    shown = ", ".join(f"{value} ({count:,})" for value, count in _commonest(counts))
    return shown + (f" and {len(counts) - _SHOWN:,} more" if len(counts) > _SHOWN else "")


def _commonest(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_SHOWN]


def _parts(values: Iterable[object]) -> Iterable[str]:
    """Yield texts as they are, and the members of lists and maps."""
    for value in values:
        if isinstance(value, list):
            yield from (
                " ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value
            )
        else:
            yield str(value)
