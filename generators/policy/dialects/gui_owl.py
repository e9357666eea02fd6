"""GUI-Owl 1.5: a line `Action: …`, then a call of `computer_use` in `<tool_call>` tags.

Source: X-PLUG/MobileAgent, `Mobile-Agent-v3.5/computer_use/utils.py`: Qwen3-VL's function on a screen of 1000 by
1000, with one action more, `interact`, which asks the user for help. Nobody is there to be asked, so it is not
offered, and refused. The published loop repeats the last four turns and lists the earlier actions as
text; here earlier turns stay in the conversation, with a placeholder for their pictures. The thought and the note
stand in the line `Action:`.
"""

from collections.abc import Sequence
from dataclasses import replace

from generators.policy.dialects.computer_use import calls_to_fields
from generators.policy.dialects.image_size import QWEN3_PATCHES
from generators.policy.dialects.protocol import UnreadableReply
from generators.policy.dialects.qwen3_vl import QWEN
from generators.policy.dialects.settings import FunctionSettings
from generators.policy.dialects.shared.arguments import Scale
from generators.policy.dialects.shared.function_dialect import FunctionDialect
from generators.policy.dialects.shared.text_dialect import Fields
from schemas.base import JsonObject


def gui_owl(settings: FunctionSettings) -> FunctionDialect:
    """Return the family's dialect, set as `settings` say.

    Raises:
        BadConfig: a tool left out does not exist.
    """
    family = replace(
        QWEN,
        text=replace(QWEN.text, name="gui_owl", processor=QWEN3_PATCHES.with_most(10_035_200)),
        read=_fields,
        reply="Reply in two parts: 'Action:' and in a sentence what you do next, then one call.",
        lead="Action: ",
    )
    return FunctionDialect(family, settings)


def _fields(calls: Sequence[JsonObject], scale: Scale) -> Fields:
    if any(call.get("action") == "interact" for call in calls):
        raise UnreadableReply("nobody can be asked for help; go on alone, or end with terminate")
    return calls_to_fields(calls, scale)
