"""The reader of a state in a SQLite file, whether or not its application is running.

It reads a copy, so nothing is written beside the file and no lock is held. The caller reads when no request
is in flight; if the file changes during the copying, the copy is repeated a few times.
"""

import math
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import JsonValue

from generators.sites.judging.state import MAX_STATE_BYTES
from schemas.base import sha256_hex
from schemas.errors import BadState

MAX_DATABASE_BYTES = 512_000_000
"""Largest size of a database file, bytes."""

_COPIES = 5
_SIDE_FILES = ("-wal", "-journal")
_SHADOWS = (
    *("data", "idx", "content", "docsize", "config"),  # FTS5
    *("segments", "segdir", "stat"),  # FTS3 and FTS4
    *("node", "parent", "rowid"),  # R*Tree
)
_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\s+TABLE\b", re.IGNORECASE)
_ROWIDS = ("rowid", "_rowid_", "oid")


def read_sqlite(
    path: Path, *, leave_out: Collection[str] = ()
) -> tuple[dict[str, JsonValue], dict[str, str]]:
    """Return the tables of a SQLite file, and their primary keys in the form that `compare_states` takes.

    The tables are `{table: [row, …]}`, rows as objects in the order of their keys. A table without a
    primary key is read with its row ids, as `rowid`. A blob, or a text that is not UTF-8, becomes
    `{"sha256": …}`, and an infinity `{"real": …}`. Views, virtual tables with their backing tables, and
    SQLite's own tables are left out. Commits in a live server's write-ahead log are included.

    Args:
        path: the database; its log and journal are beside it.
        leave_out: names of tables, or patterns such as `cache_*`; one without a match has no effect.

    Raises:
        BadState: the file does not exist, is not a database, is too large, or is written to all the time.
    """
    with _open_copy(path) as database:
        names = [
            name
            for name in _table_names(database)
            if not any(fnmatchcase(name, pattern) for pattern in leave_out)
        ]
        return _read_tables(database, names, path), _keys(database, names)


def _keys(database: sqlite3.Connection, names: Collection[str]) -> dict[str, str]:
    found = {name: _columns(database, name)[1] for name in names}
    return {name: ",".join(key) for name, key in found.items() if key}


@contextmanager
def _open_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of a database; the copy is removed at the end of the context."""
    with tempfile.TemporaryDirectory(prefix="stepmill-state-") as folder:
        copy = _copy_database(path, Path(folder))
        try:
            with closing(sqlite3.connect(copy)) as database:
                database.text_factory = _to_text
                yield database
        except sqlite3.Error as error:
            raise BadState(f"{path}: not a readable SQLite database: {error}") from error


def _copy_database(path: Path, folder: Path) -> Path:
    """Copy a database with its log as of one moment.

    The original is never opened as a database: that would leave a log and an index beside it, or move the
    log into the file.
    """
    for _ in range(_COPIES):
        try:
            before = _database_files(path)
            for name in before:
                shutil.copyfile(path.with_name(name), folder / name)
            if before == _database_files(path):
                return folder / path.name
        except FileNotFoundError:
            if not path.is_file():
                raise BadState(f"{path}: there is no such database file") from None
        except OSError as error:
            raise BadState(f"{path}: cannot be read: {error.strerror or error}") from error
        for leftover in folder.iterdir():
            leftover.unlink()
    raise BadState(
        f"{path}: it changed {_COPIES} times while it was read; read it when no request runs"
    )


def _database_files(path: Path) -> dict[str, tuple[int, int]]:
    """Return size and modification time of a database's files."""
    found = {path.name: path.stat()}
    for suffix in _SIDE_FILES:
        side = path.with_name(path.name + suffix)
        if side.is_file():
            found[side.name] = side.stat()
    total = sum(each.st_size for each in found.values())
    if total > MAX_DATABASE_BYTES:
        raise BadState(f"{path}: {total:,} bytes; expected at most {MAX_DATABASE_BYTES:,}")
    return {name: (each.st_size, each.st_mtime_ns) for name, each in found.items()}


def _to_text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _table_names(database: sqlite3.Connection) -> list[str]:
    rows = database.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
    )
    tables = {str(name): str(sql) for name, sql in rows}
    virtual = {name for name, sql in tables.items() if _VIRTUAL.match(sql)}
    hidden = virtual | {f"{name}_{suffix}" for name in virtual for suffix in _SHADOWS}
    return [name for name in tables if name not in hidden and not name.startswith("sqlite_")]


def _columns(database: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    """Return a table's columns, and those of its primary key in the key's order."""
    info = database.execute(f"PRAGMA table_xinfo({_quote(table)})").fetchall()
    shown = [str(row[1]) for row in info if row[6] != 1]  # 1: hidden
    key = sorted((int(row[5]), str(row[1])) for row in info if row[5])
    return shown, [name for _, name in key]


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _read_tables(
    database: sqlite3.Connection, names: Collection[str], path: Path
) -> dict[str, JsonValue]:
    out: dict[str, JsonValue] = {}
    size = 0
    for name in names:
        rows: list[dict[str, JsonValue]] = []
        for row, row_size in _read_rows(database, name):
            size += row_size
            if size > MAX_STATE_BYTES:
                raise BadState(
                    f"{path}: its tables up to {name!r} hold more than {MAX_STATE_BYTES:,} bytes:"
                    " leave out what no task is about"
                )
            rows.append(row)
        out[name] = list(rows)
    return out


def _read_rows(
    database: sqlite3.Connection, table: str
) -> Iterator[tuple[dict[str, JsonValue], int]]:
    """Yield a table's rows in key order, each with the approximate size of its JSON in bytes."""
    columns, key = _columns(database, table)
    if not key:
        free = {column.lower() for column in columns}
        rowid = next((name for name in _ROWIDS if name not in free), None)
        columns, key = ([rowid, *columns], [rowid]) if rowid else (columns, columns)
    chosen = ", ".join(map(_quote, columns))
    rows = database.execute(f"SELECT {chosen} FROM {_quote(table)}").fetchall()  # noqa: S608 - names are quoted
    places = [columns.index(column) for column in key]
    # Sorted here, because a key's collation may be known only to the application.
    rows.sort(key=lambda row: [_rank(row[place]) for place in places])
    overhead = sum(len(column) + 4 for column in columns)
    for row in rows:
        values = [_to_json(value) for value in row]
        size = sum(len(v) if isinstance(v, str) else 8 for v in values)
        yield dict(zip(columns, values, strict=True)), size + overhead


def _rank(value: object) -> tuple[int, float, str | bytes]:
    match value:
        case None:
            return 0, 0, ""
        case int() | float():
            return 1, value, ""
        case bytes():
            return 3, 0, value
        case _:
            return 2, 0, str(value)


def _to_json(value: object) -> JsonValue:
    match value:
        case None | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"real": str(value)}
        case bytes():
            return {"sha256": sha256_hex(value)}
        case _:
            return str(value)
