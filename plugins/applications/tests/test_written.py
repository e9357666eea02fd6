"""An application with one content: installed with it, served in a copy of it, and put back."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from generators.sites.installable.protocol import Command, Machine
from schemas.errors import Refusal
from stepmill_applications.application import Serving
from stepmill_applications.harbour import draw_harbour
from stepmill_applications.sources.source import Installed
from stepmill_applications.written import Written


class Shed:
    """A source that has all that is asked of it, once it was asked."""

    def __init__(self, tree: Path) -> None:
        self.tree, self.here = tree, False

    def find(self, name: str, data: Path) -> Installed | None:
        del name, data
        return Installed(tree=self.tree, version="1:2~x") if self.here else None

    def install(
        self, name: str, data: Path, *, environ: Mapping[str, str], say: Callable[[str], None]
    ) -> Installed:
        del name, data, environ, say
        self.here = True
        return Installed(tree=self.tree, version="1:2~x")


def make(_: Installed, folder: Path) -> None:
    (folder / "pages").mkdir()
    (folder / "pages" / "start").write_text("as it was")


def command(installed: Installed, serving: Serving) -> Command:
    words = (str(installed.tree), str(serving.folder), str(serving.base), str(serving.port))
    return Command(arguments=words, environment={})


@pytest.fixture
def shed(tmp_path: Path) -> Written:
    return Written(name="shed", source=Shed(tmp_path), making=3, make=make, command=command)


def test_it_is_found_once_it_is_installed_with_its_content(shed: Written, tmp_path: Path) -> None:
    here = shed(Machine(data=tmp_path / "data", environ={}))
    assert here.find() is None

    installed = here.install(lambda _: None)

    assert (installed.version, installed.folder) == ("1:2~x", tmp_path)
    assert here.find() == installed
    kept = tmp_path / "data/shed/content/1_2~x-3/pages/start"
    assert kept.read_text() == "as it was"


def test_an_instance_has_the_content_and_a_second_copy_for_resets(
    shed: Written, tmp_path: Path
) -> None:
    installed = shed(Machine(data=tmp_path / "data", environ={})).install(lambda _: None)
    folder = tmp_path / "instance"

    served = installed.serve([str(folder), "8000"])

    assert served.arguments[1::2] == (str(folder), "8000")
    for copy in ("pages/start", "world/pages/start"):
        assert (folder / copy).read_text() == "as it was"


@pytest.mark.parametrize("words", [[], ["here"], ["here", "there"], ["here", "80", "more"]])
def test_words_that_are_not_a_folder_and_a_port_are_refused(
    shed: Written, words: list[str], tmp_path: Path
) -> None:
    installed = shed(Machine(data=tmp_path / "data", environ={})).install(lambda _: None)

    with pytest.raises(Refusal, match="shed: expected a folder and a port"):
        installed.serve(words)


def test_the_harbour_has_no_two_ships_of_one_name_and_no_two_calls_of_one_ship_on_a_day() -> None:
    harbour = draw_harbour()

    assert len({ship.name for ship in harbour.ships}) == len(harbour.ships)
    assert len({(call.day, call.ship.name) for call in harbour.calls}) == len(harbour.calls)
    assert [call.day for call in harbour.calls] == sorted(call.day for call in harbour.calls)
