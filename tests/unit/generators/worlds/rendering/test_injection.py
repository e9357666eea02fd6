"""Text is shown as text: a specification and rows that hold markup put none into any page."""

import pytest
from support.worlds.made_world import SHOP, shop_rows

from generators.worlds.checking.crawl import Trial
from generators.worlds.checking.html_reader import PageReader
from schemas.worlds.look import Look, Words

MARKUP = "<script>x()</script><b a='1'>\""


async def test_markup_in_every_text_of_a_world_is_shown_as_text() -> None:
    entities = tuple(
        entity.model_copy(
            update={
                "one": f"{entity.one}{MARKUP}",
                "many": f"{entity.many}{MARKUP}",
                "fields": tuple(
                    field.model_copy(update={"label": f"{field.label}{MARKUP}"})
                    for field in entity.fields
                ),
            }
        )
        for entity in SHOP.entities
    )
    world = SHOP.model_copy(
        update={
            "title": MARKUP,
            "user": MARKUP,
            "entities": entities,
            "words": Words(**{name: f"{said}{MARKUP}" for name, said in Words()}),
            "views": tuple(
                view.model_copy(update={"label": f"{view.label}{MARKUP}"}) for view in SHOP.views
            ),
        }
    )
    rows = shop_rows()
    for row in rows["product"]:
        row["name"], row["description"] = f"{row['id']}{MARKUP}", MARKUP

    crawl = await Trial(world, rows).crawl()

    assert crawl.broken == []
    assert len(crawl.pages) > 20
    for page, html in crawl.pages.items():
        assert "<script>x" not in html, page
        assert "<b a=" not in html, page
        assert any("<script>x()" in one.text for one in PageReader(html).chunks), page


@pytest.mark.parametrize("name", ["accent", "surface"])
def test_a_colour_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        Look(**{**SHOP.look.model_dump(), name: "red;}</style><script>x()"})
