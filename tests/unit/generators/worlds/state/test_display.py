"""Values of a world are written in one way."""

from datetime import UTC, date, datetime

import pytest

from generators.worlds.drawing.locales import LOCALES, locales_of
from generators.worlds.state.display import (
    read_amount,
    read_day,
    read_number,
    show,
    show_day,
    write_amount,
)
from generators.worlds.words.catalogue import has_catalogue
from schemas.worlds.field import DataField, Kind
from schemas.worlds.language import Language
from schemas.worlds.look import Amounts, Days, Layout, Listing, Look, Words
from schemas.worlds.world import Entity, View, World

WORLD = World(
    family="made",
    seed=0,
    title="Made",
    host="made.localhost",
    currency="€",
    at=datetime(2026, 3, 9, tzinfo=UTC),
    user="Mia Berg",
    entities=(
        Entity(
            name="thing",
            one="Thing",
            many="Things",
            rows=2,
            fields=(
                DataField(name="name", label="Name", kind=Kind.TEXT),
                DataField(name="price", label="Price", kind=Kind.MONEY),
                DataField(name="count", label="Count", kind=Kind.INTEGER),
                DataField(name="day", label="Day", kind=Kind.DATE),
                DataField(name="listed", label="Listed", kind=Kind.FLAG),
                DataField(name="other", label="Other", kind=Kind.LINK, target="thing"),
            ),
        ),
    ),
    views=(View(name="things", label="Things", entity="thing", columns=("name",)),),
    words=Words(yes="Aye", no="Nay", none="Nothing"),
    look=Look(
        kit="plain",
        layout=Layout.TOP,
        listing=Listing.TABLE,
        accent="#000000",
        surface="#ffffff",
        font="serif",
        radius=0,
    ),
)
TITLES = {"thing": {1: "Lamp", 2: "Mug"}}


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("name", "Lamp", "Lamp"),
        ("name", "", ""),
        ("price", 123_450, "€1,234.50"),
        ("price", 5, "€0.05"),
        ("price", -123_405, "-€1,234.05"),
        ("count", 1_234, "1234"),
        ("day", "2026-03-09", "2026-03-09"),
        ("listed", 1, "Aye"),
        ("listed", 0, "Nay"),
        ("other", 2, "Mug"),
        ("other", None, "Nothing"),
        ("price", None, "Nothing"),
    ],
)
def test_a_value_is_shown(field: str, value: str | int | None, shown: str) -> None:
    assert show(WORLD, "thing", field, value, TITLES) == shown


WRITTEN = sorted(
    {
        (language, days)
        for language in filter(has_catalogue, Language)
        for locale in locales_of(language)
        for days in LOCALES[locale].days
    }
)


@pytest.mark.parametrize(("language", "days"), WRITTEN)
def test_a_day_is_read_as_it_is_written(language: Language, days: Days) -> None:
    world = WORLD.model_copy(update={"language": language, "days": days})
    ninth = date(2026, 3, 9)

    written = show_day(world, ninth)

    assert written == days.value
    assert read_day(world, written) == read_day(world, "2026-03-09") == ninth
    each = [date(2026, month, 28) for month in range(1, 13)]
    assert [read_day(world, show_day(world, day)) for day in each] == each


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (Days.ISO, "09/03/2026"),
        (Days.SLASHES, "31/02/2026"),
        (Days.MONTH_FIRST, "13/01/2026"),
        (Days.ENGLISH, "9 Mai 2026"),
        (Days.GERMAN, "9. 2026"),
        (Days.DOTS, ""),
        (Days.DOTS, "09.03.26"),
    ],
)
def test_what_is_no_day_is_not_read(days: Days, text: str) -> None:
    assert read_day(WORLD.model_copy(update={"days": days}), text) is None


@pytest.mark.parametrize(
    ("amounts", "shown", "others"),
    [
        (Amounts.POINT, "€1,234.50", ["1234.5", "1,234.50", "€ 1234.50"]),
        (Amounts.COMMA, "1.234,50 €", ["1234,5", "1.234,50", "1234.50"]),
        (Amounts.COMMA_LAST, "€ 1.234,50", ["1234,5", "1.234,50", "1234.50", "€1.234,50"]),
        (Amounts.SPACE, "1 234,50 €", ["1234,50", "1 234,50 €", "1234.50"]),
    ],
)
def test_an_amount_is_read_as_it_is_written(
    amounts: Amounts, shown: str, others: list[str]
) -> None:
    world = WORLD.model_copy(update={"amounts": amounts})

    assert show(world, "thing", "price", 123_450, TITLES) == shown
    assert {read_amount(world, text) for text in (shown, *others)} == {123_450}
    assert read_amount(world, f"-{others[0]}") == -123_450
    held = [write_amount(world, value) for value in (123_450, -5, 0)]
    assert [read_amount(world, text) for text in held] == [123_450, -5, 0]
    assert held[1] == f"-0{',' if ',5' in shown else '.'}05"
    assert [read_amount(world, text) for text in ("", "x", "1,2,3", "12.345,6.7", "€")] == [
        None
    ] * 5


def test_an_amount_without_hundredths_is_written_so() -> None:
    world = WORLD.model_copy(update={"amounts": Amounts.WHOLE, "currency": "¥"})

    assert show(world, "thing", "price", 123_400, TITLES) == "¥1,234"
    assert write_amount(world, 123_400) == "1234"
    assert read_amount(world, "¥1,234") == read_amount(world, "1234") == 123_400


@pytest.mark.parametrize(("entity", "field"), [("thing", "colour"), ("person", "name")])
def test_what_is_not_there_is_shown_by_nobody(entity: str, field: str) -> None:
    with pytest.raises(KeyError):
        show(WORLD, entity, field, 1, TITLES)


def test_a_link_to_no_row_is_shown_by_nobody() -> None:
    with pytest.raises(KeyError, match="3"):
        show(WORLD, "thing", "other", 3, TITLES)


@pytest.mark.parametrize("field", ["price", "other"])
def test_a_text_is_no_amount_and_no_row(field: str) -> None:
    with pytest.raises(TypeError, match=f"'thing.{field}' holds a whole number, got 'x'"):
        show(WORLD, "thing", field, "x", TITLES)


@pytest.mark.parametrize(
    ("amounts", "text", "number"),
    [
        (Amounts.POINT, "1,234", 1_234),
        (Amounts.POINT, "1.234", None),
        (Amounts.COMMA, "1.234", 1_234),
        (Amounts.COMMA, "1,234", None),
        (Amounts.SPACE, "-1 234", -1_234),
        (Amounts.COMMA, "12", 12),
        (Amounts.COMMA, "1.23", None),
        (Amounts.COMMA, "١٢", None),
        (Amounts.COMMA, "", None),
    ],
)
def test_a_whole_number_is_read_with_the_worlds_separator(
    amounts: Amounts, text: str, number: int | None
) -> None:
    assert read_number(WORLD.model_copy(update={"amounts": amounts}), text) == number
