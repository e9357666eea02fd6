"""What Holo1.5 and Holo2 share: the navigator that H Company's cookbook publishes.

One JSON object with a note, a thought and an action; the task and each numbered observation in
tags of their own. The published actions are few: no key, no hover, no drag, no text without Enter.
Unless `extended` is switched off, tools for the rest are offered after them, in the same manner
and under names of their own; a published tool is preferred wherever it expresses all of an action.
"""

from functools import partial
from typing import Annotated

from pydantic import Field

from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.image_size import Patched
from generators.policy.dialects.settings import HoloSettings
from generators.policy.dialects.shared import browser_tools
from generators.policy.dialects.shared.arguments import Scale, Text
from generators.policy.dialects.shared.json_dialect import JsonDialect, JsonDialectSpec, ReplyKeys
from generators.policy.dialects.shared.prompt_text import RULES, point_rules, tool_list
from generators.policy.dialects.shared.tools import (
    Element,
    PageScroll,
    Tool,
    ToolArguments,
    WaitWholeSeconds,
)


class _WriteArguments(ToolArguments):
    text: Annotated[str, Text()] = Field(alias="content")
    element: Element
    x: browser_tools.X
    y: browser_tools.Y


PUBLISHED: tuple[Tool, ...] = (
    Tool("click_element", "click at a point", "click", browser_tools.AtElement),
    Tool(
        "write_element_abs",
        "click at a point, replace what the field holds by content, then press Enter",
        "type",
        _WriteArguments,
        {"overwrite": True, "enter": True},
    ),
    Tool("scroll", "scroll by a page", "scroll", PageScroll),
    browser_tools.GO_BACK,
    browser_tools.REFRESH,
    browser_tools.GOTO,
    Tool("wait", "let seconds pass on the page", "wait", WaitWholeSeconds),
    browser_tools.RESTART,
    browser_tools.ANSWER,
)
"""The cookbook's actions. Its runner clears a field before it writes, and presses Enter after."""

ADDED: tuple[Tool, ...] = (
    browser_tools.click("click_element_with"),
    browser_tools.write("write_text"),
    browser_tools.SELECT_OPTION,
    browser_tools.scroll("scroll_by"),
    browser_tools.move_mouse("hover_element"),
    browser_tools.drag("drag_element"),
    *browser_tools.KEYS,
    browser_tools.GO_FORWARD,
    *browser_tools.TABS,
    browser_tools.wait("wait_exactly"),
)
"""What the cookbook's actions cannot express."""

_SYSTEM = """\
You are a robot that browses the web as people do, to complete a task for a user.

# Turns
In each turn you receive an <observation>: a screenshot of the web browser's viewport{page}. Older \
screenshots are replaced by a placeholder. You reply with one JSON object and nothing else:
- note: information in this screenshot that the task needs later; an empty text if there is none.
- thought: your reasoning about the next step, in fewer than four lines.
- action: the one action to take now, with all of its fields.

# Points
{measured} In element, describe in a few words what you act on.

# Actions
{tools}

# Guidelines
{rules}
- If a notice about cookies is in the way, accept it first.
- When the screenshot shows that the task is done, or your notes answer it, use answer: with what \
was asked for, exact and complete, or with an empty text if nothing was asked."""

_SCHEMA = """\
# <output_json_format>
# ```json
# {}
# ```
# </output_json_format>"""

Published = tuple[str, Convention, int, int, int]
"""A generation's name, convention, its patch, and the minimum and maximum pixels of a picture."""


def holo(generation: Published, settings: HoloSettings) -> JsonDialect:
    """Return the dialect of one generation, set as `settings` say."""
    name, convention, patch, min_pixels, max_pixels = generation
    tools = (*PUBLISHED, *ADDED) if settings.extended else PUBLISHED
    manner = JsonDialectSpec(
        name=name,
        version="1",
        convention=convention,
        pictures=Patched(patch, min_pixels, max(settings.max_pixels or max_pixels, min_pixels)),
        keys=ReplyKeys("note", "thought", "action", "action"),
        empty_note="",
        tools=tools,
        system=partial(_system, tools, settings),
        schema_block=_SCHEMA,
        task="<task>\n{}\n</task>",
        observation=_observation,
        done=_done,
        failed=_failed,
    )
    return JsonDialect(manner, settings)


def _system(tools: tuple[Tool, ...], settings: HoloSettings, scale: Scale) -> str:
    return _SYSTEM.format(
        page=", with the page's URL and title" if settings.page_line else "",
        measured=point_rules(scale),
        tools=tool_list(tools),
        rules=RULES,
    )


def _observation(step: int, page: str) -> tuple[str, str]:
    return f"<observation step={step}>\n{page}<screenshot>\n", "\n</screenshot>\n</observation>"


def _done(tool: str, words: str) -> str:
    del tool  # the published turns say nothing of what went well
    return f"<result>\n{words}\n</result>" if words else ""


def _failed(tool: str, words: str) -> str:
    return f"<error>\n{tool}: {words}\n</error>"
