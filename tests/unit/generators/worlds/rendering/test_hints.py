"""What pages say beside what they are for: what a field takes, and the way to a row."""

import pytest
from support.worlds.drawn import specification
from support.worlds.made_world import SHOP
from support.worlds.world_visits import visiting

from generators.worlds.drawing.draw import FAMILIES
from generators.worlds.rendering.hints import tip_of
from schemas.worlds.behaviour import Behaviour, Place
from schemas.worlds.field import DataField, Kind, Widget

TOLD = SHOP.model_copy(update={"behaviour": Behaviour(tips=True, trail=True)})

TIPS = {
    "A whole number from 1 to 40.": DataField(
        name="a", label="A", kind=Kind.INTEGER, min=1, max=40
    ),
    "An amount from $1.00 to $9.50.": DataField(
        name="a", label="A", kind=Kind.MONEY, min=100, max=950
    ),
    "A date, as 2026-03-09.": DataField(name="a", label="A", kind=Kind.DATE),
    "More than one may be chosen.": DataField(name="a", label="A", kind=Kind.TAGS, choices=("B",)),
    "One of these, dragged into the box.": DataField(
        name="a", label="A", kind=Kind.CHOICE, choices=("B",), widget=Widget.DROP
    ),
    "": DataField(name="a", label="A", kind=Kind.TEXT),
}


@pytest.mark.parametrize(("tip", "field"), TIPS.items(), ids=lambda one: str(one)[:12])
def test_a_field_says_what_it_takes_where_pages_say_such_things(tip: str, field: DataField) -> None:
    assert tip_of(TOLD, field) == tip
    assert tip_of(SHOP, field) == ""


async def test_forms_and_rows_have_signs_and_ways_only_where_the_world_has() -> None:
    async with visiting(world=TOLD) as hands:
        form, row = await hands.see("/purchase/1/edit"), await hands.names("/purchase/1")
    async with visiting() as hands:
        bare, other = await hands.see("/purchase/1/edit"), await hands.see("/purchase/1")

    assert 'data-tip="A whole number from 1 to 40."' in form
    assert row.links["Orders"] == "/orders"
    assert ("w-tip" in bare, "breadcrumbs" in other) == (False, False)


def test_some_worlds_say_so_and_no_panel_shows_a_way() -> None:
    drawn = [specification(family, seed).behaviour for family in FAMILIES for seed in range(4)]

    assert {one.tips for one in drawn} == {one.trail for one in drawn} == {True, False}
    assert not any(one.trail and one.rows is Place.PANEL for one in drawn)
