"""What a URL means."""

from pathlib import Path

import pytest

from schemas.configuration.sections import StorageSection
from schemas.errors import BadConfig, Unwritable
from storage.lake.file_access import table_url
from storage.objects.urls import open_store


@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}", "FILE://{}"])
async def test_a_folder_may_be_named_in_several_ways(tmp_path: Path, form: str) -> None:
    store = open_store(form.format(tmp_path / "run"), StorageSection())
    await store.put("a", b"1")

    assert (tmp_path / "run" / "a").read_bytes() == b"1"


async def test_a_file_url_is_decoded(tmp_path: Path) -> None:
    await open_store(f"file://{tmp_path}/a%20b", StorageSection()).put("a", b"1")

    assert (tmp_path / "a b" / "a").is_file()


async def test_the_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert open_store("~/run", StorageSection()).url == str(tmp_path / "run")


@pytest.mark.parametrize("url", ["hf://datasets/a/b", "gs://b", "s3a://bucket/x", "https://x/y"])
def test_a_place_this_version_cannot_open_is_refused_by_name(url: str) -> None:
    with pytest.raises(BadConfig, match=f"{url}: this version reads and writes folders and"):
        open_store(url, StorageSection())
    with pytest.raises(BadConfig, match=url):
        table_url(url, "steps")


@pytest.mark.parametrize("url", ["", "file://elsewhere/run", "file://", "a\0b"])
def test_what_names_no_folder_is_refused(url: str) -> None:
    with pytest.raises(BadConfig, match=r"give a folder|expected file:///path"):
        open_store(url, StorageSection())


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"")

    with pytest.raises(Unwritable, match="run: is a file; give a folder"):
        open_store(str(tmp_path / "run"), StorageSection())


def test_a_table_has_an_absolute_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert table_url("run", "steps") == str(tmp_path / "run" / "tables" / "steps")
