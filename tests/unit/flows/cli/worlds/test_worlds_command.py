"""`stepmill worlds` without a browser: lists, worlds in words, and what is refused before anything is started."""

import json
from pathlib import Path
from shutil import copytree

import pytest

from flows.cli.main import main
from flows.terminal import ExitCode
from generators.tasks.worlds.draw import kinds_of
from generators.tasks.worlds.kinds import KINDS
from generators.worlds.drawing import draw
from generators.worlds.drawing.draw import FAMILIES, draw_world, language_of, worlds_in_turn
from generators.worlds.words.catalogue import catalogue
from schemas.errors import BadTasks
from schemas.worlds.language import Language


def worlds(*argv: str) -> int:
    return main(["worlds", *argv])


def test_every_family_is_listed_with_what_it_may_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert worlds("list", "--json") == ExitCode.DONE

    listed = json.loads(capsys.readouterr().out)["families"]
    assert [one["family"] for one in listed] == list(FAMILIES)
    (shop,) = [one for one in listed if one["family"] == "shop"]
    least, most = shop["views"]
    assert 1 <= least <= most
    further = {"permission_request", "guide_page", "past_change", "cart"}
    own = {entity.name for entity in draw_world("shop", 0).entities} - further
    assert shop["entities"] >= len(own)
    assert shop["kinds"] == len(kinds_of("shop")) < len(KINDS)
    assert shop["example"] == draw_world("shop", 0).title


def test_a_list_for_people_is_one_line_a_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert worlds("list") == ExitCode.DONE

    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "family"
    assert [line.split()[0] for line in lines[: len(FAMILIES)]] == list(FAMILIES)


def test_a_world_is_shown_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    world = draw_world("shop", 7)

    assert worlds("show", "shop/7") == ExitCode.DONE

    shown = capsys.readouterr().out
    words = [world.title, world.origin, world.user, world.locale, world.look.accent]
    words += [word for entity in world.entities for word in (entity.one, entity.many)]
    words += [view.label for view in world.views]
    assert [word for word in words if word not in shown] == []


def test_a_world_is_shown_as_its_specification(capsys: pytest.CaptureFixture[str]) -> None:
    assert worlds("show", "shop/7", "--json") == ExitCode.DONE

    shown = json.loads(capsys.readouterr().out)
    world = draw_world("shop", 7)
    assert (shown["sha256"], shown["picture"]) == (world.sha256, None)
    assert shown["title"] == world.title


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["show", "shop"], "expected a family and a seed, as shop/7, got 'shop'"),
        (["show", "/7"], "expected a family and a seed, as shop/7, got '/7'"),
        (["show", "shop/x"], "expected a whole number from 0 to 9223372036854775807, got 'x'"),
        (["serve", "shop/-1"], "got '-1'"),
        (["show", "shpo/1"], "there is no family of worlds 'shpo'; there are "),
        (["serve", "shpo/1"], "there is no family of worlds 'shpo'; there are "),
        (["show", "shop/1", "--to", "page.gif"], "pictures are written as .jpg, .jpeg, .png"),
        (["sheet", "--to", "no/such/folder.png"], "no file can be written there"),
        (["check", "--family", "shpo"], "there is no family of worlds 'shpo'; there are "),
        (
            ["sheet", "--to", "s.png", "--family", "x"],
            "there is no family of worlds 'x'; there are ",
        ),
        (["check", "--worlds", "0"], "expected a whole number from 1"),
        (["sheet", "--to", "s.png", "--count", "0"], "expected a whole number from 1"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code: int
    try:
        code = worlds(*argv)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else ExitCode.SHORT

    assert code == ExitCode.REFUSED
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert said in shown.err


def test_worlds_are_of_all_families_in_turn_or_of_one() -> None:
    count = len(FAMILIES) + 1
    every = worlds_in_turn(count, first_seed=4)

    assert every == [*((family, 4) for family in FAMILIES), (FAMILIES[0], 5)]
    assert worlds_in_turn(2, first_seed=4, family="shop") == [("shop", 4), ("shop", 5)]


def test_the_languages_of_worlds_are_listed_with_their_families(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert worlds("words", "--json") == ExitCode.DONE

    listed = {one["language"]: one for one in json.loads(capsys.readouterr().out)["languages"]}
    assert list(listed) == [one.value for one in Language if one is not Language.ENGLISH]
    assert {"banking", "mail"} <= set(listed["de"]["families"])
    assert listed["de"]["wrong"] == []


def test_what_a_translation_lacks_is_listed_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copytree(draw.FOLDER, tmp_path / "families")
    monkeypatch.setattr(draw, "FOLDER", tmp_path / "families")
    path = tmp_path / "families" / "de" / "mail.toml"
    path.write_text(path.read_text().replace("[views.labels]", "[views.tags]"))

    assert worlds("words", "--language", "de", "--family", "mail") == ExitCode.SHORT

    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split() == ["de", str(len([*catalogue(Language.ENGLISH)])), "1", "2"]
    assert shown[2:] == [
        "de/mail.toml: views.labels: is missing",
        "de/mail.toml: views.tags: the English file has no such key",
    ]


def test_words_of_a_family_that_there_is_not_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert worlds("words", "--family", "circus") == ExitCode.REFUSED
    assert "there is no family of worlds 'circus'" in capsys.readouterr().err


def test_worlds_of_one_language_are_taken_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    named = worlds_in_turn(5, first_seed=3, language=Language.GERMAN)
    assert {language_of(*one) for one in named} == {Language.GERMAN}
    assert len(set(named)) == 5
    assert min(seed for _, seed in named) >= 3

    monkeypatch.setattr(draw, "speaks", lambda *_: False)
    with pytest.raises(BadTasks, match=r"^there are no words of 'mail' in 'de'$"):
        worlds_in_turn(5, first_seed=3, family="mail", language=Language.GERMAN)
