"""What an encoded picture says of itself: its size, its format and a hash that near pictures share.

The recorder hashes each screenshot once, and the `structure` verifier takes the hash again. Both decode
through `read_picture`, in grey and at an eighth where the format allows it: the decoder reads every byte
of the stream in any case, so a torn picture is found without decoding it in full.
"""

import io
import itertools
from typing import NamedTuple

from PIL import Image

_HASH_WIDTH, _HASH_HEIGHT = 9, 8


class PictureFacts(NamedTuple):
    """What a decoded picture is."""

    width: int
    """In its own pixels."""
    height: int
    """In its own pixels."""
    format: str | None
    """`JPEG` or another of Pillow's names; None if the decoder names none."""
    difference_hash: str
    """64 bits, hex; near pictures have near hashes."""


def read_picture(picture: bytes) -> PictureFacts:
    """Decode an encoded picture once and return its facts.

    Each bit of the hash says whether a pixel of the picture, reduced to 9×8 pixels in grey, is darker
    than its right neighbour (dHash, N. Krawetz, "Kind of Like That", 2013).

    Raises:
        UnidentifiedImageError: it is no picture.
        OSError: it is torn.
        SyntaxError, ValueError: it is damaged.
        DecompressionBombError: it claims to be larger than any screenshot.
    """
    with Image.open(io.BytesIO(picture)) as image:
        (width, height), format_ = image.size, image.format
        image.draft("L", (_HASH_WIDTH * 8, _HASH_HEIGHT * 8))
        small = image.convert("L").resize((_HASH_WIDTH, _HASH_HEIGHT), Image.Resampling.BILINEAR)
    grey = small.tobytes()
    bits = 0
    for y in range(_HASH_HEIGHT):
        row = grey[y * _HASH_WIDTH : (y + 1) * _HASH_WIDTH]
        for left, right in itertools.pairwise(row):
            bits = bits << 1 | (left < right)
    return PictureFacts(width, height, format_, f"{bits:016x}")
