"""Qwen3-VL: text, then a call of `computer_use` in `<tool_call>` tags.

Source: QwenLM/Qwen3-VL, `cookbooks/computer_use.ipynb` and `cookbooks/utils/agent_function_call.py`: the function
and its actions, a screen of 1000 by 1000 so that points are thousandths, Qwen's prompt form for functions,
patches of 32 px. The descriptions are this program's own words. The cookbook shows one turn; further turns
follow it in the same form. The note stands in the text before the call. `computer_use` is the same function for
reading and writing alone, as earlier versions of this program have it, and Qwen2.5-VL's too.
"""

from dataclasses import replace

from generators.policy.dialects.computer_use import action_to_calls, calls_to_fields
from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.image_size import QWEN3_PATCHES
from generators.policy.dialects.settings import FunctionSettings
from generators.policy.dialects.shared import browser_tools
from generators.policy.dialects.shared.computer_tool import computer_function, resolution_of
from generators.policy.dialects.shared.function_dialect import FunctionDialect, FunctionFamily
from generators.policy.dialects.shared.prompted_text import TextFamily
from generators.policy.dialects.shared.tools import Tool
from generators.policy.dialects.switch_words import QWEN3_VL

BESIDE: tuple[Tool, ...] = (
    replace(
        browser_tools.click(),
        description="click as no action of computer_use does, as twice with the right button",
    ),
    replace(
        browser_tools.write(),
        description="write into a field in one call: click at x, y, or keep the focus if both are null, and "
        "type content; overwrite replaces what the field holds, press_enter presses Enter afterwards",
    ),
    browser_tools.SELECT_OPTION,
    replace(
        browser_tools.drag(),
        description="drag with the right or the middle button, from x, y to to_x, to_y",
    ),
    *(one for one in browser_tools.KEYS if one.action != "key"),
    *browser_tools.BROWSER,
    browser_tools.RESTART,
)
"""Functions for what `computer_use` does not do; none scrolls or presses keys together, as it does all of that."""

_ENDING = (
    "call computer_use with answer and what was asked for, exact and complete, or with terminate if nothing was "
    "asked. If the task cannot be done, call it with answer and say why."
)

QWEN = FunctionFamily(
    text=TextFamily(
        name="qwen3_vl",
        version="2",
        published=Convention.THOUSAND,
        processor=QWEN3_PATCHES,
        switch_words=QWEN3_VL,
    ),
    function=lambda scale: computer_function(resolution_of(scale)),
    read=calls_to_fields,
    write=action_to_calls,
    added=BESIDE,
    ending=(_ENDING, _ENDING),
)
"""The family."""


def qwen3_vl(settings: FunctionSettings) -> FunctionDialect:
    """Return the family's dialect, set as `settings` say.

    Raises:
        BadConfig: a tool left out does not exist.
    """
    return FunctionDialect(QWEN, settings)
