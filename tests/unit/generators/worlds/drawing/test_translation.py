"""A family has words in a language once its translation is whole; what it lacks is named by its place."""

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from generators.worlds.checking.crawl import Trial
from generators.worlds.drawing.draw import (
    FAMILIES,
    FOLDER,
    draw,
    draw_valid,
    language_of,
    read_family,
    read_translation,
    shipped_family,
    words_path,
)
from generators.worlds.drawing.locales import LOCALES, draw_language, locales_of
from schemas.errors import BadTasks
from schemas.worlds.field import Kind, Widget
from schemas.worlds.language import Language

FAMILY = """
title = "{Oak|Elm|Ash} Garage"
roles = { user = "Mechanic", leader = "Head" }

[entities.car]
one = "Car | Vehicle"
many = "Cars | Vehicles"
rows = [20, 30]
[entities.car.sections]
more = "More"
[entities.car.fields]
plate = { label = "Plate", content = "{KX|LM}-{number}" }
note = { label = "Note", kind = "long_text", content = "{Was|Is} fine {number}.", section = "more" }
state = { label = "State", kind = "choice", choices = ["Waiting | Idle", "In work", "Done"] }
seen = { label = "Seen on", kind = "date", max = 9 }

[workflows.car]
field = "state"
[workflows.car.transitions]
begin = { label = "Begin", before = ["Waiting"], after = "In work" }
finish = { label = "Finish", before = ["In work"], after = "Done" }

[views.cars]
label = "{many}"
entity = "car"
"""

WORDS = """
title = "{Eichen|Ulmen|Eschen}garage"
roles = { user = "Werkstatt", leader = "Leitung" }

[entities.car]
one = "Auto | Fahrzeug | Wagen"
many = "Autos | Fahrzeuge | Wagen"
[entities.car.sections]
more = "Mehr"
[entities.car.fields]
plate = { label = "Kennzeichen" }
note = { label = "Notiz", content = "{War|Ist} in Ordnung {number}." }
state = { label = "Stand", choices = ["Wartet | Steht", "In Arbeit", "Fertig"] }
seen = { label = "Gesehen am" }

[workflows.car.transitions]
begin = { label = "Anfangen" }
finish = { label = "Fertigstellen" }

[views.cars]
label = "Alle {many}"
"""


def _translate(tmp_path: Path, words: str) -> str:
    """Return why a translation of the family is refused; empty: it is not."""
    path = tmp_path / "de" / "garage.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(words)
    (tmp_path / "garage.toml").write_text(FAMILY)
    family = read_family(tmp_path / "garage.toml")
    try:
        read_translation(family, path, Language.GERMAN)
    except BadTasks as error:
        return str(error)
    return ""


