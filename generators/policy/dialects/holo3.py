"""Holo3 and Holo4: H Company's models on Qwen3.5 and Qwen3.6, by a structured reply.

Holo3's source is the agent loop that H Company publishes at hub.hcompany.ai/agent-loop: one JSON object with
a note, a thought and one flat tool call, held by a schema that stands in the system prompt too; whole numbers
from 0 to 1000; at most the last three screenshots, older ones as `[screenshot evicted]`. The page shows three
tools, `click`, `write` and `answer`, and says that agents register more of the same form; its loop shows no
place for the task, so the task stands where NVIDIA's port of the loop has it. The picture's size is that of
Qwen3.5's processor, patches of 32 px as Qwen3-VL's.

Of Holo4 no prompt is published. Its dialect is a reconstruction: Holo3's loop, which the note, the thought
and the tool name in the events of H Company's client also have. It is refused unless a configuration says
`reconstructed = true`; `stepmill engine check` shows whether a model gives its points so.
"""

from typing import Annotated

from pydantic import Field

from generators.policy.dialects.image_size import QWEN3_PATCHES
from generators.policy.dialects.settings import Holo4Settings, HoloSettings
from generators.policy.dialects.shared import browser_tools
from generators.policy.dialects.shared.agent_loop import Loop, loop_dialect
from generators.policy.dialects.shared.arguments import Boolean, Text
from generators.policy.dialects.shared.json_dialect import JsonDialect
from generators.policy.dialects.shared.tools import Tool, ToolArguments, offered_tools
from generators.policy.dialects.switch_words import QWEN3_5
from schemas.errors import BadConfig

PLACEHOLDER = "[screenshot evicted]"
"""Stands in the published loop where an older screenshot was."""


class FocusWriteArguments(ToolArguments):
    """Typing where the focus is."""

    text: Annotated[str, Text()] = Field(alias="content")
    enter: Annotated[bool, Boolean()] = Field(default=False, alias="press_enter")


PUBLISHED: tuple[Tool, ...] = (
    Tool("click", "click at a point", "click", browser_tools.AtElement),
    Tool("write", "type content where the focus is", "type", FocusWriteArguments),
    browser_tools.ANSWER,
)
"""The tools of the published page."""

ADDED: tuple[Tool, ...] = (
    browser_tools.click("click_with"),
    browser_tools.write("write_at"),
    browser_tools.SELECT_OPTION,
    browser_tools.scroll(),
    browser_tools.move_mouse(),
    browser_tools.drag(),
    *browser_tools.KEYS,
    *browser_tools.BROWSER,
    browser_tools.wait(),
    browser_tools.RESTART,
)
"""What those cannot express."""


def holo3(settings: HoloSettings) -> JsonDialect:
    """Return the dialect of Holo3, set as `settings` say.

    Raises:
        BadConfig: a tool left out does not exist.
    """
    return _dialect("holo3", settings)


def holo4(settings: Holo4Settings) -> JsonDialect:
    """Return the reconstructed dialect of Holo4, set as `settings` say.

    Raises:
        BadConfig: the settings do not say that a reconstruction will do, or a tool left out does not exist.
    """
    refuse_reconstruction("holo4", allowed=settings.reconstructed)
    return _dialect("holo4", settings)


def refuse_reconstruction(name: str, *, allowed: bool) -> None:
    """Refuse a dialect of which nothing is published, unless the configuration allows a guess.

    Raises:
        BadConfig: it does not.
    """
    if not allowed:
        raise BadConfig(
            f"no prompt of '{name}' is published, and this dialect is reconstructed from the "
            "family's earlier models; set policy.dialect_options.reconstructed = true to use it, and see with "
            f"`stepmill engine check URL --dialect {name}` whether the model's points fit"
        )


def _dialect(name: str, settings: HoloSettings) -> JsonDialect:
    loop = Loop(
        name=name,
        version="1",
        pictures=QWEN3_PATCHES.with_most(settings.max_pixels),
        switch_words=QWEN3_5,
        tools=offered_tools(PUBLISHED, ADDED, settings),
    )
    return loop_dialect(loop, settings.with_published(placeholder=PLACEHOLDER))
