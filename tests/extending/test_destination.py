"""A destination from outside: a class, and a row of `storage.publish.publish.OPENERS`."""

import hashlib
from pathlib import Path

import pytest
from support.runs.commands import called, contents

from storage.objects.local import LocalStore
from storage.objects.temp_object import Source
from storage.publish import publish
from storage.publish.destinations.store import StoreDestination


class Counting(StoreDestination):
    """A destination in any object store, which counts what it is given."""

    def __init__(self, root: Path) -> None:
        super().__init__(LocalStore(root))
        self.put_paths: list[str] = []

    async def put(self, path: str, data: Source) -> None:
        """Note the path and write the file."""
        self.put_paths.append(path)
        await super().put(path, data)


def test_a_destination_takes_a_stored_run(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    destination = Counting(tmp_path / "there")
    monkeypatch.setitem(publish.OPENERS, "count", lambda *_: destination)

    rejected = "--set=publish.include_rejected=true"
    asked = ("publish", str(run), "--no-prefect", "--version=1", "--json", rejected)
    said = called(*asked, "--to=count://dataset")
    folder = called(*asked, f"--to={tmp_path / 'folder'}")

    assert said.code == folder.code == 0, said.err + folder.err
    assert destination.put_paths[-1] == "manifest.json"
    assert _data(tmp_path / "there") == _data(tmp_path / "folder")


def _data(folder: Path) -> dict[str, str]:
    return {
        name: hashlib.sha256(data).hexdigest()
        for name, data in contents(folder).items()
        if name.endswith(".parquet")
    }
