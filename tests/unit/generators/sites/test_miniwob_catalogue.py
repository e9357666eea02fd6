"""The shipped catalogue describes exactly the templates there are."""

from pathlib import Path

import pytest

from generators.sites import miniwob_catalogue as module
from generators.sites.miniwob import template_paths
from generators.sites.miniwob_catalogue import Need, catalogue
from generators.tasks.site_offers import site_offers
from schemas.errors import Damaged


def test_every_template_has_an_entry_and_every_entry_a_template() -> None:
    assert list(catalogue()) == list(template_paths())


def test_what_cannot_be_done_says_why() -> None:
    for name, entry in catalogue().items():
        assert entry.feasible is not False or entry.note, name


def test_every_need_is_somebodys() -> None:
    assert {need for entry in catalogue().values() for need in entry.needs} == set(Need)
    for name, entry in catalogue().items():
        assert len(set(entry.needs)) == len(entry.needs), name


def test_needs_are_the_tags_of_the_templates_tasks() -> None:
    known = site_offers()["miniwob"].templates
    assert known["chase-circle"].tags == ("hovering", "seeing", "time")


@pytest.mark.parametrize("text", ["[click-test", '[click-test]\ngoal = ""\nneeds = ["clicking"]'])
def test_a_torn_catalogue_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    path = tmp_path / "miniwob.toml"
    path.write_text(text)
    monkeypatch.setattr(module, "CATALOGUE_PATH", path)
    with pytest.raises(Damaged, match=r"miniwob\.toml"):
        catalogue.__wrapped__()
