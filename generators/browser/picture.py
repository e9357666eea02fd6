"""The properties of an encoded picture: its size, its format and a hash that similar pictures share.

The recorder hashes each screenshot once, and the `structure` verifier repeats the hash. Both decode through
`read_picture`, in grey and at an eighth of the size where the format allows it: the decoder reads every
byte of the stream in any case, so a truncated picture is found without full decoding.
"""

import io
import itertools
from typing import NamedTuple

from PIL import Image

HASH_ROWS = 16
"""Rows of a difference hash, and its bits in a row; episodes of earlier versions have 8."""

_DECODED = (72, 64)


class PictureFacts(NamedTuple):
    """The properties of a decoded picture."""

    width: int
    """Width in its own pixels."""
    height: int
    """Height in its own pixels."""
    format: str | None
    """`JPEG` or another of Pillow's names; None if the decoder names none."""
    difference_hash: str
    """256 bits, hex; near pictures have near hashes."""


def read_picture(picture: bytes, *, rows: int = HASH_ROWS) -> PictureFacts:
    """Decode an encoded picture once and return its facts.

    Each bit of the hash says whether a pixel of the picture, reduced to 17×16 pixels in grey, is darker
    than its right neighbour (dHash, N. Krawetz, "Kind of Like That", 2013); `rows` are those of the hash.

    Raises:
        UnidentifiedImageError: it is no picture.
        OSError: it is torn.
        SyntaxError, ValueError: it is damaged.
        DecompressionBombError: it claims to be larger than any screenshot.
    """
    with Image.open(io.BytesIO(picture)) as image:
        (width, height), format_ = image.size, image.format
        image.draft("L", _DECODED)
        small = image.convert("L").resize((rows + 1, rows), Image.Resampling.BILINEAR)
    grey = small.tobytes()
    bits = 0
    for start in range(0, len(grey), rows + 1):
        for left, right in itertools.pairwise(grey[start : start + rows + 1]):
            bits = bits << 1 | (left < right)
    return PictureFacts(width, height, format_, f"{bits:0{rows * rows // 4}x}")


def hash_rows(difference_hash: str) -> int:
    """Return the rows of a stored difference hash: 8 in episodes of earlier versions."""
    return 8 if len(difference_hash) == 8 * 8 // 4 else HASH_ROWS
