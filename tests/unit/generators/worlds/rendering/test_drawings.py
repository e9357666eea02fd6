"""What is drawn around contents is well-formed, follows from the world alone, and says nothing of its rows."""

from xml.etree import ElementTree as ET

import pytest
from support.worlds.made_world import SHOP
from support.worlds.world_visits import visiting

from generators.worlds.rendering.drawings import Drawings
from generators.worlds.rendering.pages import Pages
from generators.worlds.words.catalogue import has_catalogue
from schemas.worlds.language import Language
from schemas.worlds.look import Block, Listing, Stage
from schemas.worlds.patterns import Shape
from schemas.worlds.world import World

SEEDS = range(12)


def looking(**changed: object) -> World:
    return SHOP.model_copy(update={"look": SHOP.look.model_copy(update=changed)})


def drawn(world: World) -> list[str]:
    look = world.look.model_copy(update={"pictures": True})
    draw = Drawings(world.model_copy(update={"look": look}))
    icons = [draw.icon(view) for view in world.views]
    return [
        *(draw.mark(), draw.mark("other"), draw.scene(), draw.band(), draw.chart()),
        *(draw.portrait("Ada"), draw.row(SHOP.entity("product"), "Lamp"), *icons),
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_drawings_are_well_formed_and_hold_no_letters(seed: int) -> None:
    for svg in drawn(SHOP.model_copy(update={"seed": seed})):
        root = ET.fromstring(svg)  # noqa: S314 - our own
        assert root.attrib["aria-hidden"] == "true"
        assert "".join(root.itertext()).strip() == ""


def test_a_world_has_drawings_of_its_own() -> None:
    worlds = [SHOP.model_copy(update={"seed": seed}) for seed in SEEDS]

    assert [drawn(one) for one in worlds] == [drawn(one) for one in worlds]
    assert len({Drawings(one).scene() for one in worlds}) == len(SEEDS)
    assert len({Drawings(one).mark() for one in worlds}) > 1


@pytest.mark.parametrize("shape", Shape)
def test_a_view_of_any_shape_has_an_icon(shape: Shape) -> None:
    assert "<path" in Drawings(SHOP).icon(SHOP.views[0].model_copy(update={"shape": shape}))


@pytest.mark.parametrize("stage", Stage)
def test_each_block_of_a_first_page_is_shown_once_however_they_lie(stage: Stage) -> None:
    def shown(*blocks: Block) -> str:
        return Pages(looking(home=blocks, stage=stage)).home()

    empty = len(shown())
    grown = [len(shown(block)) - empty for block in Block]

    assert min(grown) > 0
    assert len(shown(*Block)) >= empty + sum(grown) // 2
    assert shown(*Block).count("<h1") == 1


async def test_rows_show_their_pictures_where_the_look_says_so() -> None:
    for pictures in (True, False):
        for listing in (Listing.CARDS, Listing.ITEMS):
            async with visiting(world=looking(pictures=pictures, listing=listing)) as hands:
                pages = [await hands.see(path) for path in ("/products", "/product/1")]
            assert [("row-picture" in page) for page in pages] == [pictures] * 2


def test_pages_run_from_right_to_left_in_arabic_alone() -> None:
    assert [one for one in Language if one.runs_right_to_left] == [Language.ARABIC]
    for language in filter(has_catalogue, Language):
        home = Pages(SHOP.model_copy(update={"language": language})).home()
        assert f'<html lang="{language.value}"' in home
        assert (' dir="rtl"' in home) is (language is Language.ARABIC)
        style = Pages(SHOP.model_copy(update={"language": language})).style()
        assert ("body { text-align: right; }" in style) is (language is Language.ARABIC)
