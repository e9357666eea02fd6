"""Snapshots of seeded contents are made once, and put back whole."""

from pathlib import Path

import pytest
from fake_application import harbour

from schemas.base import Record, content_hash
from schemas.errors import Unfinished
from stepmill_applications.application import ContentFolders
from stepmill_applications.snapshots import snapshot_folder
from stepmill_applications.sources.source import Installed


class Content(Record):
    words: str
    """Anything."""


INSTALLED = Installed(tree=Path("/"), version="1:2.0~x/y")


def test_a_snapshot_is_made_once(tmp_path: Path) -> None:
    made: list[int] = []

    def make(_: Installed, seed: int, folders: ContentFolders) -> None:
        made.append(seed)
        (folders.folder / "state").write_text((folders.base / "empty").read_text() + str(seed))

    def make_base(_: Installed, folder: Path) -> None:
        (folder / "empty").write_text("content ")

    application = harbour(make=make, make_base=make_base, draw_content=lambda _: Content(words=""))
    folders = [
        snapshot_folder(application, INSTALLED, data=tmp_path, seed=seed) for seed in (3, 4, 3)
    ]

    assert made == [3, 4]
    assert [(folder / "state").read_text() for folder in folders] == [
        "content 3",
        "content 4",
        "content 3",
    ]


def test_other_content_is_another_snapshot(tmp_path: Path) -> None:
    folders = {
        snapshot_folder(
            harbour(
                make=lambda *_: None,
                make_base=lambda *_: None,
                draw_content=lambda _, words=words: Content(words=words),
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


def test_a_snapshot_that_could_not_be_made_leaves_nothing(tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise Unfinished("the application failed")

    application = harbour(
        make=fail, make_base=lambda *_: None, draw_content=lambda _: Content(words="")
    )
    with pytest.raises(Unfinished):
        snapshot_folder(application, INSTALLED, data=tmp_path, seed=0)

    assert [path.name for path in (tmp_path / "harbour/worlds").rglob("*")][1:] == ["base"]


def test_the_faster_of_two_makers_wins(tmp_path: Path) -> None:
    def make(_: Installed, seed: int, folders: ContentFolders) -> None:
        (folders.folder / "state").write_text("mine")
        other = folders.base.with_name(f"{seed}-{content_hash({'words': ''})[:12]}")
        other.mkdir()
        (other / "state").write_text(f"theirs {seed}")

    application = harbour(
        make=make, make_base=lambda *_: None, draw_content=lambda _: Content(words="")
    )

    folder = snapshot_folder(application, INSTALLED, data=tmp_path, seed=0)

    assert (folder / "state").read_text() == "theirs 0"
    assert len(list(folder.parent.iterdir())) == 2
