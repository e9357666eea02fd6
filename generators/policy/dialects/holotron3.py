"""Holotron-3 and Holotron-4: H Company's models on Nemotron 3 Nano Omni.

Holotron-3's source is the agent loop that NVIDIA publishes for it, a port of H Company's `holo-nano` harness
(NVIDIA-NeMo/Nemotron, `usage-cookbook/Nemotron-3-Nano-Omni/computer-use-agent-with-omni`): one JSON object
with a note, a thought and one flat tool call, held by a schema that stands in the system prompt too; whole
numbers from 0 to 1000; the last three screenshots, older ones as `[Image omitted by context cleaning]`.

Its tools are those of a desktop. Of the twelve, three are left out: `update_plan` does nothing on a page;
`drag_to_desktop` begins where the pointer is, which no reply says; and what `hold_and_tap_key_desktop` does in
one action, `hotkey_desktop` does, whose `repeat_count` is left out too: an action presses keys once. Unless `extended` is switched off, tools for what a browser does besides are
offered after them. The picture's size is that of the model's dynamic tiling.

Of Holotron-4 no prompt is published. Its dialect is a reconstruction, Holotron-3's loop, and is refused unless
a configuration says `reconstructed = true`.
"""

from typing import Annotated

from pydantic import Field
from typing_extensions import override

from generators.policy.dialects.holo3 import refuse_reconstruction
from generators.policy.dialects.image_size import Dynamic
from generators.policy.dialects.protocol import InexpressibleAction
from generators.policy.dialects.settings import Holotron3Settings, Holotron4Settings
from generators.policy.dialects.shared import browser_tools
from generators.policy.dialects.shared.agent_loop import Loop, loop_dialect
from generators.policy.dialects.shared.arguments import Boolean, Choice, Integer, Scale, Text
from generators.policy.dialects.shared.json_dialect import JsonDialect
from generators.policy.dialects.shared.keys import Chord
from generators.policy.dialects.shared.tools import NOTCH, Tool, ToolArguments, offered_tools
from generators.policy.dialects.switch_words import NEMOTRON
from schemas.base import JsonObject
from schemas.episodes.action import Button, Direction


class _ClickArguments(browser_tools.AtElement):
    button: Annotated[str, Choice(tuple(Button))] = "left"


class _WriteArguments(ToolArguments):
    text: Annotated[str, Text()] = Field(alias="content")
    enter: Annotated[bool, Boolean()] = Field(default=False, alias="press_enter")
    overwrite: Annotated[bool, Boolean()] = False


class _ScrollArguments(browser_tools.AtElement):
    direction: Annotated[str, Choice(tuple(Direction))]
    amount: Annotated[int, Integer(1, 100)] = Field(default=10, alias="scroll_size")

    @override
    def action_fields(self, scale: Scale) -> JsonObject:
        return {**super().action_fields(scale), "amount": self.amount * NOTCH}

    @override
    @classmethod
    def take(cls, fields: JsonObject, scale: Scale, *, element: str) -> "_ScrollArguments":
        amount = fields["amount"]
        assert isinstance(amount, int)  # noqa: S101 - a scroll's own field
        clicks, rest = divmod(amount, NOTCH)
        if rest:
            raise InexpressibleAction(f"it scrolls by clicks of the wheel, {NOTCH} px each")
        fields["amount"] = clicks
        return super().take(fields, scale, element=element)


class _ChordArguments(ToolArguments):
    key: Annotated[list[str], Chord()] = Field(alias="keys")


PUBLISHED: tuple[Tool, ...] = (
    Tool("write_desktop", "type content where the focus is", "type", _WriteArguments),
    Tool("click_desktop", "click at a point", "click", _ClickArguments),
    Tool(
        "double_click_desktop",
        "click twice at a point",
        "click",
        browser_tools.AtElement,
        {"count": 2},
    ),
    Tool(
        "scroll_desktop",
        f"turn the wheel over a point by scroll_size clicks, {NOTCH} pixels each",
        "scroll",
        _ScrollArguments,
    ),
    browser_tools.move_mouse("move_to_desktop"),
    Tool(
        "key_down_desktop", "press a key and keep it down", "key_down", browser_tools.KeyArguments
    ),
    Tool("key_up_desktop", "let go of a key that is down", "key_up", browser_tools.KeyArguments),
    Tool("hotkey_desktop", 'press keys together, as ["Control", "a"]', "key", _ChordArguments),
    browser_tools.ANSWER,
)
"""The tools of the published loop that one action of this program carries out."""

ADDED: tuple[Tool, ...] = (
    browser_tools.click(),
    browser_tools.write(),
    browser_tools.SELECT_OPTION,
    browser_tools.scroll(),
    browser_tools.drag(),
    *browser_tools.BROWSER,
    browser_tools.wait(),
    browser_tools.RESTART,
)
"""What those cannot express."""


def holotron3(settings: Holotron3Settings) -> JsonDialect:
    """Return the dialect of Holotron-3, set as `settings` say.

    Raises:
        BadConfig: a tool left out does not exist.
    """
    return _dialect("holotron3", settings)


def holotron4(settings: Holotron4Settings) -> JsonDialect:
    """Return the reconstructed dialect of Holotron-4, set as `settings` say.

    Raises:
        BadConfig: the settings do not say that a reconstruction will do, or a tool left out does not exist.
    """
    refuse_reconstruction("holotron4", allowed=settings.reconstructed)
    return _dialect("holotron4", settings)


def _dialect(name: str, settings: Holotron3Settings) -> JsonDialect:
    loop = Loop(
        name=name,
        version="1",
        pictures=Dynamic(),
        switch_words=NEMOTRON,
        tools=offered_tools(PUBLISHED, ADDED, settings),
    )
    return loop_dialect(loop, settings)
