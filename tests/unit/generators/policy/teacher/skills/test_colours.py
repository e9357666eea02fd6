import pytest

from generators.policy.teacher.page import SkillError
from generators.policy.teacher.skills.colours import Colour, hue_name, parse_colour, to_hex


@pytest.mark.parametrize("text", ["rgb(255, 0, 0)", "#ff0000", "red", "#F00"])
def test_a_colour_is_read_in_every_way_css_writes_it(text: str) -> None:
    assert parse_colour(text) == (255, 0, 0)


@pytest.mark.parametrize("text", ["reddish", "rgba(0, 0, 0, 0)", ""])
def test_what_is_no_opaque_colour_is_said_not_guessed(text: str) -> None:
    with pytest.raises(SkillError, match="is not an opaque colour that I know"):
        parse_colour(text)


def test_a_colour_in_hexadecimal_reads_back() -> None:
    assert to_hex((0, 171, 9)) == "00ab09"
    assert parse_colour("#00ab09") == (0, 171, 9)


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((250, 204, 204), "red"),
        ((255, 0, 40), "red"),
        ((178, 107, 0), "orange"),
        ((255, 255, 102), "yellow"),
        ((0, 55, 0), "green"),
        ((0, 102, 204), "blue"),
        ((61, 20, 102), "purple"),
    ],
)
def test_a_shade_belongs_to_the_nearest_hue(colour: Colour, name: str) -> None:
    assert hue_name(colour) == name


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (120, 122, 121)])
def test_greys_have_no_hue(colour: Colour) -> None:
    assert hue_name(colour) is None
