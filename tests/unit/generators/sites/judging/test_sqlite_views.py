"""States are read by declared SELECT statements."""

import sqlite3
import struct
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from generators.sites.judging.sqlite_views import inflate, read_views
from schemas.errors import BadConfig, Damaged


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with one table of two rows."""
    with closing(sqlite3.connect(tmp_path / "state")) as database, database:
        database.execute("CREATE TABLE thing(id, name, content)")
        data = zlib.compress(b"packed")
        database.execute("INSERT INTO thing VALUES (1, 'a', ?)", (struct.pack(">I", 6) + data,))
        database.execute("INSERT INTO thing VALUES (2, ?, ?)", (b"b\xff", data))
    return tmp_path / "state"


def test_each_view_is_a_table_of_the_state(file: Path) -> None:
    views = {
        "thing": "SELECT id, name, inflate(content) AS text FROM thing ORDER BY id DESC",
        "number": "SELECT count(*) AS n FROM thing",
    }

    assert read_views(file, views) == {
        "thing": [
            {"id": 2, "name": "b\ufffd", "text": "packed"},
            {"id": 1, "name": "a", "text": "packed"},
        ],
        "number": [{"n": 2}],
    }


def test_reading_leaves_no_file_behind(file: Path) -> None:
    read_views(file, {"thing": "SELECT id FROM thing"})

    assert [path.name for path in file.parent.iterdir()] == ["state"]


def test_what_a_running_program_wrote_to_its_log_is_seen(file: Path) -> None:
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("INSERT INTO thing VALUES (3, 'c', NULL)")
        writer.commit()

        assert read_views(file, {"n": "SELECT count(*) AS n FROM thing"}) == {"n": [{"n": 3}]}


@pytest.mark.parametrize(
    ("view", "named"),
    [
        ("SELECT id FROM absent", "state.views.thing: no such table: absent"),
        ("SELECT nonsense FROM thing", "state.views.thing: no such column: nonsense"),
        ("DELETE FROM thing", "state.views.thing: attempt to write a readonly database"),
        ("not SQL", "state.views.thing: near"),
    ],
)
def test_a_view_that_cannot_be_read_is_named(file: Path, view: str, named: str) -> None:
    with pytest.raises(BadConfig, match=named):
        read_views(file, {"thing": view})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match=r"wiki\.sqlite is not there; start or reset"):
        read_views(tmp_path / "wiki.sqlite", {})


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no database, and long enough to be looked at" * 20)

    with pytest.raises(Damaged, match="is no SQLite file"):
        read_views(tmp_path / "state", {"thing": "SELECT 1 FROM sqlite_master"})


def test_what_is_no_stream_inflates_to_nothing() -> None:
    assert inflate(None) is None
    assert inflate(b"no stream at all") is None