async def test_a_translated_family_has_worlds_in_its_language(tmp_path: Path) -> None:
    assert _translate(tmp_path, WORDS) == ""
    family = read_family(tmp_path / "garage.toml")
    spoken = read_translation(family, tmp_path / "de" / "garage.toml", Language.GERMAN)

    for seed in range(6):
        world, rows, _ = draw_valid(spoken, "garage", seed)
        assert (world.language, world.locale) == (Language.GERMAN, "de_DE")
        car, flow = world.entity("car"), world.workflow("car")
        states = car.field("state").choices
        assert flow is not None
        assert {step.after for step in flow.transitions} == {*states[1:]}
        assert flow.transitions[0].before == states[:1]
        assert (states[0] in {"Wartet", "Steht"}, states[1:]) == (True, ("In Arbeit", "Fertig"))
        assert all("in Ordnung" in str(row["note"]) for row in rows["car"])
        assert all(re.match(r"(KX|LM)-\d", str(row["plate"])) for row in rows["car"])
        trial = Trial(world, rows)
        crawl = await trial.crawl()
        assert [one async for one in trial.gates(crawl)] == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('plate = { label = "Kennzeichen" }\n', "", "entities.car.fields.plate: is missing"),
        (
            "seen = {",
            'owner = { label = "Halter" }\nseen = {',
            "entities.car.fields.owner: the English file has no such key",
        ),
        ("[views.cars]", "[views.vans]", "views.cars: is missing"),
        ("finish = {", "end = {", "workflows.car.transitions.finish: is missing"),
        ("more = ", "less = ", "entities.car.sections.more: is missing"),
        (', "Fertig"]', "]", "entities.car.fields.state.choices: 2, in English 3"),
        (
            ', content = "{War|Ist} in Ordnung {number}."',
            "",
            "entities.car.fields.note.content: is missing; in English '{Was|Is} fine {number}.'",
        ),
        (
            'seen = { label = "Gesehen am" }',
            'seen = { label = "Gesehen am", content = "after note" }',
            "entities.car.fields.seen.content: the English file has no recipe of words here",
        ),
        (
            'label = "Stand", choices',
            'label = "Stand", min = 3, choices',
            "entities.car.fields.state.min",
        ),
        ("{War|Ist}", "{War|Ist", "field 'car.note': a brace lacks its other"),
        ("{number}.", "{nummer}.", "field 'car.note': no source 'nummer'"),
        ("Autos | Fahrzeuge | Wagen", "Autos", "entities.car.many: 1 words for several, 3 for one"),
        ('begin = { label = "Anfangen"', 'begin = { label = "Bearbeiten"', "workflows.car.begin"),
        ("{Eichen|Ulmen", "{Eichen|", "title: an empty alternative"),
        ('roles = { user = "Werkstatt", leader = "Leitung" }', "", "roles"),
        ("[views.cars]", "[words]\nsave = 3\n[views.cars]", "words.save"),
        ("[views.cars]", '[words]\nnone = ""\n[views.cars]', "words.none"),
        ("[views.cars]", '[words]\nadd = "Neu"\n[views.cars]', "words.add: 'Neu' lacks {one}"),
        ("[views.cars]", "[views.cars", "invalid TOML"),
    ],
)
def test_a_translation_that_is_not_whole_is_refused_by_its_place(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in WORDS
    said = _translate(tmp_path, WORDS.replace(old, new, 1))
    assert said.startswith(f"de/garage.toml: {reason}"), said


TRANSLATED = [
    (family, language)
    for family in FAMILIES
    for language in Language
    if language is not Language.ENGLISH and words_path(family, language).is_file()
]


@pytest.mark.parametrize(("family", "language"), TRANSLATED)
def test_every_translation_that_ships_is_whole_and_draws_worlds(
    family: str, language: Language
) -> None:
    spoken = shipped_family(family, language)

    worlds = [draw_valid(spoken, family, seed).world for seed in range(2)]
    assert {one.language for one in worlds} == {language}
    assert {one.locale for one in worlds} <= {*locales_of(language)}


def test_files_of_words_are_those_of_families_and_languages() -> None:
    for folder in (path for path in FOLDER.iterdir() if path.is_dir()):
        assert Language(folder.name) is not Language.ENGLISH
        assert {path.stem for path in folder.glob("*")} <= set(FAMILIES)


def test_half_of_the_worlds_are_in_english_and_the_others_share_the_rest() -> None:
    drawn = Counter(draw_language(Random(seed)) for seed in range(6_000))

    assert 2_800 < drawn.pop(Language.ENGLISH) < 3_200
    assert len(drawn) == len(Language) - 1
    assert min(drawn.values()) > 420
    assert max(drawn.values()) < 580


def test_every_language_has_a_locale_and_every_locale_a_language() -> None:
    assert sorted(name for one in Language for name in locales_of(one)) == sorted(LOCALES)
    assert all(locales_of(one) for one in Language)


def test_a_world_has_one_language_for_its_locale_its_dates_and_its_words() -> None:
    seeds = [seed for seed in range(80) if language_of("mail", seed) is Language.GERMAN][:4]
    assert len(seeds) == 4
    for seed in seeds:
        world = draw("mail", seed).world
        assert (world.language, world.locale) == (Language.GERMAN, "de_DE")
        days = [
            field.asked_with
            for entity in world.entities
            for field in entity.fields
            if field.kind is Kind.DATE
        ]
        assert Widget.DATE not in days  # its parts are named in the browser's own language
