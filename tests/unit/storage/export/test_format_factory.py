"""Formats of plug-ins: made of their flags, and held to what they say."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.inputs.offered_parts import installed, offer
from support.runs.exports import Parrot, exported
from support.runs.memory_run import small_run

from schemas.errors import BadConfig, NotFound, OtherRun
from storage.export.format_factory import (
    FORMATS,
    FormatParts,
    check_options,
    check_rejected,
    find_format,
    make_format,
)
from storage.export.registry import RENDERED, FormatName, Pictures

CODE = """
from storage.export.protocol import Line

stepmill_api = 1

class Goals:
    name = "goals"
    options = {}
    def __init__(self, parts):
        self.parts = parts
    def pieces(self, source, counts):
        yield Line({"goal": source.episode.instruction})

class Told(Goals):
    name = "told"
    flags = ("dialect", "pictures")
    needs_rejected = True

class Listed(Goals):
    flags = ["dialect"]

class Odd(Goals):
    flags = ("colour",)

def broken(parts):
    raise KeyError("a")
"""
PLACES = {"goals": "Goals", "told": "Told", "listed": "Listed", "odd": "Odd", "broken": "broken"}


@pytest.fixture(autouse=True)
def _offered(tmp_path: Path) -> Iterator[None]:
    parts = {
        f"stepmill.formats:{name}": f"own_formats:{at}"
        for name, at in (*PLACES.items(), ("other", "Goals"))
    }
    with installed(tmp_path):
        offer(tmp_path, "own-formats", parts, modules={"own_formats": CODE})
        yield


def test_every_format_that_ships_is_in_the_registry() -> None:
    assert set(FORMATS.built_in) == set(FormatName)
    rendered = {name for name, part in FORMATS.built_in.items() if "dialect" in part.flags}
    assert rendered == set(RENDERED)


def test_a_format_of_a_plugin_is_made_of_its_flags() -> None:
    parts = FormatParts(renderer=Parrot(), pictures=Pictures.DATA)
    check_options("told", {"dialect": "holotron", "pictures": "data", "steps": None})

    assert vars(make_format("told", parts))["parts"] is parts


def test_a_flag_that_it_does_not_read_is_refused() -> None:
    with pytest.raises(BadConfig, match="--steps: 'told' has no such option; it is for chat and"):
        check_options("told", {"steps": "good"})


def test_it_may_need_rejected_attempts() -> None:
    check_rejected("goals", include_rejected=False)
    with pytest.raises(BadConfig, match=r"--format told: .*--include-rejected"):
        check_rejected("told", include_rejected=False)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("listed", "is no format: its flags should be a tuple of some of dialect, shape"),
        ("odd", "is no format: its flags should be a tuple of some of dialect, shape"),
        ("broken", "^--format: 'broken' cannot be used: it is not made: KeyError: 'a'$"),
        ("other", "^--format: the format 'other' calls itself 'goals'"),
    ],
)
def test_a_format_that_is_not_what_it_says_is_refused(name: str, said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        make_format(name, FormatParts())


def test_an_unknown_format_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFound, match=r"^--format: there is no format 'goal'; did you mean"):
        find_format("goal")


def test_an_export_by_another_version_of_a_plugin_is_another_export(tmp_path: Path) -> None:
    snapshot, to = small_run().seal(), tmp_path / "to"
    exported(snapshot, make_format("goals", FormatParts()), to, include_rejected=True)
    manifest = json.loads((to / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["made_of"]["plugin"] == "own-formats 1.0"

    newer = tmp_path / "newer"
    (tmp_path / "own_formats-1.0.dist-info" / "entry_points.txt").unlink()
    with installed(newer):
        parts = {"stepmill.formats:goals": "own_formats:Goals"}
        offer(newer, "own-formats", parts, version="2.0", modules={"own_formats": CODE})
        with pytest.raises(OtherRun, match="plugin"):
            exported(snapshot, make_format("goals", FormatParts()), to, include_rejected=True)
