"""The words of pages beside those of families are there in each language, and nothing else is."""

import re
from pathlib import Path

import pytest

import generators.worlds
from generators.worlds.words.catalogue import (
    LABELS,
    Catalogue,
    catalogue,
    differences,
    has_catalogue,
    read_catalogue,
)
from schemas.errors import Refusal
from schemas.worlds.language import Language
from schemas.worlds.look import Words

SOURCES = [
    path
    for path in sorted(Path(generators.worlds.__path__[0]).parent.rglob("*"))
    if path.suffix in {".py", ".html", ".js"}
]
"""What may say something by a key."""

ENGLISH = catalogue(Language.ENGLISH)
MODEL = Catalogue(
    Language.ENGLISH,
    {
        "words.add": "New {one}",
        "form.required": "{field} is needed.",
        "home.hello": ["Hello, {name}", "Hello"],
        "cart.called": [["Line", "Cart"], ["Item", "Bag"]],
        "rows.not_done": "It was not done (error {code}).",
        "rows.loading": "Loading…",
        "dates.placeholder": "YYYY-MM-DD",
    },
)


@pytest.mark.parametrize("language", [*filter(has_catalogue, Language)])
def test_every_language_says_what_english_says(language: Language) -> None:
    assert [*differences(ENGLISH, catalogue(language))] == []
    assert set(catalogue(language).labels()) == set(Words.model_fields)


def test_the_labels_of_the_english_file_are_those_of_worlds_without_a_family() -> None:
    assert ENGLISH.labels() == {name: (label,) for name, label in Words()}


def test_every_key_is_said_somewhere() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    said = {*re.findall(r"[\"'`]([a-z]+\.[a-z_]+)[\"'`]", text)}
    parts = {*re.findall(r"[\"'`]([a-z_]+)[\"'`]", text)}

    for key in ENGLISH:
        section, _, name = key.partition(".")
        assert section == LABELS or key in said or name in parts, key


def test_a_text_is_said_with_what_is_put_in() -> None:
    assert MODEL.say("form.required", field="Name") == "Name is needed."
    assert MODEL.among("home.hello") == ("Hello, {name}", "Hello")
    assert MODEL.groups("cart.called") == (("Line", "Cart"), ("Item", "Bag"))
    assert catalogue(Language.GERMAN).inside("Konten") == "Konten"
    assert ENGLISH.inside("Accounts") == "accounts"
    assert catalogue(Language.GERMAN).quote(["Ada", "Bo"]) == "„Ada“, „Bo“"


@pytest.mark.parametrize(
    ("ask", "key"), [("say", "home.hello"), ("among", "form.required"), ("groups", "home.hello")]
)
def test_what_a_key_does_not_say_is_refused(ask: str, key: str) -> None:
    with pytest.raises(TypeError, match=f"^'{key}' says"):
        getattr(MODEL, ask)(key)
    with pytest.raises(KeyError):
        getattr(MODEL, ask)("form.none")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"form.required": None}, "form.required: is missing"),
        ({"form.more": "Mehr"}, "form.more: there is no such key in English"),
        ({"form.required": "Nötig."}, "form.required: puts in [], English ['field']"),
        ({"form.required": ["{field}"]}, "form.required: expected one text"),
        ({"form.required": "{field"}, "form.required: puts in ['{'], English ['field']"),
        ({"home.hello": "Hallo"}, "home.hello: expected a list"),
        ({"home.hello": ["Hallo"]}, "home.hello: 1 entries, English has 2"),
        (
            {"home.hello": ["Hallo, {user}", "Hallo"]},
            "home.hello[0]: 'Hallo, {user}' puts in ['user'], English ['name']",
        ),
        ({"home.hello": ["Hallo", ["Hallo"]]}, "home.hello[1]: expected one text"),
        ({"cart.called": [["Zeile"], ["Posten", "Tasche"]]}, "cart.called[0]: 1 entries, English"),
        ({"words.add": "Neu | {one} anlegen"}, "words.add: 'Neu ' says [], English ['one']"),
        ({"rows.not_done": "Fehler {code}."}, "rows.not_done: expected '{code}' at the end of"),
        ({"rows.loading": "Wird geladen"}, "rows.loading: expected at most 29 letters and '…'"),
        ({"dates.placeholder": "TT.MM.JJJJ"}, "dates.placeholder: expected year, month and day"),
        ({"words.add": "{one} anlegen | "}, "words.add: ' ' says [], English ['one']"),
    ],
)
def test_a_file_that_says_something_else_than_the_english_one_is_found(
    change: dict[str, object], problem: str
) -> None:
    said = {key: MODEL[key] for key in MODEL} | change
    other = Catalogue(Language.GERMAN, {key: one for key, one in said.items() if one is not None})  # type: ignore[misc]

    found = [*differences(MODEL, other)]
    assert len([one for one in found if one.startswith(problem)]) == 1, found


def test_texts_of_which_all_put_something_in_keep_it() -> None:
    model = Catalogue(Language.ENGLISH, {"a.b": ["Ask {leader}", "Go to {leader}"]})
    other = Catalogue(Language.GERMAN, {"a.b": ["Fragen", "{leader}"]})

    assert [*differences(model, other)] == ["a.b[0]: 'Fragen' puts in [], English ['leader']"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = ", "invalid TOML"),
        ('a = "b"', "a: expected a section, got 'b'"),
        ("[a]\nb = 3", "a.b: expected texts, got 3"),
        ("[a]\nb = []", "a.b: expected texts"),
        ('[a]\nb = ["c", ""]', "a.b: expected texts"),
    ],
)
def test_a_file_that_holds_no_texts_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "de.toml"
    path.write_text(text)

    with pytest.raises(Refusal, match=rf"^de\.toml: {re.escape(reason)}"):
        read_catalogue(path, Language.GERMAN)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"^fr\.toml: cannot be read: No such file"):
        read_catalogue(tmp_path / "fr.toml", Language.FRENCH)


@pytest.mark.parametrize(
    ("add", "language", "label"),
    [
        ("Ajouter : {one}", Language.FRENCH, "Ajouter : bon de livraison"),
        ("+ {one}", Language.FRENCH, "+ Bon de livraison"),
        ("Neu: {one}", Language.GERMAN, "Neu: Bon de livraison"),
        ("New {one}", Language.ENGLISH, "New Bon de livraison"),
    ],
)
def test_a_noun_after_a_word_of_a_label_is_written_as_in_a_sentence(
    add: str, language: Language, label: str
) -> None:
    assert Words(add=add).add_one("Bon de livraison", language) == label


def test_only_french_has_a_space_before_a_colon() -> None:
    spaced = [language for language in Language if language.colon != ": "]

    assert spaced == [Language.FRENCH]
