"""The picture of a step."""

import io

from PIL import Image

from schemas.episodes.observation import Look


def picture(step: Look) -> Image.Image:
    """Return what the policy saw before the action of `step`, as the browser recorded it."""
    return Image.open(io.BytesIO(step.screenshot.bytes))
