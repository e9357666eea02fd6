"""How a point of a picture is written in each of the four conventions.

The formulas are repeated here, apart from the code that reads points, so that the two can disagree: a
check of conventions that shared its formulas with the code under check would find nothing.
"""

import math
from dataclasses import dataclass

from generators.engine.simulator.options import Coordinates

FACTOR = 28
MIN_PIXELS = 56 * 56
MAX_PIXELS = 1_280 * 28 * 28


@dataclass(frozen=True)
class ImagePoint:
    """A point as a reply writes it."""

    x: float
    y: float


def smart_resize(width: int, height: int) -> tuple[int, int]:
    """Return the size to which a Qwen2-VL image processor brings a picture.

    Both sides become multiples of 28 and the area stays between 56² and 1280·28² pixels, by the
    rule of `smart_resize` in transformers' `image_processing_qwen2_vl`: round each side to the
    grid; if that is too large, divide the original sides by sqrt(area / largest) and round down;
    if too small, multiply them by sqrt(smallest / area) and round up.
    """
    wide, high = (max(FACTOR, round(side / FACTOR) * FACTOR) for side in (width, height))
    area = width * height
    if wide * high > MAX_PIXELS:
        beta = math.sqrt(area / MAX_PIXELS)
        wide, high = (
            max(FACTOR, math.floor(side / beta / FACTOR) * FACTOR) for side in (width, height)
        )
    elif wide * high < MIN_PIXELS:
        beta = math.sqrt(MIN_PIXELS / area)
        wide, high = (math.ceil(side * beta / FACTOR) * FACTOR for side in (width, height))
    return wide, high


def image_point(
    coordinates: Coordinates, size: tuple[int, int], *, across: float, down: float
) -> ImagePoint:
    """Return how the point at the fractions `across` and `down` of a picture is written.

    Fractions from 0 to 1 give a point of the picture, larger ones a point beyond it.
    """
    match coordinates:
        case Coordinates.PX:
            return _pixels(size, across, down)
        case Coordinates.RESIZED:
            return _pixels(smart_resize(*size), across, down)
        case Coordinates.THOUSAND:
            return ImagePoint(round(across * 1_000), round(down * 1_000))
        case Coordinates.UNIT:
            return ImagePoint(round(across, 4), round(down, 4))


def _pixels(size: tuple[int, int], across: float, down: float) -> ImagePoint:
    return ImagePoint(_pixel(across, size[0]), _pixel(down, size[1]))


def _pixel(part: float, length: int) -> int:
    """Return the nearest pixel; the far edge itself belongs to the last one."""
    pixel = round(part * length)
    return min(pixel, length - 1) if part <= 1 else pixel
