"""Reads a task file: JSON Lines, one JSON array, Parquet or a folder of Harbor's; our own columns or a benchmark's.

Every mistake is reported with its place. A mistake rejects a file in Stepmill's own format, because its author can
correct it. An unusable row of a benchmark's file is skipped and reported, because benchmarks are read as published.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from generators.tasks.benchmarks import (
    OWN_FORMATS,
    FileFormat,
    fields_left_out,
    map_row,
    recognise,
)
from generators.tasks.files import BadRow, RawRow, TaskRow, make_task, parse_object, parse_row
from generators.tasks.harbor.reader import read_directories
from generators.tasks.site_offers import SiteOffer
from schemas.errors import BadTasks
from schemas.nearest import did_you_mean
from schemas.tasks.task import Task

MAX_MISTAKES = 10
"""Maximum number of mistakes before a run stops reading."""

_PARQUET, _BYTE_ORDER_MARK = b"PAR1", b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_MAX_LINE, _MAX_ARRAY = 16 * 2**20, 256 * 2**20


Place = int | str
"""Where a row stands: its number, or the name of its directory."""


@dataclass(slots=True)
class TaskFile:
    """A task file that was read."""

    path: Path
    """The file."""
    unit: str = "line"
    """The unit of its rows' places: `line`, `row` in Parquet, `directory` in a folder of Harbor's."""
    format: FileFormat = FileFormat.STEPMILL
    """The format of its rows."""
    tasks: list[Task] = field(default_factory=list)
    """The tasks in their order."""
    mistakes: list[str] = field(default_factory=list)
    """Its mistakes, each in a line with its place."""
    unmapped: list[str] = field(default_factory=list)
    """Rows of a benchmark's file without a task, each in a line with its place and the reason."""
    fields_left_out: Counter[str] = field(default_factory=Counter)
    """Ignored fields of a benchmark's file, with the number of rows that have each."""
    _first_at: dict[str, Place] = field(default_factory=dict)
    _splits: dict[str, str] = field(default_factory=dict)

    def add(self, place: Place, raw: RawRow | str, sites: Mapping[str, SiteOffer]) -> None:
        """Read the row at `place` and add its task or its mistakes; a row that is a text is itself a mistake."""
        try:
            task = make_task(self._parse(raw, sites), sites=sites, source=self.path.name)
            self._check_beside_others(task, place)
            self.tasks.append(task)
        except BadRow as error:
            found = self.mistakes if self.format in OWN_FORMATS else self.unmapped
            found += [f"{self.path}: {self.unit} {place}: {mistake}" for mistake in error.args]

    def _parse(self, raw: RawRow | str, sites: Mapping[str, SiteOffer]) -> TaskRow:
        if isinstance(raw, str):
            raise BadRow(raw)
        if self.format in OWN_FORMATS:
            return parse_row(raw)
        try:
            row = parse_object(raw) if isinstance(raw, bytes) else raw
        except UnicodeError:
            return parse_row(raw)  # raises BadRow with the reason
        self.fields_left_out.update(fields_left_out(row, self.format))
        return parse_row(map_row(row, self.format, sites))

    def _check_beside_others(self, task: Task, place: Place) -> None:
        first = self._first_at.setdefault(task.task_id, place)
        if first != place:
            raise BadRow(
                f"is the same task as {self.unit} {first}: delete one; tasks.attempts says how often each is attempted"
            )
        split = self._splits.setdefault(task.template_id, task.split)
        if split != task.split:
            raise BadRow(
                f"split = {task.split or None!r}, but an earlier {self.unit} of the template has "
                f"{split or None!r}"
            )


def read_task_file(path: Path, sites: Mapping[str, SiteOffer], *, max_tasks: int) -> TaskFile:
    """Read a file for a run.

    Raises:
        BadTasks: the file is unreadable, has no tasks or too many, or has mistakes, which are listed.
    """
    file = examine_task_file(path, sites, max_tasks=max_tasks, max_mistakes=MAX_MISTAKES)
    if file.mistakes:
        raise BadTasks(*file.mistakes)
    if not file.tasks:
        raise BadTasks(f"{path}: holds no task", *file.unmapped[:MAX_MISTAKES])
    return file


