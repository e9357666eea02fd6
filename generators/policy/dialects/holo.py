"""H Company's Holo families: the navigator of Holo1.5 and Holo2, and the localizer Holo1.

Source: hcompai/hai-cookbook. The navigator answers with one JSON object of a note, a thought and an
action; the task and each numbered observation have tags of their own. The published actions are few:
no key, no hover, no drag, no text without Enter. Unless `extended` is switched off, tools for the rest
are offered after them, in the same form and under names of their own; a published tool is preferred
wherever it expresses all of an action.

Holo1 only locates: it answers `Click(x, y)`, in pixels of the picture as it was sent, as text or in
JSON with `action`, `x` and `y`; Holo1.5's localizer answers in JSON.
"""

import re
from typing import Annotated, ClassVar

from pydantic import Field, JsonValue
from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import QWEN3_PATCHES, Patched, PictureRule
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    InexpressibleAction,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.settings import HoloSettings
from generators.policy.dialects.shared import browser_tools
from generators.policy.dialects.shared.arguments import Scale, Text
from generators.policy.dialects.shared.json_dialect import JsonDialect, JsonDialectSpec, ReplyKeys
from generators.policy.dialects.shared.json_reply import find_json_object, strip_thinking
from generators.policy.dialects.shared.prompt_text import RULES, point_rules, tool_list
from generators.policy.dialects.shared.text_dialect import (
    TextDialect,
    build_action,
    format_point,
    parse_point,
)
from generators.policy.dialects.shared.tools import (
    Element,
    PageScroll,
    Tool,
    ToolArguments,
    WaitWholeSeconds,
    offered_tools,
)
from generators.policy.dialects.switch_words import QWEN2_5_VL, QWEN3_VL
from schemas.episodes.action import Action, Button, Click


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
    browser_tools.ANSWER_DIALOG,
    browser_tools.DROP_FILE,
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


def holo1_5(settings: HoloSettings) -> JsonDialect:
    """Return the dialect of Holo1.5, set as `settings` say.

    Source: the cookbook's `utils/navigation.py` and the Holo1.5 notebooks: points in pixels of the
    picture as sent, Qwen2.5-VL's processor with patches of 28 px, from 56×56 to 1280×28×28 pixels.
    """
    processor = Patched(28, 56 * 56, 1_280 * 28 * 28)
    return _navigator("holo1_5", Convention.RESIZED, processor, settings, QWEN2_5_VL)


def holo2(settings: HoloSettings) -> JsonDialect:
    """Return the dialect of Holo2, set as `settings` say.

    Source: the Holo2 notebooks: points in thousandths, Qwen3-VL's processor with patches of 32 px,
    from 64×32×32 to 16384×32×32 pixels, and `thinking` as the chat template's switch. The navigation
    prompt is not published; we assume that it is the one of Holo1.5.
    """
    settings = settings.with_published(thinking_key="thinking")
    return _navigator("holo2", Convention.THOUSAND, QWEN3_PATCHES, settings, QWEN3_VL)


def _navigator(
    name: str,
    convention: Convention,
    processor: Patched,
    settings: HoloSettings,
    switch_words: tuple[str, ...],
) -> JsonDialect:
    tools = offered_tools(PUBLISHED, ADDED, settings)

    def system(scale: Scale) -> str:
        return _SYSTEM.format(
            page=", with the page's URL and title" if settings.page_line else "",
            measured=point_rules(scale),
            tools=tool_list(tools),
            rules=RULES,
        )

    spec = JsonDialectSpec(
        name=name,
        version="2",
        convention=convention,
        pictures=processor.with_most(settings.max_pixels),
        switch_words=switch_words,
        keys=ReplyKeys("note", "thought", "action", "action"),
        empty_note="",
        tools=tools,
        system=system,
        schema_block=_SCHEMA,
        task="<task>\n{}\n</task>",
        observation=lambda step, page: (
            f"<observation step={step}>\n{page}<screenshot>\n",
            "\n</screenshot>\n</observation>",
        ),
        # The published turns say nothing of what went well.
        done=lambda _tool, words: f"<result>\n{words}\n</result>" if words else "",
        failed=lambda tool, words: f"<error>\n{tool}: {words}\n</error>",
    )
    return JsonDialect(spec, settings)


_CALL = re.compile(r"Click\(\s*(-?[\d.]{1,12})\s*,\s*(-?[\d.]{1,12})\s*\)", re.IGNORECASE)
_JSON_NAMES = ("click", "click_absolute")


class Holo1(TextDialect):
    """Locates only: its one action is a click."""

    name = "holo1"
    published: ClassVar[Convention] = Convention.RESIZED
    words: ClassVar[tuple[str, ...]] = QWEN2_5_VL
    processor: ClassVar[PictureRule] = Patched(28, 56 * 56, 1_280 * 28 * 28)
    prompt: ClassVar[str] = (
        "Find the element that is asked for on the screenshot, which is {wide} by {high}, and "
        "answer where to click, as Click(x, y), counted from the left and the top edge."
    )

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        point = _point(strip_thinking(reply))
        fields = parse_point(point, self._scale(frame))
        echo = f"Click({_plain_number(point[0])}, {_plain_number(point[1])})"
        return ParsedAction(action=build_action({"type": "click", **fields}), canonical_reply=echo)

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        del rationale
        if not isinstance(action, Click) or (action.button, action.count) != (Button.LEFT, 1):
            raise InexpressibleAction(
                f"holo1 clicks once with the left button, and cannot '{action.type}'"
            )
        x, y = format_point(action.x, action.y, self._scale(frame))
        return f"Click({_plain_number(x)}, {_plain_number(y)})"


def _point(text: str) -> list[JsonValue]:
    calls = set(_CALL.findall(text))
    if len(calls) > 1:
        raise UnreadableReply("the reply has several clicks; give exactly one Click(x, y)")
    if calls:
        return [_number(part) for part in calls.pop()]
    if "{" not in text:
        raise UnreadableReply("the reply has no Click(x, y)")
    found = find_json_object(text, with_key="x")
    if found.get("action", "click") not in _JSON_NAMES:
        raise UnreadableReply("the reply's action must be click")
    return [found["x"], found.get("y")]


def _number(text: str) -> JsonValue:
    try:
        return float(text)
    except ValueError as error:
        raise UnreadableReply(f"'{text}' is not a number") from error


def _plain_number(value: JsonValue) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
