"""Families that call functions as text: words, then JSON in `<tool_call>` tags.

Qwen3-VL, GUI-Owl and Fara share the form, which is that of Qwen's own prompts, and a function `computer_use` whose
actions differ. A `FunctionFamily` has what differs; `FunctionDialect` has the form. Unless `extended` is switched off,
functions of this program are offered beside `computer_use`, for actions that it cannot express: a published action is
preferred wherever it expresses all of an action. The words before the calls are the thought and the note.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue
from typing_extensions import override

from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    InexpressibleAction,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.settings import FunctionSettings
from generators.policy.dialects.shared import browser_tools
from generators.policy.dialects.shared.arguments import Scale, quote
from generators.policy.dialects.shared.functions import function_of
from generators.policy.dialects.shared.json_reply import (
    find_json_object,
    find_json_objects,
    json_line,
    strip_thinking,
)
from generators.policy.dialects.shared.prompt_text import END_RULE, RULES
from generators.policy.dialects.shared.prompted_text import (
    PromptedText,
    TextFamily,
    make_parsed,
)
from generators.policy.dialects.shared.remark import Remark, read_remark
from generators.policy.dialects.shared.sanitize import break_words_in_reply, replace_control_chars
from generators.policy.dialects.shared.text_dialect import Fields, as_keys, build_action
from generators.policy.dialects.shared.tools import (
    Tool,
    choose_tool,
    find_tool,
    target_words,
    tools_left,
)
from schemas.base import JsonObject
from schemas.episodes.action import Action, Answer

COMPUTER = "computer_use"
"""The name of the families' own function."""

_TAG, _END = "<tool_call>", "</tool_call>"

COMMON: tuple[Tool, ...] = (
    browser_tools.click(),
    browser_tools.write(),
    browser_tools.SELECT_OPTION,
    browser_tools.scroll(),
    browser_tools.drag(),
    *browser_tools.KEYS,
    *browser_tools.BROWSER,
    browser_tools.RESTART,
)
"""Functions for what a browser does and `computer_use` may not do."""


@dataclass(frozen=True)
class FunctionFamily:
    """The differences of one model family from others."""

    text: TextFamily
    """Its name, sizes and words."""
    function: Callable[[Scale], JsonObject]
    """Returns `computer_use` in OpenAI's form."""
    read: Callable[[Sequence[JsonObject], Scale], Fields]
    """Returns the fields of the action that the arguments of a reply's calls mean."""
    write: Callable[[Action, Scale], list[JsonObject]]
    """Returns the arguments of the calls that carry out an action."""
    added: tuple[Tool, ...] = COMMON
    """The functions that are offered beside it."""
    reply: str = "In a sentence or two, say what you see and what you do next; then give one call."
    """What a reply is, in the system prompt."""
    lead: str = ""
    """Begins the words before a call."""
    fact: str | None = None
    """The argument of a call whose action is to remember what it says; None: it has no such action."""
    ending: tuple[str, str] = ("", "")
    """How a task is ended, as the system prompt says it: with the added functions, and without them."""
    answers_in_words: bool = False
    """The answer of a task is what stands before the call that ends it."""


