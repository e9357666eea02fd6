"""The looks of worlds: pages name the same in every kit and layout, and load the stylesheets and fonts of their world."""

import re
from pathlib import Path
from random import Random

import pytest
from support.worlds.made_world import SHOP
from support.worlds.world_visits import Names, visiting

from generators.worlds import rendering
from generators.worlds.drawing.look import FONTS, draw_font, faces, further_fonts
from generators.worlds.kits.kit import KITS, kit_packages, kit_styles
from generators.worlds.rendering.pages import Pages
from schemas.errors import BadTasks, Refusal
from schemas.worlds.language import Language
from schemas.worlds.look import Layout
from schemas.worlds.world import World

_PATHS = ("/", "/products?category=Kitchen", "/purchase/1", "/purchase/new", "/customer/1/delete")


def in_look(**changed: object) -> World:
    look = SHOP.look.model_copy(update=changed)
    return SHOP.model_copy(update={"look": look, "packages": kit_packages(look.kit)})


async def words_of(
    world: World,
) -> list[tuple[dict[str, str], list[str], dict[str, str], list[str]]]:
    """Return what pages of a world name: links, buttons, labels and options."""
    async with visiting(world=world) as hands:
        pages = [Names(await hands.see(path)) for path in _PATHS]
    return [(page.links, page.buttons, page.labels, page.options) for page in pages]


@pytest.mark.parametrize("kit", KITS)
async def test_a_page_names_the_same_things_in_every_kit(kit: str) -> None:
    assert await words_of(in_look(kit=kit)) == await words_of(SHOP)


@pytest.mark.parametrize("layout", Layout)
async def test_a_page_names_the_same_things_in_every_layout(layout: Layout) -> None:
    assert await words_of(in_look(layout=layout)) == await words_of(SHOP)


@pytest.mark.parametrize("kit", KITS)
async def test_a_page_loads_the_stylesheets_of_its_kit_before_its_own(kit: str) -> None:
    async with visiting(world=in_look(kit=kit)) as hands:
        page = await hands.see("/")
        loaded = [await hands.see(address) for address in kit_styles(kit)]

    assert re.findall(r'rel="stylesheet" href="([^"]*)"', page)[: len(loaded) + 1] == [
        *kit_styles(kit),
        "/_/style.css",
    ]
    assert all(loaded)


def test_a_message_is_shown_beside_its_field_in_every_kit() -> None:
    entity = SHOP.entity("customer")
    for kit in KITS:
        page = Pages(in_look(kit=kit)).form(
            entity, None, texts={}, choices={}, messages={"name": "is needed"}
        )
        assert 'id="m-name">is needed<' in page, kit


def test_a_kit_that_is_not_there_is_refused() -> None:
    look = SHOP.look.model_copy(update={"kit": "none"})
    with pytest.raises(Refusal, match="there is no kit 'none'; there are bootstrap, bulma"):
        Pages(SHOP.model_copy(update={"look": look}))


@pytest.mark.parametrize("language", Language)
def test_fonts_go_by_the_language_and_are_never_those_of_the_machine(language: Language) -> None:
    further = language in (Language.JAPANESE, Language.ARABIC)
    family, packages = draw_font(language, Random(1))
    fonts = [face for face in faces(packages) if face.signs is None]

    names = family.split(", ")
    assert len(packages) == 1 + further
    assert [face.family for face in fonts[::2]] == names[:-1]
    assert names[0] in FONTS
    assert {face.weight for face in fonts} == {"400", "700"}


@pytest.mark.parametrize(
    ("of", "because"),
    [({}, "$"), ({Language.JAPANESE: ("noto-none",)}, ": the lock has no @fontsource/noto-none$")],
    ids=["no language", "no package"],
)
def test_a_language_without_a_locked_font_is_refused(
    of: dict[Language, tuple[str, ...]], because: str
) -> None:
    with pytest.raises(BadTasks, match=f"^there is no font for pages in 'ja'{because}"):
        further_fonts(Language.JAPANESE, of)


def test_the_stylesheet_names_the_fonts_of_its_world() -> None:
    world = SHOP.model_copy(update={"packages": draw_font(Language.ENGLISH, Random(1))[1]})

    signs = Pages(SHOP).style().count("@font-face")
    assert signs == len(faces(()))
    assert Pages(world).style().count("@font-face") == signs + 2


def test_no_class_that_a_widget_comes_to_have_is_one_of_the_frames() -> None:
    static = Path(rendering.__file__).parent / "static"
    scripts = "".join((static / name).read_text("utf-8") for name in ("widgets.js", "inputs.js"))
    given = {*re.findall(r'classList\.\w+\("([\w-]+)"', scripts)}
    styled = {*re.findall(r"\.([a-z][\w-]*)", (static / "world.css").read_text("utf-8"))}

    assert given
    assert not given & styled
