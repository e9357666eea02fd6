"""The state of a visit: a SQLite database in memory, copied from the world's own.

Each entity is a table: `id`, and a column for each field in the specification's order. A new row gets the largest id
plus one; a database depends neither on the machine nor on the time.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

from pydantic import JsonValue

from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, View, World

Value = str | int | None
"""The value of a field; None: empty."""

Row = dict[str, Value]
"""A row by column, with `id`."""

Rows = dict[str, list[Row]]
"""The rows of a world by entity, in id order."""

_TYPES = {
    Kind.INTEGER: "INTEGER",
    Kind.MONEY: "INTEGER",
    Kind.FLAG: "INTEGER",
    Kind.LINK: "INTEGER",
}


def make_database(world: World, rows: Rows) -> bytes:
    """Return a world's database, serialized.

    Raises:
        KeyError: an entity has no rows, or a row lacks a field.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        for entity in world.entities:
            columns = ", ".join(
                f"{_quote(field.name)} {_TYPES.get(field.kind, 'TEXT')}" for field in entity.fields
            )
            connection.execute(
                f"CREATE TABLE {_quote(entity.name)} (id INTEGER PRIMARY KEY, {columns})"
            )
            names = _columns(entity)
            marks = ", ".join("?" for _ in names)
            connection.executemany(
                f"INSERT INTO {_quote(entity.name)} VALUES ({marks})",  # noqa: S608 - names are quoted
                [[row[name] for name in names] for row in rows[entity.name]],
            )
        connection.commit()
        return connection.serialize()


