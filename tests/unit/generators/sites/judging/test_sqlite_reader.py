"""A SQLite file is read as it is at the moment, and stays as it is."""

import os
import shutil
import sqlite3
from collections.abc import Collection
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from pydantic import JsonValue

from generators.sites.judging import sqlite_reader
from generators.sites.judging.compare import compare_states
from generators.sites.judging.state import state_digest
from schemas.errors import BadState


def read_sqlite(path: Path, *, leave_out: Collection[str] = ()) -> dict[str, JsonValue]:
    return sqlite_reader.read_sqlite(path, leave_out=leave_out)[0]


def sqlite_keys(path: Path) -> dict[str, str]:
    return sqlite_reader.read_sqlite(path)[1]


def _make(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


def _digest(path: Path) -> dict[str, tuple[str, int]]:
    return {
        each.name: (sha256(each.read_bytes()).hexdigest(), each.stat().st_mtime_ns)
        for each in path.parent.iterdir()
    }


def test_rows_are_objects_in_the_order_of_their_key(tmp_path: Path) -> None:
    path = _make(
        tmp_path / "shop.db",
        "CREATE TABLE b (n INTEGER PRIMARY KEY DESC, t TEXT, r REAL, x BLOB)",
        "INSERT INTO b VALUES (3, 'é', 1.5, NULL), (-1, '', 9e999, x'00ff')",
        "CREATE TABLE a (y TEXT, x INT, PRIMARY KEY (x, y)) WITHOUT ROWID",
        "INSERT INTO a VALUES ('b', 2), ('a', 10), ('a', 2)",
    )

    state = read_sqlite(path)

    assert list(state) == ["a", "b"]
    assert state["a"] == [{"y": "a", "x": 2}, {"y": "b", "x": 2}, {"y": "a", "x": 10}]
    blob = sha256(b"\0\xff").hexdigest()
    assert state["b"] == [
        {"n": -1, "t": "", "r": {"real": "inf"}, "x": {"sha256": blob}},
        {"n": 3, "t": "é", "r": 1.5, "x": None},
    ]
    assert sqlite_keys(path) == {"a": "x,y", "b": "n"}
    assert state_digest(state)


def test_a_table_without_a_key_is_read_with_its_row_ids(tmp_path: Path) -> None:
    path = _make(
        tmp_path / "shop.db",
        "CREATE TABLE plain (x)",
        "INSERT INTO plain VALUES ('b'), ('a')",
        "CREATE TABLE taken (RowId TEXT)",
        "INSERT INTO taken VALUES ('x')",
        'CREATE TABLE "all ""taken" (rowid, _rowid_, oid)',
        'INSERT INTO "all ""taken" VALUES (2, 0, 0), (NULL, 0, 0), (1, 0, 0)',
    )

    state = read_sqlite(path)

    assert state["plain"] == [{"rowid": 1, "x": "b"}, {"rowid": 2, "x": "a"}]
    assert state["taken"] == [{"_rowid_": 1, "RowId": "x"}]
    rows = state['all "taken']
    assert isinstance(rows, list)
    assert [row["rowid"] for row in rows if isinstance(row, dict)] == [None, 1, 2]


def test_text_that_is_not_unicode_is_told_by_its_digest(tmp_path: Path) -> None:
    path = _make(
        tmp_path / "x.db", "CREATE TABLE t (x)", "INSERT INTO t VALUES (CAST(x'ff' AS TEXT))"
    )

    assert read_sqlite(path)["t"] == [{"rowid": 1, "x": {"sha256": sha256(b"\xff").hexdigest()}}]


def test_only_tables_that_hold_data_of_their_own_are_read(tmp_path: Path) -> None:
    path = _make(
        tmp_path / "x.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT)",
        "INSERT INTO t DEFAULT VALUES",
        "CREATE VIEW v AS SELECT * FROM t",
        "CREATE VIRTUAL TABLE search USING fts5(x)",
        "INSERT INTO search VALUES ('x')",
        "CREATE TABLE search_log (id INTEGER PRIMARY KEY)",
        "CREATE TABLE cache_1 (x)",
    )

    assert set(read_sqlite(path)) == {"t", "search_log", "cache_1"}
    assert set(read_sqlite(path, leave_out=["cache_*", "search_log", "nothing"])) == {"t"}


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_what_a_live_server_has_committed_is_read_and_nothing_else(
    tmp_path: Path, mode: str
) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as server:
        server.execute(f"PRAGMA journal_mode = {mode}")
        server.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n)")
        server.execute("INSERT INTO t VALUES (1, 1)")
        before = _digest(path)

        assert read_sqlite(path) == {"t": [{"id": 1, "n": 1}]}
        assert _digest(path) == before
        assert (path.with_name("shop.db-wal") in set(tmp_path.iterdir())) == (mode == "wal")

        server.execute("BEGIN IMMEDIATE")
        server.execute("INSERT INTO t VALUES (2, 2)")
        assert read_sqlite(path) == {"t": [{"id": 1, "n": 1}]}
        server.execute("COMMIT")
        assert read_sqlite(path) == {"t": [{"id": 1, "n": 1}, {"id": 2, "n": 2}]}


