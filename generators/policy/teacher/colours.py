"""Colours as numbers and names: what CSS says, which hex it is, which basic hue it belongs to."""

import colorsys
import re

from PIL import ImageColor

from generators.policy.teacher.page import Lost

Colour = tuple[int, int, int]
"""Red, green, blue, each from 0 to 255."""

_HUES = {"red": 0, "orange": 36, "yellow": 60, "green": 120, "blue": 220, "purple": 275}
"""Degrees of the hues that have names of their own."""

_GREY = 0.1
"""Saturation below which a colour has no hue."""


def parse(text: str) -> Colour:
    """Return the colour that CSS writes as `rgb(1, 2, 3)`, `#010203` or by name.

    Raises:
        Lost: it is no opaque colour.
    """
    computed = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", text)
    if computed is not None:
        return int(computed[1]), int(computed[2]), int(computed[3])
    refusal = Lost(f"'{text}' is no opaque colour I know")
    try:
        parts = ImageColor.getrgb(text)
    except ValueError:
        raise refusal from None
    match parts:
        case (red, green, blue):
            return red, green, blue
        case _:
            raise refusal


def hexadecimal(colour: Colour) -> str:
    """Return a colour as six hexadecimal digits."""
    return "".join(f"{part:02x}" for part in colour)


def hue_name(colour: Colour) -> str | None:
    """Return the basic hue a colour is a shade of; None for black, white and greys."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(part / 255 for part in colour))
    if saturation < _GREY or lightness in (0, 1):
        return None
    degrees = hue * 360
    return min(_HUES, key=lambda name: abs((degrees - _HUES[name] + 180) % 360 - 180))
