"""The spaces of environments: pictures of one size, any words, and actions.

A picture has the size that the configuration fixes (`browser.viewport`). Where sizes are drawn by task, it has the
largest one that may be drawn, and smaller ones lie in its top left corner, black to the right and below.
"""

import io
import json
from typing import Any

from generators.seats.actions import BadMessage, StepMessage, read_message
from schemas.configuration.config import RunConfig
from schemas.episodes.action import ACTION
from schemas.episodes.viewport import large_viewports
from schemas.errors import BadConfig

try:
    import numpy as np
    from gymnasium import spaces
    from numpy.typing import NDArray
except ImportError as error:
    raise ImportError(
        "environments of Gymnasium need the extra 'gym'; install it: pip install 'stepmill[gym]'"
    ) from error

from PIL import Image

MAX_WORDS = 200_000
"""The maximum number of characters of a text."""

Pixels = NDArray[np.uint8]
"""A picture: height × width × 3."""


class Words(spaces.Text):
    """Any text, in whatever script."""

    def __init__(self, max_length: int = MAX_WORDS) -> None:
        super().__init__(max_length, min_length=0)

    def contains(self, x: object) -> bool:
        """Return whether `x` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


class Actions(Words):
    """An action as JSON text, such as `{"type": "click", "x": 10, "y": 20}`; its table is taken too.

    A sample is a click, in `size`.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        super().__init__()
        self.size = size
        """Width and height of where samples click, CSS px."""

    def contains(self, x: object) -> bool:
        """Return whether `x` can be read as an action."""
        try:
            ACTION.validate_python(message_of(x).action)
        except ValueError:
            return False
        return True

    def sample(self, mask: Any = None, probability: Any = None) -> str:  # noqa: ARG002 - clicks are all alike
        """Return a click on a random point."""
        x, y = (int(self.np_random.integers(side)) for side in self.size)
        return json.dumps({"type": "click", "x": x, "y": y})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Actions) and other.size == self.size

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Actions({self.size})"


def message_of(action: object, dialect: str | None = None) -> StepMessage:
    """Return what a client says with an action; a text is a reply in `dialect` if there is one, else JSON.

    Raises:
        BadMessage: it cannot be read.
    """
    if not isinstance(action, str):
        return read_message(action)
    if dialect is not None:
        return read_message({"reply": action})
    try:
        return read_message(json.loads(action))
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadMessage(f"expected an action as JSON, got {action[:80]!r}: {error}") from None


def picture_size(config: RunConfig) -> tuple[int, int]:
    """Return width and height of a run's observations, px: of every picture, or of the largest of those drawn."""
    sizes = [viewport.picture for viewport in large_viewports(config)]
    if config.browser.viewport is None and (usual := config.fixed_viewport(None)) is not None:
        sizes.append(usual)
    return max(width for width, _ in sizes), max(height for _, height in sizes)


def pixels_of(picture: bytes | None, size: tuple[int, int]) -> Pixels:
    """Return a picture in the top left corner of one of `size`, which is black elsewhere; all black for None.

    Raises:
        BadConfig: it is larger.
    """
    width, height = size
    pixels = np.zeros((height, width, 3), np.uint8)
    if picture is None:
        return pixels
    with Image.open(io.BytesIO(picture)) as image:
        shown = np.asarray(image.convert("RGB"))
    if shown.shape[0] > height or shown.shape[1] > width:
        raise BadConfig(
            f"a picture of {shown.shape[1]}×{shown.shape[0]} px does not fit {width}×{height}; set browser.viewport, "
            "so that every picture has one size"
        )
    pixels[: shown.shape[0], : shown.shape[1]] = shown
    return pixels
