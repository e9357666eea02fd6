"""Holo1.5: the cookbook's navigator in pixels of the picture as it was sent.

Source: hcompai/hai-cookbook, `utils/navigation.py` and the Holo1.5 notebooks: Qwen2.5-VL's
processor with patches of 28 px, between 56×56 and 1280×28×28 pixels.
"""

from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.holo import Published, holo
from generators.policy.dialects.settings import HoloSettings
from generators.policy.dialects.shared.json_dialect import JsonDialect

NAME = "holo1_5"
"""As configurations name it."""

PUBLISHED: Published = (NAME, Convention.RESIZED, 28, 56 * 56, 1_280 * 28 * 28)
"""How it was published."""


def holo1_5(settings: HoloSettings) -> JsonDialect:
    """Return the family's dialect, set as `settings` say."""
    return holo(PUBLISHED, settings)