def examine_task_file(
    path: Path, sites: Mapping[str, SiteOffer], *, max_tasks: int, max_mistakes: int | None = None
) -> TaskFile:
    """Read a file with its first `max_mistakes` mistakes; None: all of them.

    Raises:
        BadTasks: the file is unreadable, or has too many tasks.
    """
    file = TaskFile(path)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise BadTasks(f"{path}: cannot be read: it is no ordinary file")
        for place, raw in _rows(file):
            file.add(place, raw, sites)
            if max_mistakes is not None and len(file.mistakes) >= max_mistakes:
                file.mistakes.append(f"{path}: what follows {file.unit} {place} was not read")
                break
            if len(file.tasks) > max_tasks:
                raise BadTasks(
                    f"{path}: more than {max_tasks:,} tasks; split them over several files"
                )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadTasks(f"{path}: cannot be read: {reason or error}") from error
    return file


def _rows(file: TaskFile) -> Iterator[tuple[Place, RawRow | str]]:
    """Yield every row with its place, and set the file's format before the first."""
    if file.path.is_dir():
        file.unit, file.format = "directory", FileFormat.HARBOR
        yield from read_directories(file.path)
        return
    with file.path.open("rb") as opened:
        head = opened.read(len(_PARQUET))
    if head == _PARQUET:
        file.unit = "row"
        yield from _parquet_rows(file)
        return
    keys = (_keys(raw) for _, raw in _json_rows(file.path))
    file.format = recognise(next((found for found in keys if found), ()))
    yield from _json_rows(file.path)


def _keys(raw: bytes) -> Sequence[str]:
    try:
        return list(parse_object(raw))
    except (UnicodeError, BadRow):
        return ()


def _json_rows(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as opened:
        lines = iter(partial(opened.readline, _MAX_LINE + 1), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) > _MAX_LINE:
                raise BadTasks(f"{path}: line {number}: has more than {_MAX_LINE:,} bytes")
            bare = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
            if bare == b"[" or bare.startswith((b"[{", b"[ {")):
                opened.seek(0)
                data = opened.read(_MAX_ARRAY + 1)
                if len(data) > _MAX_ARRAY:
                    raise BadTasks(
                        f"{path}: one JSON array of more than {_MAX_ARRAY:,} bytes: write one task a line"
                    )
                yield from _array_rows(path, data)
                return
            if bare:
                yield number, bare


def _array_rows(path: Path, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each item of one JSON array, with the number of its first line.

    Raises:
        BadTasks: the text is not one complete JSON array.
    """
    try:
        text = data.removeprefix(_BYTE_ORDER_MARK).decode()
        at, line, counted = _skip(text, text.index("[") + 1), 1, 0
        while text[at : at + 1] != "]":
            _, end = json.JSONDecoder().raw_decode(text, at)
            line, counted = line + text.count("\n", counted, at), at
            yield line, text[at:end].encode()
            at = _skip(text, end)
            if text[at : at + 1] == ",":
                at = _skip(text, at + 1)
            elif text[at : at + 1] != "]":
                raise json.JSONDecodeError("Expecting ',' or ']'", text, at)
        if rest := text[at + 1 :].strip():
            raise json.JSONDecodeError(f"Expecting nothing after ']', not {rest[:20]!r}", text, at)
    except (ValueError, RecursionError) as error:
        raise BadTasks(f"{path}: is not one JSON array: {error}") from None


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in _SPACE and at < len(text):
        at += 1
    return at


def _parquet_rows(file: TaskFile) -> Iterator[tuple[int, RawRow]]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, and few runs read Parquet tasks

    try:
        with pq.ParquetFile(file.path) as table:
            names = table.schema_arrow.names
            file.format = recognise(names)
            _check_columns(file, names)
            rows = (row for batch in table.iter_batches() for row in batch.to_pylist())
            for number, row in enumerate(rows, start=1):
                times = {k: v.isoformat() for k, v in row.items() if isinstance(v, datetime)}
                yield number, row | times
    except (ValueError, OverflowError) as error:
        raise BadTasks(f"{file.path}: not a readable Parquet file: {error}") from error


def _check_columns(file: TaskFile, names: Sequence[str]) -> None:
    """Check a table's columns.

    Raises:
        BadTasks: columns are unknown or duplicate; each is one line.
    """
    known = TaskRow.model_fields
    strange = names if file.format is FileFormat.STEPMILL else ()
    wrong = [
        f"{file.path}: unknown column '{name}'{did_you_mean(name, known)}"
        for name in strange
        if name not in known
    ]
    twice = [name for name, times in Counter(names).items() if times > 1]
    wrong += [f"{file.path}: two columns are called '{name}'" for name in twice]
    if wrong:
        raise BadTasks(*wrong)
