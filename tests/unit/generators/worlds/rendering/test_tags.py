"""Fields of several choices: what they hold, what forms make of them, and what is no such field."""

from random import Random

import pytest
from pydantic import ValidationError
from support.worlds.made_world import SHOP, shop_rows
from support.worlds.world_visits import visiting

from generators.tasks.worlds.ground.changes import can_put
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.world_rows import Setting
from generators.worlds.state.database import Rows
from schemas.worlds.field import DataField, Kind, Widget, tags_of
from schemas.worlds.world import World

MATERIAL = DataField(
    name="category",
    label="Made of",
    kind=Kind.TAGS,
    choices=("Oak", "Wool", "Brass", "Glass"),
    required=False,
    widget=Widget.TAGS,
)
"""It stands in the place of the products' category."""


def world() -> World:
    """Return the shop, whose products are made of several materials."""
    product, *others = SHOP.entities
    fields = [MATERIAL if one.name == MATERIAL.name else one for one in product.fields]
    tagged = product.model_copy(update={"fields": tuple(fields)})
    views = tuple(view.model_copy(update={"filters": ()}) for view in SHOP.views)
    return SHOP.model_copy(update={"entities": (tagged, *others), "views": views})


def rows() -> Rows:
    """Return the shop's rows; the first product is of two materials, and no other one of any."""
    held = shop_rows()
    for row in held["product"]:
        row["category"] = "Oak, Brass" if row["id"] == 1 else None
    return held


PRODUCT = {"name": "Lamp, small", "price": "$12.00", "stock": "5", "description": ""}


@pytest.mark.parametrize(
    ("sent", "held"),
    [
        ([], None),
        (["Brass"], "Brass"),
        (["Glass", "Oak", "Glass"], "Oak, Glass"),
        (["Wool, Oak"], "Oak, Wool"),
    ],
    ids=["none", "one", "in any order", "as one text"],
)
async def test_tags_are_kept_in_the_order_of_the_choices(sent: list[str], held: str | None) -> None:
    async with visiting(world=world(), rows=rows()) as hands:
        answer = await hands.http.post("/product/1/edit", data={**PRODUCT, "category": sent})

        assert answer.status_code == 303
        assert hands.row("product", 1)["category"] == held


async def test_what_is_no_tag_is_refused_and_changes_nothing() -> None:
    async with visiting(world=world(), rows=rows()) as hands:
        answer = await hands.http.post(
            "/product/1/edit", data={**PRODUCT, "category": ["Oak", "Snow"]}
        )

        assert (answer.status_code, "Choose one of the list." in answer.text) == (422, True)
        assert hands.row("product", 1)["category"] == "Oak, Brass"


async def test_pages_show_tags_one_by_one_and_read_as_one_text() -> None:
    async with visiting(world=world(), rows=rows()) as hands:
        page = await hands.see("/product/1")

    assert page.count('<span class="w-chip">') == 2
    assert '<span class="w-chip">Oak</span><span class="w-parting">, </span>' in page


def test_other_tags_are_one_more_or_one_fewer() -> None:
    setting = Setting(world(), rows())
    product, random = setting.world.entity("product"), Random("others")
    drawn = {
        str(new_value(setting, random, product, MATERIAL, unlike=("Oak, Brass",)))
        for _ in range(60)
    }

    assert drawn == {"Oak", "Brass", "Oak, Wool, Brass", "Oak, Brass, Glass"}
    assert all(can_put(setting, MATERIAL, value) for value in drawn)
    assert not can_put(setting, MATERIAL, "Oak, Snow")


def test_a_field_of_no_tags_holds_none() -> None:
    assert (tags_of(None), tags_of("Oak"), tags_of("Oak, Wool")) == ((), ("Oak",), ("Oak", "Wool"))


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ((), "a choice and tags have choices, and no other kind has"),
        (("Oak, old", "Wool"), "', ' parts tags, so none may hold it, got 'Oak, old'"),
    ],
    ids=["none", "what parts tags"],
)
def test_tags_without_choices_or_with_what_parts_them_are_refused(
    choices: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(ValidationError, match=reason):
        DataField(name="tags", label="Tags", kind=Kind.TAGS, choices=choices)