def test_a_transaction_that_was_cut_off_is_not_read(tmp_path: Path) -> None:
    path = _make(tmp_path / "shop.db", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    with closing(sqlite3.connect(path, isolation_level=None)) as server:
        server.execute("PRAGMA cache_size = 1")
        server.execute("BEGIN")
        server.execute("INSERT INTO t VALUES (2)")
        server.executemany("INSERT INTO t VALUES (?)", [["x" * 100]] * 2_000)
        assert path.with_name("shop.db-journal").is_file()

        assert read_sqlite(path) == {"t": [{"rowid": 1, "x": 1}]}


def test_a_closed_database_in_wal_mode_is_left_without_a_log(tmp_path: Path) -> None:
    path = _make(tmp_path / "shop.db", "PRAGMA journal_mode = wal", "CREATE TABLE t (x)")
    before = _digest(path)

    assert read_sqlite(path) == {"t": []}
    assert _digest(path) == before
    assert list(tmp_path.iterdir()) == [path]


def test_two_readings_are_compared_by_the_primary_keys(tmp_path: Path) -> None:
    path = _make(
        tmp_path / "wiki.db",
        "CREATE TABLE page (page_nr INTEGER PRIMARY KEY, title)",
        "INSERT INTO page VALUES (1, 'a'), (2, 'b')",
    )
    before = read_sqlite(path)
    _make(path, "UPDATE page SET title = 'c' WHERE page_nr = 2")

    (change,) = compare_states(before, read_sqlite(path), keys=sqlite_keys(path)).changed

    assert (change.at, change.key, change.fields) == ("/page", 2, ("title",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such database file"),
        (b"x" * 5_000, "not a readable SQLite database: file is not a database"),
        (b"SQLite format 3\0" + b"\1" * 5_000, "not a readable SQLite database"),
    ],
)
def test_what_is_no_database_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "shop.db"
    if content is not None:
        path.write_bytes(content)

    for read in (read_sqlite, sqlite_keys):
        with pytest.raises(BadState, match=f"shop.db: {message}"):
            read(path)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(BadState, match=r"there is no such database file|cannot be read"):
        read_sqlite(tmp_path)


def test_a_database_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _make(
        tmp_path / "shop.db", "CREATE TABLE t (x)", "INSERT INTO t VALUES ('abcdefghijkl')"
    )

    monkeypatch.setattr(sqlite_reader, "MAX_STATE_BYTES", 20)
    with pytest.raises(BadState, match="its tables up to 't' hold more than 20 bytes: leave out"):
        read_sqlite(path)
    monkeypatch.setattr(sqlite_reader, "MAX_DATABASE_BYTES", 8_000)
    with pytest.raises(BadState, match="8,192 bytes; expected at most 8,000"):
        read_sqlite(path)


def test_a_database_that_never_rests_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _make(tmp_path / "shop.db", "CREATE TABLE t (x)")
    copyfile, times = shutil.copyfile, list[int]()

    def copy_and_touch(source: Path, target: Path) -> None:
        copyfile(source, target)
        times.append(len(times) + 1)
        os.utime(source, ns=(times[-1], times[-1]))

    monkeypatch.setattr(shutil, "copyfile", copy_and_touch)

    with pytest.raises(BadState, match="it changed 5 times while it was read"):
        read_sqlite(path)
