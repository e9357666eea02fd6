"""Screenshots at the size at which a dialect sends them.

A screenshot of the right size is sent byte for byte. Any other is resized and encoded again, once
for each size, though several roles of a policy may show it to their models.
"""

import asyncio
import io
from collections.abc import Collection

from PIL import Image

from generators.engine.protocol import Picture
from schemas.episodes.episode import Step
from schemas.episodes.observation import Observation

JPEG_QUALITY = 90
"""JPEG quality of a resized picture."""

MAX_PICTURES = 16
"""Number of an episode's pictures in memory: more than a prompt has, and few beside a long episode's screenshots."""


class EpisodePictures:
    """The latest pictures of one episode, by step and size."""

    def __init__(self) -> None:
        self._pictures: dict[tuple[int, tuple[int, int]], Picture] = {}

    async def get(self, shown: Observation | Step, *, step: int, size: tuple[int, int]) -> Picture:
        """Return the screenshot of `step` at `size`, px; as long as it is kept, the same object."""
        if (step, size) not in self._pictures:
            jpeg, (width, height) = shown.screenshot.bytes, size
            if size != (shown.width, shown.height):
                jpeg = await asyncio.to_thread(_resize, jpeg, size)
            picture = Picture(jpeg=jpeg, step=step, width=width, height=height)
            self._pictures[step, size] = picture
            if len(self._pictures) > MAX_PICTURES:
                del self._pictures[next(iter(self._pictures))]
            return picture
        return self._pictures[step, size]

    def drop_urls(self, *, but: Collection[Picture]) -> None:
        """Keep the JPEG alone of every picture that is none of `but`, those of the next prompt."""
        kept = {id(picture) for picture in but}
        for picture in self._pictures.values():
            if id(picture) not in kept:
                picture.drop_url()


def _resize(jpeg: bytes, size: tuple[int, int]) -> bytes:
    with Image.open(io.BytesIO(jpeg)) as picture:
        resized = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    out = io.BytesIO()
    resized.save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()
