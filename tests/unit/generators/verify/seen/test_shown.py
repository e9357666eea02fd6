"""Where words, drawings and colours stand in what a policy was shown, to the pixel."""

import io
from collections.abc import Sequence

import pytest
from PIL import Image
from support.episodes.factories import make_step

from generators.verify.shown import Basis, Picture, Shown, Words
from schemas.episodes.action import Wait
from schemas.episodes.observation import Box, Screenshot, Sight

SIZE = (60, 40)
"""Of every picture here, picture px."""

Dot = tuple[int, int]


def picture(
    *dots: Dot, level: int = 0, scale: float = 1.0, mode: str = "RGB", sights: Sequence[Sight] = ()
) -> Picture:
    """Return a white picture with dots of a level of red, as PNG: exactly these pixels."""
    image = Image.new("RGB", SIZE, "white")
    for dot in dots:
        image.putpixel(dot, (level, 255, 255))
    return of(image.convert(mode), scale=scale, sights=sights)


def of(image: Image.Image, *, scale: float = 1.0, sights: Sequence[Sight] = ()) -> Picture:
    out = io.BytesIO()
    image.save(out, "PNG")
    shot = Screenshot(bytes=out.getvalue(), path="x.png")
    step = make_step(0, picture=0, action=Wait(ms=1))
    return Picture(
        step.model_copy(update={"screenshot": shot, "sights": tuple(sights)}), scale=scale
    )


INSIDE: Box = (10, 10, 10, 10)


@pytest.mark.parametrize(
    ("box", "dot", "shown"),
    [
        *((INSIDE, dot, True) for dot in ((8, 15), (15, 8), (21, 15), (15, 21))),
        *((INSIDE, dot, False) for dot in ((7, 15), (15, 7), (22, 15), (15, 22))),
        *(((0, 0, 5, 5), dot, True) for dot in ((0, 3), (3, 0))),
        *(((45, 25, 20, 20), dot, True) for dot in ((59, 30), (50, 39))),
        ((62, 10, 5, 5), (59, 12), False),
        ((10, 42, 5, 5), (12, 39), False),
        ((-9, 10, 5, 5), (0, 12), False),
    ],
)
def test_a_box_shows_what_is_drawn_in_it_and_its_rim(box: Box, dot: Dot, *, shown: bool) -> None:
    assert picture(dot).shows(box) is shown


@pytest.mark.parametrize(("dot", "shown"), [(6, True), (23, True), (5, False), (24, False)])
def test_a_box_is_as_large_in_the_picture_as_its_scale_makes_it(dot: int, *, shown: bool) -> None:
    assert picture((dot, 15), scale=2.0).shows((5, 5, 5, 5)) is shown


@pytest.mark.parametrize(("level", "shown"), [(239, True), (240, False)])
def test_what_hardly_stands_out_is_not_shown(level: int, *, shown: bool) -> None:
    assert picture((12, 12), level=level).shows(INSIDE) is shown


@pytest.mark.parametrize(
    ("box", "dot"),
    [
        ((10, 10, 7, 7), (13, 13)),
        ((10, 30, 7, 7), (13, 33)),
        ((-3, -3, 7, 7), (0, 0)),
        ((56, 36, 20, 20), (59, 39)),
    ],
)
def test_a_colour_is_that_within_the_rim(box: Box, dot: Dot) -> None:
    assert picture(dot).colour_in(box) == [0, 255, 255]


def test_a_colour_is_looked_for_where_the_scale_puts_it() -> None:
    assert picture((16, 16), scale=2.0).colour_in((5, 5, 6.5, 6.5)) == [0, 255, 255]


@pytest.mark.parametrize("box", [(10, 10, 6, 20), (10, 10, 20, 6), (70, 10, 20, 20)])
def test_a_box_that_is_all_rim_has_no_colour(box: Box) -> None:
    assert picture().colour_in(box) is None


def test_a_grey_picture_has_three_equal_channels() -> None:
    assert picture(mode="L").colour_in(INSIDE) == [255, 255, 255]


@pytest.mark.parametrize(
    ("x", "y", "there"),
    [
        *((8, 20, True), (7.9, 20, False), (32, 20, True), (32.1, 20, False)),
        *((20, 8, True), (20, 7.9, False), (20, 32, True), (20, 32.1, False)),
    ],
)
def test_a_text_is_where_its_middle_is(x: float, y: float, *, there: bool) -> None:
    box = (x - 3, y - 5, 6, 10)
    sights = (Sight(text="Go", bbox=box), Sight(text="", bbox=box))
    patterned = Image.effect_noise(SIZE, 100).convert("RGB")

    found = of(patterned, sights=sights).within((10, 10, 20, 20))

    assert found == ([sights[0]] if there else [])


FIRST, SECOND, THIRD = (0.0, 0.0, 9.0, 9.0), (10.0, 0.0, 9.0, 9.0), (20.0, 0.0, 9.0, 9.0)


@pytest.mark.parametrize(
    ("lines", "wanted", "box"),
    [
        (("go", "go", "go"), "go", FIRST),
        (("xgo", "go", "go"), "go", SECOND),
        (("ax", "x", "y"), "x", SECOND),
        (("a", "b", "c"), "b c", SECOND),
    ],
)
def test_words_stand_where_they_stand_first(lines: tuple[str, ...], wanted: str, box: Box) -> None:
    words = Words(3, list(zip(lines, (FIRST, SECOND, THIRD), strict=True)))

    assert words.find(wanted.split()) == Basis(3, box)


@pytest.mark.parametrize("lines", [("a", "b"), ("one", "two"), ()])
def test_no_words_stand_nowhere(lines: tuple[str, ...]) -> None:
    assert Words(None, [(line, None) for line in lines]).find([]) is None


def shown(*lines: str) -> Shown:
    return Shown(tuple(Words(None, [(line, None)]) for line in lines), ())


@pytest.mark.parametrize(
    ("text", "found"),
    [("→", True), (" → ", True), ("←", False), ("", False), ("  ", False)],
)
def test_signs_that_are_no_words_stand_as_they_are(text: str, *, found: bool) -> None:
    assert (shown("Press → to go", "or not").find(text) == Basis(None)) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one two three four five", True),
        ("zero one two three four five", False),
        ("one two three five", True),  # a last part may be shorter
        ("one two three zero four five", False),
        ("four five", True),
        ("two four", False),
        ("one two four", False),
    ],
)
def test_a_text_may_be_put_together_from_parts_of_three_words(text: str, *, found: bool) -> None:
    assert (shown("one two three", "four five").find(text) is not None) is found
