"""Holo2: the cookbook's navigator in thousandths of the picture.

Source: hcompai/hai-cookbook, the Holo2 notebooks: Qwen3-VL's processor with patches of 32 px,
between 64×32×32 and 16384×32×32 pixels, and `thinking` as the chat template's switch. Its
navigation prompt is not published; the one of Holo1.5 is taken to have stayed.
"""

from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.holo import Published, holo
from generators.policy.dialects.settings import HoloSettings
from generators.policy.dialects.shared.json_dialect import JsonDialect

NAME = "holo2"
"""As configurations name it."""

PUBLISHED: Published = (NAME, Convention.THOUSAND, 32, 64 * 32 * 32, 16_384 * 32 * 32)
"""How it was published."""


def holo2(settings: HoloSettings) -> JsonDialect:
    """Return the family's dialect, set as `settings` say."""
    if "thinking_key" not in settings.model_fields_set:
        settings = settings.model_copy(update={"thinking_key": "thinking"})
    return holo(PUBLISHED, settings)