class FunctionDialect(PromptedText):
    """A family that calls functions as text, with the settings of a configuration."""

    def __init__(self, family: FunctionFamily, settings: FunctionSettings) -> None:
        """Raises `BadConfig` if a tool left out does not exist."""
        super().__init__(family.text, settings)
        self._family = family
        self._added = tools_left(family.added, settings.leave_out) if settings.extended else ()

    @override
    def system_prompt(self, frame: Frame) -> str:
        """Return the system prompt, with the functions in the form of Qwen's own prompts."""
        scale = self._scale(frame)
        offered = [
            self._family.function(scale),
            *(function_of(tool, scale) for tool in self._added),
        ]
        lines = "\n".join(json.dumps(one, ensure_ascii=False) for one in offered)
        page = "; its URL and title stand before it" if self.settings.page_line else ""
        family = self._family
        words = _SYSTEM.format(
            functions=lines,
            reply=family.reply,
            choice=_CHOICE if self._added else "",
            rules=RULES,
            page=page,
            ending=END_RULE.format(family.ending[0 if self._added else 1]),
        )
        return self._with_instructions(words)

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        text, scale = strip_thinking(reply), self._scale(frame)
        before, mark, after = text.partition(_TAG if _TAG in text else "{")
        calls = [_call(one) for one in find_json_objects(mark + after, with_key="arguments")]
        remark = read_remark(before.strip().removeprefix(self._family.lead.strip()))
        names = {name for name, _ in calls}
        if names == {COMPUTER}:
            return self._computer(remark, [given for _, given in calls], scale)
        if len(calls) > 1:
            raise UnreadableReply(
                f"the reply holds {len(calls)} calls of several functions; give one"
            )
        ((name, given),) = calls
        known = ", ".join((COMPUTER, *(tool.name for tool in self._added)))
        if not any(tool.name == name for tool in self._added):
            raise UnreadableReply(f"there is no function {quote(name)}; use one of {known}")
        tool = find_tool(self._added, name)
        arguments = tool.parse(given, scale)
        return make_parsed(
            tool.to_action(arguments, scale),
            remark,
            self._format(remark.thought, remark.note, [(tool.name, arguments.to_json())]),
            element=arguments.named_element,
        )

    def _computer(self, remark: Remark, calls: Sequence[JsonObject], scale: Scale) -> ParsedAction:
        """Return the parsed reply of calls of `computer_use`."""
        fields, fact = self._family.read(calls, scale), self._family.fact
        remembered = calls[0].get(fact) if fact else None
        if isinstance(remembered, str):
            remark = remark.model_copy(update={"note": replace_control_chars(remembered)})
        if self._family.answers_in_words and fields["type"] == "answer":
            fields["text"] = remark.thought or ""
        words = remark.thought, None if isinstance(remembered, str) else remark.note
        echo = self._format(*words, [(COMPUTER, given) for given in calls])
        return make_parsed(build_action(fields), remark, echo)

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        scale, family = self._scale(frame), self._family
        thought, note = rationale.thought, rationale.note
        if family.answers_in_words and isinstance(action, Answer):
            if self._added:
                return self._format(thought, note, self._extra(action, scale, rationale))
            thought = action.text
        try:
            calls = [(COMPUTER, given) for given in family.write(action, scale)]
        except InexpressibleAction as error:
            calls = self._otherwise(action, scale, rationale, error)
        return self._format(thought, note, calls)

    def _otherwise(
        self, action: Action, scale: Scale, rationale: Rationale, error: InexpressibleAction
    ) -> list[tuple[str, JsonObject]]:
        """Return the calls of an action that `computer_use` cannot express, by another function or by keys.

        Raises:
            InexpressibleAction: nothing can.
        """
        if self._added:
            return self._extra(action, scale, rationale)
        keys = as_keys(action)
        if keys is action:
            raise error
        return [(COMPUTER, given) for given in self._family.write(keys, scale)]

    def _extra(
        self, action: Action, scale: Scale, rationale: Rationale
    ) -> list[tuple[str, JsonObject]]:
        element = target_words(action, rationale)
        tool, arguments = choose_tool(self._added, action, scale, element=element)
        return [(tool.name, arguments.to_json())]

    def _format(
        self, thought: str | None, note: str | None, calls: Sequence[tuple[str, JsonObject]]
    ) -> str:
        words = self._remark(thought, note)
        lines = [f"{self._family.lead}{words}"] if words or self._family.lead else []
        for name, given in calls:
            call = replace_control_chars(json_line({"name": name, "arguments": given}))
            lines += [_TAG, break_words_in_reply(call, self.switch_words), _END]
        return "\n".join(line.rstrip() for line in lines)


def _call(call: JsonObject) -> tuple[JsonValue, JsonObject]:
    """Return the name and the arguments of a call.

    Raises:
        UnreadableReply: its arguments are no object.
    """
    given = call["arguments"]
    if isinstance(given, str):
        given = find_json_object(given, with_key="action")
    if not isinstance(given, dict):
        raise UnreadableReply("'arguments' must be an object")
    return call.get("name"), given


_SYSTEM = """\
You are a helpful assistant that operates a web browser for a user.

# Tools

You may call functions to carry out the user's task, one action in each turn. Their signatures are within \
<tools></tools>:
<tools>
{functions}
</tools>

Write a call as a JSON object with the function's name and arguments within <tool_call></tool_call>:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>

# Turns
Each turn shows you a screenshot of the browser's viewport{page}. Older screenshots are replaced by a \
placeholder. {reply} After "Note:" write each fact of the screenshot that the task needs later.

# Rules
{choice}{rules}
{ending}"""

_CHOICE = """\
- Call computer_use wherever it does all of an action, and another function only for what it does not do.
"""
