"""A task file: JSON Lines or Parquet, one task a row, columns as those of the `tasks` table.

Each row is checked on its own and turned into a task whose id is computed; whatever a row states
that the task itself decides (its id, its split, its start, its site's version) must agree. Every
mistake is named with its row. Nothing of a file is used unless all of it is right.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from generators.tasks.offers import SiteOffer, did_you_mean
from generators.tasks.rows import BadRow, TaskRow, make_task, parse_row
from schemas.errors import BadTasks
from schemas.task import Task

MAX_MISTAKES = 10
"""Mistakes that are listed before reading stops."""

RawRow = bytes | Mapping[str, object]
"""A line of JSON, or a row of a table."""

_PARQUET = b"PAR1"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_task_file(path: Path, sites: Mapping[str, SiteOffer], *, max_tasks: int) -> list[Task]:
    """Return the tasks of a file in its order.

    Raises:
        BadTasks: it cannot be read, holds nothing or more than `most` tasks, or some of its rows
            are wrong; each is named.
    """
    try:
        with path.open("rb") as file:
            is_parquet = file.read(len(_PARQUET)) == _PARQUET
        unit, rows = ("row", _parquet_rows(path)) if is_parquet else ("line", _json_lines(path))
        tasks = _tasks(rows, sites=sites, path=path, unit=unit, most=max_tasks)
    except OSError as error:
        raise BadTasks(f"{path}: cannot be read: {error.strerror or error}") from error
    if not tasks:
        raise BadTasks(f"{path}: holds no task")
    return tasks


def _json_lines(path: Path) -> Iterator[tuple[int, RawRow]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            bare = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            if bare.strip():
                yield number, bare


def _parquet_rows(path: Path) -> Iterator[tuple[int, RawRow]]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, and few runs read Parquet tasks

    try:
        with pq.ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow.names)
            number = 0
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    number += 1
                    yield number, {column: _to_json_value(value) for column, value in row.items()}
    except (ValueError, OverflowError) as error:
        raise BadTasks(f"{path}: not a readable Parquet file: {error}") from error


def _to_json_value(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _check_columns(path: Path, names: list[str]) -> None:
    for name in names:
        if name not in TaskRow.model_fields:
            hint = did_you_mean(name, TaskRow.model_fields)
            raise BadTasks(f"{path}: unknown column '{name}'{hint}")
        if names.count(name) > 1:
            raise BadTasks(f"{path}: two columns are called '{name}'")


def _tasks(
    rows: Iterable[tuple[int, RawRow]],
    *,
    sites: Mapping[str, SiteOffer],
    path: Path,
    unit: str,
    most: int,
) -> list[Task]:
    tasks: list[Task] = []
    first_at: dict[str, int] = {}
    mistakes: list[str] = []
    for number, raw in rows:
        try:
            task = make_task(parse_row(raw), sites=sites, source=path.name)
            _check_repeat(task, first_at, unit)
        except BadRow as mistake:
            mistakes += [f"{path}: {unit} {number}: {line}" for line in str(mistake).splitlines()]
            if len(mistakes) >= MAX_MISTAKES:
                mistakes.append(f"{path}: what follows {unit} {number} was not read")
                break
            continue
        tasks.append(task)
        first_at[task.task_id] = number
        if len(tasks) > most:
            raise BadTasks(f"{path}: more than {most:,} tasks; split them over several files")
    if mistakes:
        raise BadTasks("\n".join(mistakes))
    return tasks


def _check_repeat(task: Task, first_at: Mapping[str, int], unit: str) -> None:
    if task.task_id in first_at:
        raise BadRow(f"is the same task as {unit} {first_at[task.task_id]}")
