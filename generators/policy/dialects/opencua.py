"""OpenCUA: a thought, an action in words, and PyAutoGUI code.

Source: xlang-ai/OpenCUA, `evaluation/agentnetbench/agent/opencua.py`, its prompt of level 2: sections `## Thought:`,
`## Action:` and `## Code:`, code of PyAutoGUI or `computer.triple_click` and `computer.terminate`, points in pixels of
the picture as it was sent (Qwen2.5-VL's processor), the last three screenshots. A block of code may be
several calls, so that a drag and typing at a point are one reply. Unless `extended` is switched off, functions of
`browser` are offered for what PyAutoGUI cannot do, under this program's own names.

The published loop repeats earlier replies without their code and the task at the end of each prompt; here a
conversation only grows, with whole replies. The note stands in the section of the thought. A point is
counted as the smart resize of Qwen2.5-VL leaves it; a click of the wheel is 100 px of the page.
"""

import re
from collections.abc import Sequence

from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import QWEN2_5_PATCHES
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    InexpressibleAction,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.settings import FunctionSettings
from generators.policy.dialects.shared import browser_tools
from generators.policy.dialects.shared.arguments import Scale
from generators.policy.dialects.shared.function_dialect import COMMON
from generators.policy.dialects.shared.json_reply import strip_thinking
from generators.policy.dialects.shared.prompt_text import END_RULE, ENDING, RULES, tool_list
from generators.policy.dialects.shared.prompted_text import (
    PromptedText,
    TextFamily,
    make_parsed,
)
from generators.policy.dialects.shared.pyautogui_code import action_to_calls, calls_to_fields
from generators.policy.dialects.shared.python_calls import (
    PythonCall,
    read_python_calls,
    write_python_calls,
)
from generators.policy.dialects.shared.remark import (
    escape_words,
    read_remark,
    unescape_words,
)
from generators.policy.dialects.shared.sanitize import replace_control_chars, truncate
from generators.policy.dialects.shared.text_dialect import as_keys, build_action
from generators.policy.dialects.shared.tools import (
    Tool,
    choose_tool,
    find_tool,
    target_words,
    tools_left,
)
from generators.policy.dialects.switch_words import QWEN2_5_VL
from schemas.episodes.action import Action

_FAMILY = TextFamily(
    name="opencua",
    version="2",
    published=Convention.RESIZED,
    processor=QWEN2_5_PATCHES,
    switch_words=QWEN2_5_VL,
    headings="## ",
)

_MAX_TOLD_CHARS = 500
_SECTION = re.compile(r"^## (Observation|Thought|Action|Code):[ \t]*\n?", re.MULTILINE)
_CODE_LINE = re.compile(r"^(?:pyautogui|computer|browser)\.\w+\(", re.MULTILINE)
_FENCE = re.compile(r"^```\w*[ \t]*$", re.MULTILINE)

_SYSTEM = """\
You are a GUI agent that operates a web browser for a user by PyAutoGUI code.

# Turns
Each turn shows you a screenshot of the browser's viewport{page}, {wide} by {high} pixels; points are pixels of it, from \
the top left corner. Older screenshots are replaced by a placeholder. Reply in this form:

## Thought:
What came of the last action, what is left, what you do next. After "Note:" on a line of its own, each fact of the \
screenshot that the task needs later.

## Action:
The one action, in words.

## Code:
PyAutoGUI code for it, or one of these functions:
- computer.triple_click(x, y): click three times.
- computer.terminate(status): end the task, with "success" or "failure".
{tools}
# Rules
{choice}{rules}
{ending}"""

_CHOICE = """\
- Write PyAutoGUI code wherever it does all of an action, and call a function of the browser only for what it does not do.
"""

_ENDINGS = (
    f"{ENDING.replace('call answer', 'call browser.answer')}",
    "call computer.terminate with success, or with failure if the task cannot be done.",
)
"""How a task is ended: with the functions of the browser, and without them."""


