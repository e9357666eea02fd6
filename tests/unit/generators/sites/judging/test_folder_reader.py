"""A folder is told by a digest of each file in it."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from generators.sites.judging import folder_reader
from generators.sites.judging.folder_reader import digest_folder
from generators.sites.judging.state import state_digest
from schemas.errors import BadState

EMPTY = sha256(b"").hexdigest()


def _fill(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


def test_each_file_is_told_by_its_path_in_order(tmp_path: Path) -> None:
    _fill(tmp_path, "b", "a/c", "a.txt", ".hidden").joinpath("b").write_bytes(b"x")

    state = digest_folder(tmp_path)

    assert list(state) == [".hidden", "a.txt", "a/c", "b"]
    assert state["b"] == sha256(b"x").hexdigest()
    assert state["a/c"] == EMPTY


def test_what_is_left_out_is_not_told(tmp_path: Path) -> None:
    _fill(tmp_path, "cache/a/b", "cache/c", "x.log", "sub/y.log", "keep")

    assert list(digest_folder(tmp_path, leave_out=["cache", "*.log"])) == ["keep"]
    assert list(digest_folder(tmp_path, leave_out=["cache/a", "x.*", "nothing"])) == [
        "cache/c",
        "keep",
        "sub/y.log",
    ]


def test_links_and_what_is_no_file_are_not_opened(tmp_path: Path) -> None:
    inside = _fill(tmp_path / "site", "a")
    secret = _fill(tmp_path / "elsewhere", "secret")
    (inside / "link").symlink_to(secret)
    (inside / "loop").symlink_to(inside)
    os.mkfifo(inside / "pipe")

    assert digest_folder(inside) == {
        "a": EMPTY,
        "link": {"link": str(secret)},
        "loop": {"link": str(inside)},
    }


def test_a_name_that_is_not_unicode_can_be_told(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.txt")).write_bytes(b"")

    state = digest_folder(tmp_path)

    assert list(state) == ["\\xff.txt"]
    assert state_digest(state)


def test_what_is_no_folder_is_named(tmp_path: Path) -> None:
    for wrong in (tmp_path / "nothing", _fill(tmp_path, "file") / "file"):
        with pytest.raises(BadState, match=f"{wrong}: there is no such folder"):
            digest_folder(wrong)


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_reader, "MAX_FILES", 2)

    assert len(digest_folder(_fill(tmp_path, "a", "b"))) == 2
    with pytest.raises(BadState, match="more than 2 files: leave out some"):
        digest_folder(_fill(tmp_path, "c"))
