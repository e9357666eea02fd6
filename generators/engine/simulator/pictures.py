"""What the simulator sees of a picture: its size from the header, and drawn targets when asked.

It decodes a picture only where the user's text names a colour as `#rrggbb`, to find the centre of
the pixels of that colour. Everything else needs the header and a digest alone.
"""

import base64
import binascii
import hashlib
import io
import warnings
from array import array
from collections import OrderedDict
from dataclasses import dataclass

from PIL import Image, ImageChops, UnidentifiedImageError

from generators.engine.simulator.http_errors import HttpRefusal

HEADER_CHARS = 4 * 4_096
"""How much of a picture's base64 is decoded before the rest of it."""

TOLERANCES = (8, 24, 48)
"""How far each channel may lie from the colour asked for; the first that finds something counts."""

KEPT = 4_096
"""Sizes of pictures that are remembered."""


@dataclass(frozen=True)
class PromptImage:
    """A picture of a prompt."""

    url: str
    """The data URL, as it was sent."""
    digest: str
    """The digest of that URL."""
    width: int
    """Pixels."""
    height: int
    """Pixels."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, px."""
        return self.width, self.height


class ImageCache:
    """Remembers the sizes of the latest pictures."""

    def __init__(self) -> None:
        self._sizes: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self.queries = 0
        """Pictures looked up."""
        self.hits = 0
        """The number of these that were known already."""

    def read(self, url: str) -> PromptImage:
        """Return the picture of a data URL.

        Raises:
            HttpRefusal: it is not a data URL of a picture.
        """
        digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()
        self.queries += 1
        size = self._sizes.get(digest)
        if size is None:
            size = self._sizes[digest] = _size(url)
        else:
            self.hits += 1
        self._sizes.move_to_end(digest)
        if len(self._sizes) > KEPT:
            self._sizes.popitem(last=False)
        return PromptImage(url, digest, *size)


def colour_centre(image: PromptImage, colour: tuple[int, int, int]) -> tuple[float, float] | None:
    """Return the centre of a colour, as fractions of the picture; None if the colour is not there.

    Raises:
        HttpRefusal: the picture cannot be decoded.
    """
    try:
        with Image.open(io.BytesIO(_bytes(image.url))) as picture:
            bands = picture.convert("RGB").split()
    except (OSError, ValueError, SyntaxError) as error:
        raise HttpRefusal(400, f"Failed to load image: {error}") from None
    for tolerance in TOLERANCES:
        near = [
            band.point([255 * (abs(value - wanted) <= tolerance) for value in range(256)])
            for band, wanted in zip(bands, colour, strict=True)
        ]
        mask = ImageChops.darker(ImageChops.darker(near[0], near[1]), near[2])
        if mask.getbbox() is not None:
            # The centroid of the lit pixels, as fractions; a pixel lies at its own middle.
            exact = mask.convert("F")
            across = exact.resize((mask.width, 1), Image.Resampling.BOX)
            down = exact.resize((1, mask.height), Image.Resampling.BOX)
            return _mean(across), _mean(down)
    return None


def _mean(profile: Image.Image) -> float:
    weights = array("f", profile.tobytes())
    total = sum(weights)
    return (
        sum((place + 0.5) * weight for place, weight in enumerate(weights)) / total / len(weights)
    )


def _size(url: str) -> tuple[int, int]:
    for data in (_bytes(url, chars=HEADER_CHARS), _bytes(url)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                with Image.open(io.BytesIO(data)) as picture:
                    return picture.size
        except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
            continue
    raise HttpRefusal(400, "Failed to load image: cannot identify image file")


def _bytes(url: str, *, chars: int | None = None) -> bytes:
    head, comma, _ = url[:128].partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        raise HttpRefusal(400, "Failed to load image: only data URLs in base64 are read here")
    start = len(head) + 1
    try:
        return base64.b64decode(url[start : None if chars is None else start + chars])
    except (binascii.Error, ValueError):
        raise HttpRefusal(400, "Failed to load image: bad base64") from None