class OpenCua(PromptedText):
    """A thought, an action in words, and code."""

    def __init__(self, settings: FunctionSettings) -> None:
        """Raises `BadConfig` if a tool left out does not exist."""
        super().__init__(_FAMILY, settings)
        tools = (*COMMON, browser_tools.ANSWER)
        self._added = tools_left(tools, settings.leave_out) if settings.extended else ()

    @override
    def system_prompt(self, frame: Frame) -> str:
        """Return the system prompt, in the form of the published one."""
        wide, high = frame.span(self.convention)
        listed = tool_list(self._added).replace("\n- ", "\n- browser.")
        words = _SYSTEM.format(
            wide=f"{wide:g}",
            high=f"{high:g}",
            page=", after its URL and title" if self.settings.page_line else "",
            tools=f"- browser.{listed.removeprefix('- ')}\n" if listed else "",
            choice=_CHOICE if self._added else "",
            rules=RULES,
            ending=END_RULE.format(_ENDINGS[0 if self._added else 1]),
        )
        return self._with_instructions(words)

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        text, scale = strip_thinking(reply), self._scale(frame)
        sections, code = _sections(text)
        calls = read_python_calls(code)
        if not calls:
            raise UnreadableReply("the reply has no code; end it with '## Code:' and a call")
        remark = read_remark(sections.get("Thought", ""))
        told = unescape_words(sections.get("Action", ""))
        return make_parsed(
            self._action(calls, scale),
            remark,
            self._format(self._remark(remark.thought, remark.note), told, calls),
        )

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        scale = self._scale(frame)
        element = target_words(action, rationale)
        try:
            calls = action_to_calls(action, scale)
        except InexpressibleAction:
            calls = self._otherwise(action, scale, element)
        told = f"{action.type.replace('_', ' ')} {element}"
        words = self._remark(rationale.thought, rationale.note)
        return self._format(words, told, calls)

    def _otherwise(self, action: Action, scale: Scale, element: str) -> list[PythonCall]:
        """Return the calls of an action that PyAutoGUI cannot express, by an added function or by keys."""
        if not self._added:
            return action_to_calls(as_keys(action), scale)
        tool, arguments = choose_tool(self._added, action, scale, element=element)
        return [PythonCall(name=f"browser.{tool.name}", named=arguments.to_json())]

    def _action(self, calls: Sequence[PythonCall], scale: Scale) -> Action:
        name = calls[0].name
        if not name.startswith("browser."):
            return build_action(calls_to_fields(calls, scale))
        if len(calls) > 1 or calls[0].given:
            raise UnreadableReply(f"give '{name}' alone, with the names of its arguments")
        tool: Tool = find_tool(self._added, name.removeprefix("browser."))
        return tool.to_action(tool.parse(calls[0].named, scale), scale)

    def _format(self, words: str, told: str, calls: Sequence[PythonCall]) -> str:
        code = write_python_calls(calls, self.switch_words)
        line = truncate(" ".join(replace_control_chars(told).split()), _MAX_TOLD_CHARS)
        line = escape_words(line, self.switch_words, (self.family.headings,))
        return f"## Thought:\n{words}\n\n## Action:\n{line}\n\n## Code:\n{code}"


def _sections(text: str) -> tuple[dict[str, str], str]:
    """Return the sections of a reply, and its code, which may stand without a heading."""
    parts = _SECTION.split(text)
    sections = {name: part.strip() for name, part in zip(parts[1::2], parts[2::2], strict=True)}
    if parts[0].strip():
        sections.setdefault("Thought", parts[0].strip())
    code = sections.pop("Code", None)
    if code is None:
        begin = _CODE_LINE.search(text)
        code = "" if begin is None else text[begin.start() :]
        sections = {
            name: (part[: found.start()] if (found := _CODE_LINE.search(part)) else part)
            for name, part in sections.items()
        }
    fenced = _FENCE.split(code)
    return sections, (fenced[1] if len(fenced) > 1 and not fenced[0].strip() else fenced[0]).strip()
