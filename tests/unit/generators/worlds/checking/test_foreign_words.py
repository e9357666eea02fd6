"""On a world's pages is no word that is not of its language: not by itself, in a name, in a field, nor in an answer."""

import pytest
from support.worlds import drawn
from support.worlds.made_world import SHOP, shop_rows
from support.worlds.world_visits import visiting

from generators.worlds.checking.crawl import Trial, WorldGate
from generators.worlds.checking.foreign_words import Explained
from generators.worlds.drawing.draw import FAMILIES, language_of, speaks
from generators.worlds.rendering.script_words import script_words
from generators.worlds.serving.faults import OtherChange, Trouble
from schemas.worlds.fault import Fault
from schemas.worlds.language import Language
from schemas.worlds.look import Days
from schemas.worlds.world import World

OTHERS = [language for language in Language if language is not Language.ENGLISH]
SPOKEN = [
    pytest.param(
        family,
        language,
        id=f"{family}-{language.value}",
        # one family of each language always, the others in the full tests
        marks=() if place % len(OTHERS) == number and place < len(OTHERS) else pytest.mark.full,
    )
    for place, family in enumerate(FAMILIES)
    for number, language in enumerate(OTHERS)
    if speaks(family, language)
]


def _world(family: str, language: Language) -> World:
    seed = next(seed for seed in range(200) if language_of(family, seed) is language)
    return drawn.world(family, seed)


GERMAN = _world("mail", Language.GERMAN)


@pytest.mark.parametrize(("family", "language"), SPOKEN)
async def test_no_page_of_a_translated_world_has_a_word_of_another_language(
    family: str, language: Language
) -> None:
    world = _world(family, language)
    trial = Trial(world, drawn.rows_of(world))
    crawl = await trial.crawl()

    assert len(crawl.pages) > 30
    assert len(crawl.answers) > 30
    assert [one async for one in trial.gates(crawl)] == []


@pytest.mark.parametrize(
    ("page", "word"),
    [
        ("<p>Nothing was found.</p>", "nothing"),
        ("<p>Wird geladen … and more</p>", "and"),
        ('<button aria-label="Next month">+</button>', "next"),
        ('<input placeholder="Search" value="x">', "search"),
        ('<span data-tip="A whole number">?</span>', "whole"),
        ('<select data-remove="Without {tag}"></select>', "without"),
        ("<option>Choose one</option>", "choose"),
    ],
)
def test_a_word_of_another_language_is_found(page: str, word: str) -> None:
    found = [*Explained(GERMAN, drawn.rows_of(GERMAN)).foreign({"/": page})]
    assert [(at, one) for at, _, one in found] == [("/", word)]


def test_numbers_signs_and_what_scripts_and_styles_say_are_no_words() -> None:
    page = "<p>12 → ✓</p><script>let next;</script><style>.next {}</style>"
    assert [*Explained(GERMAN, drawn.rows_of(GERMAN)).foreign({"/": page})] == []


async def test_pages_whose_words_are_of_another_language_than_the_world_are_found() -> None:
    trial = Trial(SHOP.model_copy(update={"language": Language.GERMAN}), shop_rows())
    crawl = await trial.crawl()

    found = [*Explained(SHOP, shop_rows()).foreign({**crawl.pages, **crawl.answers})]
    assert len(found) > 20
    assert [text for _, text, _ in found if "Bitte" in text]


@pytest.mark.parametrize(
    "fault", [Fault.SAVE_FAILS, Fault.STALE_ROW, Fault.SESSION_ENDS, Fault.PAGE_FAILS, Fault.DIALOG]
)
async def test_what_goes_wrong_is_said_in_the_worlds_language(fault: Fault) -> None:
    world = SHOP.model_copy(update={"language": Language.GERMAN})
    other = OtherChange("product", 1, "stock", 77) if fault is Fault.STALE_ROW else None
    async with visiting(world=world, trouble=Trouble(fault, other)) as hands:
        first = await hands.http.get("/products")
        form = (await hands.names("/product/1/edit")).fields
        sent = await hands.http.post("/product/1/edit", data=form)
        after = await hands.http.get("/product/1/edit")
        gone = await hands.http.get("/nowhere")
    pages = {str(at): one.text for at, one in enumerate((first, sent, after, gone))}

    assert [*Explained(world, shop_rows()).foreign(pages)] == []
    assert "404 Nicht gefunden" in gone.text
    said = {
        Fault.SAVE_FAILS: "(Fehler 503)",
        Fault.STALE_ROW: "(Fehler 409)",
        Fault.SESSION_ENDS: "Ihre Sitzung ist abgelaufen.",
        Fault.PAGE_FAILS: "503 Dienst nicht verfügbar",
        Fault.DIALOG: "<dialog data-now>",
    }
    assert said[fault] in "".join(pages.values())


def test_scripts_have_their_words_from_the_catalogue() -> None:
    assert '"dates.next_month":"Nächster Monat"' in script_words(Language.GERMAN)
    assert '"dates.weekdays_tiny":["Su","Mo",' in script_words(Language.ENGLISH)


async def test_the_gate_names_the_page_the_text_and_the_word() -> None:
    world = GERMAN.model_copy(update={"words": GERMAN.words.model_copy(update={"home": "Heim"})})
    trial = Trial(world, drawn.rows_of(world))
    crawl = await trial.crawl()
    crawl.pages["/"] = crawl.pages["/"].replace("</main>", "<p>Please wait</p></main>")

    broken = [one async for one in trial.gates(crawl) if one.gate is WorldGate.LANGUAGE]
    assert [one.because for one in broken] == [
        "/: 'please' of 'Please wait' is no word of its language"
    ]


def test_the_signs_of_days_are_words_of_a_language_that_writes_days_with_them() -> None:
    japanese = SHOP.model_copy(update={"days": Days.JAPANESE})
    page = {"/": "<p>2031年7月1日</p>"}

    assert [*Explained(japanese, shop_rows()).foreign(page)] == []
    assert [*Explained(SHOP, shop_rows()).foreign(page)]
