"""Compares stored screenshots with a replay's: how much differs, and which replayed picture is nearest.

A stored picture that equals its step's replayed picture byte by byte is not decoded. Any other gets two
checks:

* *How much differs?* Both pictures are averaged over cells of `CELL` × `CELL` pixels, which evens out the
  noise of encoders and antialiasing. A cell differs if the mean of a channel differs by more than
  `TOLERANCE` levels. At most `MAX_CELLS` of the cells may differ, and the mean difference over all pixels
  may be `MAX_LEVELS`. This finds blank pictures, foreign ones and moved drawings. All cells differ if a
  picture has another size or does not decode.
* *Which step is it of?* The distance of two pictures is their mean difference. No other picture of the
  replay may be nearer than that of the same step, unless it shows the same page (equal state and elements)
  and no cell of the two differs.

The bounds were measured at 500 × 400 px. Noise: all 1,113 pictures of the replays of 280 episodes, of 82
templates with drawings among them, were equal byte by byte; pictures encoded again at a quality of 75 to 95
differ in one cell at most, and by 1.3 levels. Lies: the first pictures of two episodes of one template
differ in at least two cells. Two pictures of one episode may differ in no cell if something moved by a
pixel or two; then the distance decides.
"""

import io
from collections.abc import Sequence

from PIL import Image, ImageChops

from schemas.base import Record
from schemas.episodes.observation import Observation
from schemas.figures import write_apart

CELL = 4
"""Width and height of a cell, picture px."""

TOLERANCE = 24
"""Largest difference of the mean of a cell's channel, levels of 255."""

MAX_CELLS = 0.0001
"""Largest share of cells that may differ."""

MAX_LEVELS = 2.0
"""Largest mean difference of all pixels' channels, levels of 255."""


class PictureDifference(Record):
    """How a step's stored picture compares with the replay's pictures."""

    equal: bool
    """Whether it equals the replayed picture byte by byte."""
    cells: float
    """Share of its cells that differ from the replayed picture's, 0–1."""
    levels: float
    """Mean difference of the pixels' channels, levels of 255."""
    because: str | None = None
    """Why it is not a picture of this step; None if it may be one."""


def compare_pictures(
    stored: Sequence[bytes], replayed: Sequence[Observation]
) -> tuple[PictureDifference, ...]:
    """Return the comparison of each replayed step's stored picture."""
    return tuple(_compare(stored[number], replayed, number) for number in range(len(replayed)))


def differ(one: bytes, other: bytes) -> bool | None:
    """Return whether two pictures differ by more than a rasteriser's noise.

    None: one is missing or does not decode. Equal pictures are not decoded.
    """
    if one == other:
        return False if one else None
    first, second = _decode(one), _decode(other)
    if first is None or second is None:
        return None
    return _cells(first, second) > MAX_CELLS or _levels(first, second) > MAX_LEVELS


def _compare(stored: bytes, replayed: Sequence[Observation], number: int) -> PictureDifference:
    own = replayed[number].screenshot.bytes
    if stored == own:
        return PictureDifference(equal=True, cells=0.0, levels=0.0)
    picture, shown = _decode(stored), _decode(own)
    cells, levels = _cells(picture, shown), _levels(picture, shown)
    because = None
    if cells > MAX_CELLS:
        found, most = write_apart(cells, MAX_CELLS, ".2%")
        because = f"{found} of its cells differ, at most {most} may"
    elif levels > MAX_LEVELS:
        found, most = write_apart(levels, MAX_LEVELS, ".1f")
        because = f"it differs by {found} levels, at most {most} may be"
    else:
        for at, other in enumerate(replayed):
            seen = _decode(other.screenshot.bytes)
            if _levels(picture, seen) < levels and not (
                _same_page(other, replayed[number]) and _cells(seen, shown) == 0
            ):
                because = f"it is nearer to that of step {at} than to its own"
                break
    return PictureDifference(equal=False, cells=cells, levels=levels, because=because)


def _decode(picture: bytes) -> Image.Image | None:
    """Return a picture; None if it does not decode."""
    try:
        with Image.open(io.BytesIO(picture)) as image:
            return image.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def _cells(one: Image.Image | None, other: Image.Image | None) -> float:
    """Return the share of cells that differ, 0–1."""
    if one is None or other is None or one.size != other.size:
        return 1.0
    difference = ImageChops.difference(one.reduce(CELL), other.reduce(CELL))
    red, green, blue = difference.split()
    counts = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return sum(counts[TOLERANCE + 1 :]) / sum(counts)


def _levels(one: Image.Image | None, other: Image.Image | None) -> float:
    """Return the mean difference of all channels, 0–255; 255 if there is nothing to compare."""
    if one is None or other is None or one.size != other.size:
        return 255.0
    counts = ImageChops.difference(one, other).histogram()
    return sum(count * (at % 256) for at, count in enumerate(counts)) / sum(counts)


def _same_page(one: Observation, other: Observation) -> bool:
    return (one.page, one.elements, one.sights) == (other.page, other.elements, other.sights)
