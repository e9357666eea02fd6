"""A picture is decoded once, and its hash says which neighbours are darker."""

import io

import pytest
from PIL import Image, UnidentifiedImageError

from generators.browser.picture import HASH_ROWS, hash_rows, read_picture

SHADES = Image.linear_gradient("L").rotate(90).resize((90, 80))
"""Darker to the left, one shade after another."""


def encoded(image: Image.Image, form: str = "JPEG") -> bytes:
    out = io.BytesIO()
    image.save(out, form, quality=80)
    return out.getvalue()


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (SHADES, "f" * 64),
        (SHADES.rotate(180), "0" * 64),
        (Image.new("L", (90, 80), 128), "0" * 64),
    ],
    ids=["brighter to the right", "darker to the right", "flat"],
)
def test_each_bit_says_whether_the_right_neighbour_is_brighter(
    image: Image.Image, expected: str
) -> None:
    assert read_picture(encoded(image)).difference_hash == expected


def test_the_rows_of_the_hash_are_those_of_the_picture() -> None:
    image = Image.new("L", (90, 80), 128)
    image.paste(SHADES.resize((90, 40)), (0, 0))

    assert read_picture(encoded(image)).difference_hash[:24] == "f" * 24
    assert read_picture(encoded(image)).difference_hash[-24:] == "0" * 24


def test_a_hash_of_an_earlier_version_is_taken_as_it_was() -> None:
    assert hash_rows("0" * 16) == 8
    assert read_picture(encoded(SHADES), rows=8).difference_hash == "f" * 16
    assert hash_rows(read_picture(encoded(SHADES)).difference_hash) == HASH_ROWS


def test_size_and_format_are_those_of_the_whole_picture() -> None:
    large = Image.new("RGB", (1280, 720), (9, 99, 199))

    assert read_picture(encoded(large))[:3] == (1280, 720, "JPEG")
    assert read_picture(encoded(large, "PNG"))[:3] == (1280, 720, "PNG")


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
def test_a_torn_picture_is_an_error(keep: float) -> None:
    data = encoded(Image.effect_noise((400, 300), 90))

    with pytest.raises(OSError, match="truncated"):
        read_picture(data[: round(len(data) * keep)])


def test_what_is_no_picture_is_an_error() -> None:
    with pytest.raises(UnidentifiedImageError):
        read_picture(b"no picture")
