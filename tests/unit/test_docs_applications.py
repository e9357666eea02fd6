"""The examples on the page about applications are parts of a file as they stand, and do what the page says of them."""

import re
import sqlite3
import tomllib
import zlib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from source_tree import ROOT

from generators.sites.judging.folder_reader import digest_folder
from generators.sites.judging.sqlite_reader import read_sqlite
from generators.sites.judging.sqlite_views import read_views
from schemas.configuration.application import Application

PAGE = (ROOT / "docs" / "applications.md").read_text(encoding="utf-8")

PARTS = re.findall(r"^```toml part\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)

REST = {
    "origin": "http://shop.localhost",
    "start": {"command": ["shop", "--port", "{port}", "--data", "{folder}"]},
    "state": {"sqlite": "{folder}/shop.db"},
    "home": "/",
}
"""What else a file needs."""


def read_part(word: str) -> Application:
    """Return the application of the only part that has a word; what it lacks is added."""
    (part,) = (part for part in PARTS if word in part)
    return Application.model_validate(REST | tomllib.loads(part))


def test_each_part_is_one_that_a_file_takes() -> None:
    plain = Application.model_validate(REST)

    assert len(PARTS) == 4
    for part in PARTS:
        assert Application.model_validate(REST | tomllib.loads(part)) != plain


def test_a_part_with_a_wrong_key_is_none() -> None:
    with pytest.raises(ValueError, match="leave_outt"):
        Application.model_validate(REST | {"state": {"sqlite": "x", "leave_outt": []}})


def test_tables_are_left_out_by_name_and_pattern(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        for name in ("orders", "sessions", "log_2026"):
            database.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY)")

    state, _ = read_sqlite(tmp_path / "shop.db", leave_out=read_part("log_*").state.leave_out)

    assert list(state) == ["orders"]


def test_files_are_left_out_by_patterns_of_their_paths(tmp_path: Path) -> None:
    (tmp_path / "cache" / "deep").mkdir(parents=True)
    for name in ("cache/deep/one", "kept.txt", "kept.lock"):
        (tmp_path / name).write_text("x")

    found = digest_folder(tmp_path, leave_out=read_part("*.lock").state.leave_out)

    assert [name for name in found if "kept" in name or "cache" in name] == ["kept.txt"]


def test_views_are_the_tables_of_the_state(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.execute("CREATE TABLE orders (id, customer, status, changed_at)")
        database.execute("CREATE TABLE notes (id, body)")
        database.execute("INSERT INTO orders VALUES (2, 'Bo', 'open', 7), (1, 'Ada', 'sent', 8)")
        database.execute("INSERT INTO notes VALUES (1, ?)", (zlib.compress(b"Call Ada."),))
        database.commit()

    assert read_views(tmp_path / "shop.db", read_part("state.views").state.views) == {
        "orders": [
            {"id": 1, "customer": "Ada", "status": "sent"},
            {"id": 2, "customer": "Bo", "status": "open"},
        ],
        "notes": [{"id": 1, "text": "Call Ada."}],
    }


def test_a_moment_is_a_date_and_time_with_its_zone() -> None:
    clock = read_part("clock").clock

    assert clock is not None
    assert clock.at == datetime(2026, 1, 15, 10, tzinfo=UTC)
