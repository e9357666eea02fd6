"""What Stepmill is given of an application: installed with a snapshot of each content, and served from there."""

import json
from pathlib import Path

import pytest
from fake_application import harbour

from generators.sites.installable.protocol import Command, Machine
from schemas.base import Record
from stepmill_applications.application import ContentFolders, Serving
from stepmill_applications.application_task import CONTENTS
from stepmill_applications.parts import AT, Packaged
from stepmill_applications.sources.source import Installed


class Content(Record):
    seed: int
    """Anything."""


def make(_: Installed, seed: int, folders: ContentFolders) -> None:
    (folders.folder / "state").write_text(f"content {seed}")


def command(installed: Installed, serving: Serving) -> Command:
    words = (str(installed.tree), str(serving.folder), str(serving.base), str(serving.port))
    return Command(arguments=words, environment={"HOME": str(serving.folder)})


@pytest.fixture
def packaged(tmp_path: Path) -> Packaged:
    """Return an application whose packages are unpacked already."""
    tree = tmp_path / "data" / "harbour" / "tree"
    clock = tree / "usr/lib/here/faketime/libfaketime.so.1"
    clock.parent.mkdir(parents=True)
    clock.touch()
    (tree / "stepmill-packages.json").write_text(json.dumps({"harbour": "1:2.0"}))
    application = harbour(
        make=make,
        make_base=lambda *_: None,
        draw_content=lambda seed: Content(seed=seed),
        command=command,
    )
    return Packaged(application, Machine(data=tmp_path / "data", environ={"PATH": "/bin"}))


def test_an_application_whose_packages_are_not_here_is_not_found(tmp_path: Path) -> None:
    machine = Machine(data=tmp_path, environ={})

    assert Packaged(harbour(), machine).find() is None


def test_installing_makes_a_snapshot_of_each_content_and_says_so(
    packaged: Packaged, tmp_path: Path
) -> None:
    said: list[str] = []
    made = packaged.install(said.append)

    assert said == [f"harbour: making content {n} of 4" for n in range(1, CONTENTS + 1)]
    snapshots = (tmp_path / "data/harbour/worlds").rglob("state")
    assert sorted(file.read_text() for file in snapshots) == [f"content {n}" for n in range(4)]
    found = packaged.find()
    assert found is not None
    assert (made.version, made.folder) == (found.version, found.folder)
    assert (found.version, found.folder) == ("1:2.0", tmp_path / "data/harbour/tree")


def test_an_instance_is_served_with_each_content_for_resets_and_a_clock_that_stands_still(
    packaged: Packaged, tmp_path: Path
) -> None:
    found, folder = packaged.find(), tmp_path / "instance"
    assert found is not None

    served = found.serve(["--folder", str(folder), "--port", "7", "--seed", "6"])

    tree, where, base, port = served.arguments
    assert (Path(tree), Path(where), port) == (found.folder, folder, "7")
    assert Path(base).is_relative_to(tmp_path / "data/harbour/worlds")
    assert (folder / "state").read_text() == "content 2"
    assert [(folder / f"worlds/{n}/state").read_text() for n in range(4)] == [
        f"content {n}" for n in range(4)
    ]
    assert (served.environment["FAKETIME"], served.environment["HOME"]) == (AT, str(folder))
    assert "FAKETIME" not in found.serve(["--folder", str(folder), "--at", ""]).environment


def test_words_that_are_not_its_own_end_the_program(packaged: Packaged) -> None:
    found = packaged.find()
    assert found is not None

    with pytest.raises(SystemExit, match="2"):
        found.serve(["--planet", "Mars"])
