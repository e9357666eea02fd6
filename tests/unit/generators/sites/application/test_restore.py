"""A file of a server's state is replaced whole, whether or not a program serves it."""

import os
import sqlite3
from pathlib import Path

from generators.sites.application.server_handle import _put_files, restore


def test_restoring_brings_back_the_content_without_the_journals(tmp_path: Path) -> None:
    source, live = tmp_path / "source", tmp_path / "live"
    for file, word in ((source, "before"), (live, "after")):
        with sqlite3.connect(file) as database:
            database.execute("CREATE TABLE said(word)")
            database.execute("INSERT INTO said VALUES (?)", (word,))
        database.close()
    for journal in ("-journal", "-wal", "-shm"):
        (tmp_path / f"live{journal}").write_bytes(b"of the old file")

    restore(source, live)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["live", "source"]
    database = sqlite3.connect(live)
    assert database.execute("SELECT word FROM said").fetchall() == [("before",)]
    database.close()


def test_restoring_what_is_not_there_makes_it(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("x")

    restore(tmp_path / "source", tmp_path / "live")

    assert (tmp_path / "live").read_text() == "x"


def test_a_folder_is_replaced_whole_with_the_times_of_its_files(tmp_path: Path) -> None:
    source, live = tmp_path / "source", tmp_path / "live"
    for name in ("pages/one", "pages/sub/two", "top"):
        file = source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("before")
        os.utime(file, (1_700_000_000, 1_700_000_000))
    for name in ("pages/one", "pages/added", "pages/new/added", "pages/sub/two/in", "log"):
        (live / name).parent.mkdir(parents=True, exist_ok=True)
        (live / name).write_text("after")

    _put_files(source, live)

    found = {file.relative_to(live).as_posix() for file in live.rglob("*") if file.is_file()}
    assert found == {"pages/one", "pages/sub/two", "top", "log"}
    assert (live / "pages/one").read_text() == "before"
    assert (live / "pages/one").stat().st_mtime == 1_700_000_000


def test_a_file_that_nothing_was_written_into_is_left_where_it_is(tmp_path: Path) -> None:
    source, live = tmp_path / "source", tmp_path / "live"
    source.mkdir()
    live.mkdir()
    for name in ("same", "written", "journal"):
        (source / name).write_text("before")
    _put_files(source, live)
    numbers = {file.name: file.stat().st_ino for file in live.iterdir()}
    (live / "written").write_text("later!")
    (live / "journal-wal").write_text("later!")

    _put_files(source, live)

    again = {file.name: file.stat().st_ino for file in live.iterdir()}
    assert again.keys() == numbers.keys()
    assert again["same"] == numbers["same"]
    assert again["journal"] != numbers["journal"]
    assert {file.read_text() for file in live.iterdir()} == {"before"}
