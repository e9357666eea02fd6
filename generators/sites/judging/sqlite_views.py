"""Reads an application's state from its SQLite file by SELECT statements that its own file declares.

An application's tables hold times, random keys, caches and packed texts, so comparing them says little. A
*view* is a SELECT of the relevant data, with a stable first column as the key: then a state is a few
readable tables, and `nothing else has changed` is meaningful. The function `inflate` unpacks zlib streams,
which SQLite cannot. Reading changes nothing and waits for no writer.
"""

import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from pydantic import JsonValue

from schemas.errors import BadConfig, Damaged

_BUSY_SECONDS = 5.0
_HEADER_BYTES = 4


def read_views(file: Path, views: Mapping[str, str]) -> dict[str, JsonValue]:
    """Return the rows of each view of `file`, as objects in the view's own order.

    Raises:
        BadConfig: a view is not a SELECT that the file can answer; the message names the view.
        Damaged: the file does not exist or is not a SQLite file.
    """
    if not file.is_file():
        raise Damaged(f"{file.name} is not there; start or reset the application first")
    uri = f"{file.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as database:
        database.row_factory = sqlite3.Row
        database.create_function("inflate", 1, inflate, deterministic=True)
        database.execute("BEGIN")
        return {name: _rows(database, name, view) for name, view in views.items()}


def _rows(database: sqlite3.Connection, name: str, view: str) -> list[JsonValue]:
    try:
        return [
            {column: _json(value) for column, value in zip(row.keys(), row, strict=True)}
            for row in database.execute(view)
        ]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            raise Damaged("the state is no SQLite file") from error
        raise BadConfig(f"state.views.{name}: {error}; expected one SELECT") from error


def _json(value: str | bytes | float | None) -> JsonValue:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def inflate(data: bytes | None) -> str | None:
    """Return the text of a zlib stream, with or without fossil's four bytes of length before it.

    None for None and for invalid streams.
    """
    if data is None:
        return None
    for stream in (data[_HEADER_BYTES:], data):
        try:
            return zlib.decompress(stream).decode("utf-8", "replace")
        except zlib.error:
            continue
    return None
