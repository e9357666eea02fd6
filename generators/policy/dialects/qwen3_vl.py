"""Qwen3-VL: text, then a call of `computer_use` in `<tool_call>` tags.

Source: QwenLM/Qwen3-VL, `cookbooks/computer_use.ipynb` and `cookbooks/utils/agent_function_call.py`: the function
and its actions, a screen of 1000 by 1000 so that points are thousandths, Qwen's prompt form for functions,
patches of 32 px. The descriptions are this program's own words. The cookbook shows one turn; further turns
follow it in the same form. The note stands in the text before the call. `computer_use` is the same function for
reading and writing alone, as earlier versions of this program have it, and Qwen2.5-VL's too.
"""

from generators.policy.dialects.computer_use import action_to_calls, calls_to_fields
from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.image_size import QWEN3_PATCHES
from generators.policy.dialects.settings import FunctionSettings
from generators.policy.dialects.shared.computer_tool import computer_function, resolution_of
from generators.policy.dialects.shared.function_dialect import FunctionDialect, FunctionFamily
from generators.policy.dialects.shared.prompted_text import TextFamily
from generators.policy.dialects.switch_words import QWEN3_VL

QWEN = FunctionFamily(
    text=TextFamily(
        name="qwen3_vl",
        version="1",
        published=Convention.THOUSAND,
        processor=QWEN3_PATCHES,
        switch_words=QWEN3_VL,
    ),
    function=lambda scale: computer_function(resolution_of(scale)),
    read=calls_to_fields,
    write=action_to_calls,
)
"""The family."""


def qwen3_vl(settings: FunctionSettings) -> FunctionDialect:
    """Return the family's dialect, set as `settings` say.

    Raises:
        BadConfig: a tool left out does not exist.
    """
    return FunctionDialect(QWEN, settings)
