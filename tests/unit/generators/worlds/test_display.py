"""Values of a world are written in one way."""

from datetime import UTC, datetime

import pytest

from generators.worlds.display import show
from schemas.world import DataField, Entity, Kind, Layout, Listing, Look, View, Words, World

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
