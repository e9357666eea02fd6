"""How large a picture is sent, and how many tokens it takes: one rule for each kind of processor.

A rule follows the processor that the family was trained with. It computes sizes and opens no picture.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, Self

from generators.policy.dialects.coordinates import smart_resize


class PictureRule(Protocol):
    """From the size of a screenshot to the size that a model gets."""

    def sent_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size a picture is resized to before it is sent."""
        ...

    def tokens(self, width: int, height: int) -> int:
        """Return how many prompt tokens a picture of that size takes."""
        ...

    def seen_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size of a picture after the model's own processor has resized it."""
        ...


@dataclass(frozen=True)
class Tiled:
    """Square tiles on the grid nearest to the picture's shape, and a thumbnail of the whole.

    Source: the static tiling of InternVL, as in vLLM 0.32 for Nemotron Nano VL: the server stretches
    a picture to the grid with the closest aspect ratio, and of two such grids takes the larger one
    if the picture has more than half its pixels. So a screenshot is sent as it is, without a second
    JPEG, and the recorded bytes are those that were sent. Only a picture with more pixels than the
    largest grid is scaled down first, to the grid that the server would choose, because the server
    would drop the other pixels.
    """

    side: int = 512
    """Side of a tile, px."""
    tile_tokens: int = 256
    """A tile's tokens."""
    max_tiles: int = 12
    """Largest number of tiles in a grid."""

    def grid(self, width: int, height: int) -> tuple[int, int]:
        """Return how many tiles a picture has across and down."""
        return _closest_grid(width, height, self.side, self.max_tiles)

    def seen_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the grid's size."""
        across, down = self.grid(width, height)
        return across * self.side, down * self.side

    def sent_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the picture's own size, or its grid's where it has more pixels than any grid."""
        if width * height <= self.max_tiles * self.side**2:
            return width, height
        return self.seen_size(width, height)

    def tokens(self, width: int, height: int) -> int:
        """Return the tokens of all tiles, and of the thumbnail where there are several."""
        across, down = self.grid(width, height)
        tiles = across * down
        return (tiles + 1 if tiles > 1 else 1) * self.tile_tokens


@lru_cache(maxsize=256)
def _closest_grid(width: int, height: int, side: int, max_tiles: int) -> tuple[int, int]:
    grids = sorted(
        ((a, d) for a in range(1, max_tiles + 1) for d in range(1, max_tiles // a + 1)),
        key=lambda grid: grid[0] * grid[1],
    )
    best, nearest = (1, 1), float("inf")
    for across, down in grids:
        apart = abs(width / height - across / down)
        larger_fits = apart == nearest and width * height > 0.5 * side**2 * across * down
        if apart < nearest or larger_fits:
            best, nearest = (across, down), apart
    return best


@dataclass(frozen=True)
class Patched:
    """Square patches at the picture's own shape, its area within bounds: Qwen's processors.

    Source: `smart_resize` with the bounds that H Company publishes for each generation. The picture is
    resized before it is sent, so that the server's own resize changes nothing and the meaning of a
    point does not depend on the server's settings.
    """

    side: int
    """Side of a patch that makes a token, px."""
    min_pixels: int
    """Least number of pixels of a picture."""
    max_pixels: int
    """Largest number of pixels of a picture."""

    def with_most(self, max_pixels: int | None) -> Self:
        """Return the rule with another largest number of pixels, never below the least; None: its own."""
        return replace(self, max_pixels=max(max_pixels or self.max_pixels, self.min_pixels))

    def sent_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the nearest multiples of a patch, with an area within bounds."""
        return smart_resize(
            width, height, factor=self.side, min_pixels=self.min_pixels, max_pixels=self.max_pixels
        )

    def seen_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size as sent: nothing is resized after that."""
        return self.sent_size(width, height)

    def tokens(self, width: int, height: int) -> int:
        """Return one token for each patch."""
        wide, high = self.sent_size(width, height)
        return (wide // self.side) * (high // self.side)


QWEN2_5_PATCHES = Patched(28, 4 * 28 * 28, 16_384 * 28 * 28)
"""The processor of Qwen2.5-VL, as Qwen publishes it: patches of 14 px, merged by two."""

QWEN3_PATCHES = Patched(32, 64 * 32 * 32, 16_384 * 32 * 32)
"""The processor of Qwen3-VL and Qwen3.5: patches of 16 px, merged by two."""


@dataclass(frozen=True)
class Dynamic:
    """Pairs of patches at nearly the picture's own shape, their number within bounds: Nemotron 3's vision.

    Source: the dynamic tiling of vLLM 0.32 and SGLang 0.5.23 for Nemotron Nano Omni, with the bounds of its
    published configuration. The server stretches the picture to the next pairs of patches, so a screenshot
    is sent as it is; only one with more patches than the model takes is scaled down first.
    """

    side: int = 16
    """Side of a patch, px; a square of four patches makes a token."""
    min_patches: int = 1_024
    """Least number of patches of a picture."""
    max_patches: int = 13_312
    """Largest number of patches of a picture."""

    def seen_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size to which the server stretches a picture."""
        # The server rounds so too: up, but to the even one of two whole numbers that are as near.
        wide, high = (round(edge / self.side + 0.5) for edge in (width, height))
        shrink = min(1.0, math.sqrt(self.max_patches / (wide * high)))
        wide, high = max(1, math.floor(shrink * wide)), max(1, math.floor(shrink * high))
        if wide * high < self.min_patches:
            grow = math.sqrt(self.min_patches / (wide * high))
            wide, high = math.ceil(grow * wide), math.ceil(grow * high)
        high = self._even(high, beside=wide)
        return self._even(wide, beside=high) * self.side, high * self.side

    def sent_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the picture's own size, or the largest that the model takes."""
        seen = self.seen_size(width, height)
        return seen if width * height > self.max_patches * self.side**2 else (width, height)

    def tokens(self, width: int, height: int) -> int:
        """Return one token for four patches."""
        wide, high = self.seen_size(width, height)
        return (wide // self.side) * (high // self.side) // 4

    def _even(self, patches: int, *, beside: int) -> int:
        if patches % 2 == 0:
            return patches
        return patches + 1 if (patches + 1) * beside <= self.max_patches else max(2, patches - 1)


@dataclass(frozen=True)
class Bounded:
    """The picture's own shape, scaled down to a longest edge and a pixel count.

    Source: Anthropic's published limits, 1568 px and about 1,600 tokens of 750 pixels each. Its service
    scales larger pictures down itself, and points would refer to a size that we do not know.
    """

    max_edge: int = 1_568
    """Largest length of the longer edge, px."""
    max_pixels: int = 1_200_000
    """Largest number of pixels of a picture."""
    pixels_per_token: int = 750
    """Pixels for each token by the published estimate."""

    def sent_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the largest size of the same shape within bounds, never a larger one."""
        shrink = min(
            1.0, self.max_edge / max(width, height), math.sqrt(self.max_pixels / (width * height))
        )
        return max(1, math.floor(width * shrink)), max(1, math.floor(height * shrink))

    def seen_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size as sent."""
        return self.sent_size(width, height)

    def tokens(self, width: int, height: int) -> int:
        """Return the estimate, at least one."""
        wide, high = self.sent_size(width, height)
        return max(1, round(wide * high / self.pixels_per_token))