def open_database(data: bytes) -> sqlite3.Connection:
    """Return a copy of a serialized database, in memory; the caller closes it."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(data)
    connection.create_function("casefold", 1, _casefold, deterministic=True)
    return connection


def read_tables(connection: sqlite3.Connection, world: World) -> JsonValue:
    """Return all rows by entity, in id order: the state by which tasks are judged."""
    return {
        entity.name: [dict(row) for row in _rows(connection, entity, "ORDER BY id")]
        for entity in world.entities
    }


class Chosen(NamedTuple):
    """The requested search, filters, sorting and page of a view."""

    search: str = ""
    """Words that titles must contain, ignoring case; empty: no search."""
    filters: Mapping[str, str] = {}
    """Required values as text, by column."""
    sort: str = ""
    """The column that sorts the rows; empty: `id`."""
    descending: bool = False
    """Whether the order is descending."""
    page: int = 1
    """The page, from 1; a larger number than the last gives the last."""


class Listed(NamedTuple):
    """A page of a view."""

    rows: list[Row]
    """The rows."""
    page: int
    """The number of the page, from 1."""
    is_last: bool
    """Whether it is the last page."""


def list_rows(
    connection: sqlite3.Connection, world: World, view: View, *, chosen: Chosen
) -> Listed:
    """Return a page of a view, sorted: texts ignore case, links go by the linked row's title, ties by id."""
    entity = world.entity(view.entity)
    conditions, values = ["1"], list[Value]()
    if chosen.search:
        conditions.append(f"instr(casefold({_quote(entity.title.name)}), ?)")
        values.append(chosen.search.casefold())
    for name, wanted in chosen.filters.items():
        conditions.append(f"CAST({_quote(name)} AS TEXT) = ?")
        values.append(wanted)
    order = "id"
    if chosen.sort:
        way = "DESC" if chosen.descending else "ASC"
        order = f"{_sort_key(world, entity.field(chosen.sort))} {way}, id"
    where = f"WHERE {' AND '.join(conditions)}"
    (count,) = connection.execute(
        f"SELECT count(*) FROM {_quote(entity.name)} {where}",  # noqa: S608 - names are quoted
        values,
    ).fetchone()
    last = max(1, -(-count // view.page_size))
    page = min(max(1, chosen.page), last)
    tail = f"{where} ORDER BY {order} LIMIT {view.page_size} OFFSET {(page - 1) * view.page_size}"
    return Listed(list(_rows(connection, entity, tail, *values)), page, page == last)


def find_row(connection: sqlite3.Connection, entity: Entity, row: int) -> Row | None:
    """Return the row with an id, or None."""
    return next(_rows(connection, entity, "WHERE id = ?", row), None)


def find_rows(connection: sqlite3.Connection, entity: Entity) -> list[Row]:
    """Return all rows of an entity, in id order."""
    return list(_rows(connection, entity, "ORDER BY id"))


def find_title(connection: sqlite3.Connection, entity: Entity, title: Value) -> int | None:
    """Return the id of the row with a title, or None."""
    found = _rows(connection, entity, f"WHERE {_quote(entity.title.name)} = ?", title)
    return next((_id(row) for row in found), None)


def find_alike(
    connection: sqlite3.Connection, entity: Entity, values: Mapping[str, Value]
) -> Row | None:
    """Return the first row with all the given values; None: no such row, or one of the values is null."""
    conditions = " AND ".join(f"{_quote(name)} = ?" for name in values)
    return next(
        _rows(connection, entity, f"WHERE {conditions} ORDER BY id", *values.values()), None
    )


def titles_of(connection: sqlite3.Connection, entity: Entity) -> dict[int, str]:
    """Return the titles of an entity's rows by id."""
    return {
        _id(row): str(row[entity.title.name]) for row in _rows(connection, entity, "ORDER BY id")
    }


def linked_rows(
    connection: sqlite3.Connection, world: World, entity: Entity, row: int
) -> list[tuple[Entity, list[Row]]]:
    """Return the entities with rows that link to a row, each with these rows in id order."""
    out = list[tuple[Entity, list[Row]]]()
    for other in world.entities:
        links = [_quote(field.name) for field in other.fields if field.target == entity.name]
        if links:
            found = list(
                _rows(connection, other, f"WHERE ? IN ({', '.join(links)}) ORDER BY id", row)
            )
            out += [(other, found)] if found else []
    return out


def add_row(connection: sqlite3.Connection, entity: Entity, values: Mapping[str, Value]) -> int:
    """Add a row with all fields of an entity, and return its id: the largest id plus one."""
    names = _columns(entity)
    row = {**values, "id": next_id(connection, entity)}
    connection.execute(
        f"INSERT INTO {_quote(entity.name)} VALUES ({', '.join('?' for _ in names)})",  # noqa: S608 - names are quoted
        [row[name] for name in names],
    )
    return int(row["id"] or 0)


def next_id(connection: sqlite3.Connection, entity: Entity) -> int:
    """Return the id of the next new row."""
    (largest,) = connection.execute(
        f"SELECT coalesce(max(id), 0) FROM {_quote(entity.name)}"  # noqa: S608 - names are quoted
    ).fetchone()
    return int(largest) + 1


def change_row(
    connection: sqlite3.Connection, entity: Entity, row: int, values: Mapping[str, Value]
) -> None:
    """Set fields of a row."""
    settings = ", ".join(f"{_quote(name)} = ?" for name in values)
    if settings:
        connection.execute(
            f"UPDATE {_quote(entity.name)} SET {settings} WHERE id = ?",  # noqa: S608 - names are quoted
            [*values.values(), row],
        )


def delete_row(connection: sqlite3.Connection, entity: Entity, row: int) -> None:
    """Delete a row."""
    connection.execute(f"DELETE FROM {_quote(entity.name)} WHERE id = ?", [row])  # noqa: S608 - names are quoted


def _rows(
    connection: sqlite3.Connection, entity: Entity, tail: str, *values: Value
) -> Iterator[Row]:
    names = _columns(entity)
    found = connection.execute(
        f"SELECT {', '.join(map(_quote, names))} FROM {_quote(entity.name)} {tail}",  # noqa: S608 - names are quoted
        values,
    )
    for values_of_row in found:
        yield dict(zip(names, values_of_row, strict=True))


def _sort_key(world: World, field: DataField) -> str:
    """Return the SQL expression that sorts rows by a field."""
    if field.target is not None:
        target = world.entity(field.target)
        title = f"casefold(there.{_quote(target.title.name)})"
        return f"(SELECT {title} FROM {_quote(target.name)} there WHERE there.id = {_quote(field.name)})"  # noqa: S608 - names are quoted
    if field.kind in _TYPES:
        return _quote(field.name)
    return f"casefold({_quote(field.name)})"


def _casefold(text: str | None) -> str | None:
    return None if text is None else text.casefold()


def _id(row: Row) -> int:
    return int(row["id"] or 0)


def _columns(entity: Entity) -> list[str]:
    return ["id", *(field.name for field in entity.fields)]


def _quote(name: str) -> str:
    return f'"{name}"'
