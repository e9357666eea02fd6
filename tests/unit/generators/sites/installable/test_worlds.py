"""Worlds are made once, and put back whole."""

import sqlite3
from pathlib import Path

import pytest
from support.servers.fake_application import harbour

from generators.sites.application.server import restore
from generators.sites.installable.application import Installed, World
from generators.sites.installable.worlds import world_folder
from schemas.base import Record, content_hash
from schemas.errors import Unfinished


class Content(Record):
    words: str
    """Anything."""


INSTALLED = Installed(tree=Path("/"), version="1:2.0~x/y")


def test_a_world_is_made_once(tmp_path: Path) -> None:
    made: list[int] = []

    def make(_: Installed, seed: int, world: World) -> None:
        made.append(seed)
        (world.folder / "state").write_text((world.base / "empty").read_text() + str(seed))

    def make_base(_: Installed, folder: Path) -> None:
        (folder / "empty").write_text("world ")

    application = harbour(make=make, make_base=make_base, draw_world=lambda _: Content(words=""))
    folders = [world_folder(application, INSTALLED, data=tmp_path, seed=seed) for seed in (3, 4, 3)]

    assert made == [3, 4]
    assert [(folder / "state").read_text() for folder in folders] == [
        "world 3",
        "world 4",
        "world 3",
    ]


def test_other_content_is_another_world(tmp_path: Path) -> None:
    folders = {
        world_folder(
            harbour(
                make=lambda *_: None,
                make_base=lambda *_: None,
                draw_world=lambda _, words=words: Content(words=words),
                making=making,
            ),
            INSTALLED,
            data=tmp_path,
            seed=0,
        )
        for words in ("a", "b")
        for making in (1, 2)
    }

    assert len(folders) == 4


def test_a_world_that_could_not_be_made_leaves_nothing(tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise Unfinished("the application failed")

    application = harbour(
        make=fail, make_base=lambda *_: None, draw_world=lambda _: Content(words="")
    )
    with pytest.raises(Unfinished):
        world_folder(application, INSTALLED, data=tmp_path, seed=0)

    assert [path.name for path in (tmp_path / "harbour/worlds").rglob("*")][1:] == ["base"]


def test_the_faster_of_two_makers_wins(tmp_path: Path) -> None:
    def make(_: Installed, seed: int, world: World) -> None:
        (world.folder / "state").write_text("mine")
        other = world.base.with_name(f"{seed}-{content_hash({'words': ''})[:12]}")
        other.mkdir()
        (other / "state").write_text(f"theirs {seed}")

    application = harbour(
        make=make, make_base=lambda *_: None, draw_world=lambda _: Content(words="")
    )

    folder = world_folder(application, INSTALLED, data=tmp_path, seed=0)

    assert (folder / "state").read_text() == "theirs 0"
    assert len(list(folder.parent.iterdir())) == 2


def test_restoring_brings_back_the_world_without_the_journals(tmp_path: Path) -> None:
    world, live = tmp_path / "world", tmp_path / "live"
    for file, word in ((world, "before"), (live, "after")):
        with sqlite3.connect(file) as database:
            database.execute("CREATE TABLE said(word)")
            database.execute("INSERT INTO said VALUES (?)", (word,))
        database.close()
    for journal in ("-journal", "-wal", "-shm"):
        (tmp_path / f"live{journal}").write_bytes(b"of the old file")

    restore(world, live)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["live", "world"]
    database = sqlite3.connect(live)
    assert database.execute("SELECT word FROM said").fetchall() == [("before",)]
    database.close()


def test_restoring_what_is_not_there_makes_it(tmp_path: Path) -> None:
    (tmp_path / "world").write_text("x")

    restore(tmp_path / "world", tmp_path / "live")

    assert (tmp_path / "live").read_text() == "x"
