"""Pictures are well-formed, of their words alone, and hold no letters that a machine's fonts would draw."""

from xml.etree import ElementTree as ET

import pytest

from generators.worlds.rendering.pictures import draw_row
from schemas.worlds.world import Picture

TITLES = (*(f"{what} desk" for what in "ABCDEFGH"), "Brass lamp", "Ada Lind", "<b>", "", "机, 小")


def _tags(svg: str) -> set[str]:
    """Return the tags of a picture.

    Raises:
        ET.ParseError: it is not well-formed.
    """
    return {each.tag.rpartition("}")[2] for each in ET.fromstring(svg).iter()}  # noqa: S314 - our own


@pytest.mark.parametrize("picture", Picture)
@pytest.mark.parametrize("title", TITLES)
def test_a_row_has_one_picture_without_letters(picture: Picture, title: str) -> None:
    svg = draw_row(picture, title)

    assert _tags(svg) <= {"svg", "rect", "path", "circle", "ellipse"}
    assert svg == draw_row(picture, title)
    assert "class" not in svg


@pytest.mark.parametrize("picture", Picture)
def test_other_titles_have_other_pictures(picture: Picture) -> None:
    assert len({draw_row(picture, title) for title in TITLES}) >= len(TITLES) - 1


def test_a_noun_has_its_shape_and_other_things_come_in_a_box() -> None:
    lamps = [draw_row(Picture.THING, f"{what} lamp, small") for what in ("Brass", "Oak")]
    box = draw_row(Picture.THING, "Brass gadget")

    assert [svg.count("M40 30h40") for svg in lamps] == [1, 1]
    assert box.count("M25 42") == 2
