"""Holo3.1: H Company's model that calls tools by OpenAI's own fields.

Source: the agent loop at hub.hcompany.ai/agent-loop, its part on native function calling: tools go with the
request, `tool_choice` is `required`, the system prompt shows no form of a call, a result is a message of the
role `tool`, observations are the user's, points are whole numbers from 0 to 1000, the last three screenshots
stay. Planning is in the reasoning, which the chat template drops from earlier turns, so any fact to remember
belongs into the content of the reply: the note is there, after the thought if the reply states one. (Holo3.1 also
takes the structured loop: that is the dialect `holo3`.)

In this program's texts a call stands in the tags that the model's chat template writes; the client makes
OpenAI's fields of it (`generators/engine/call_text.py`). What a call gave back is in the template's tag as well.
"""

from pydantic import JsonValue
from typing_extensions import override

from generators.engine.call_text import (
    CALL_TAG,
    read_calls,
    read_value,
    takes_text,
    write_call,
    write_response,
)
from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.holo3 import ADDED, PLACEHOLDER, PUBLISHED
from generators.policy.dialects.image_size import QWEN3_PATCHES
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.settings import FunctionSettings
from generators.policy.dialects.shared.arguments import Scale, quote
from generators.policy.dialects.shared.functions import function_of
from generators.policy.dialects.shared.json_reply import find_json_objects, strip_thinking
from generators.policy.dialects.shared.prompt_text import MAX_RESULT_CHARS, RULES, point_rules
from generators.policy.dialects.shared.prompted_text import PromptedText, TextFamily, make_parsed
from generators.policy.dialects.shared.remark import (
    escape_words,
    read_remark,
    unescape_words,
)
from generators.policy.dialects.shared.tools import (
    Tool,
    ToolArguments,
    choose_tool,
    find_tool,
    offered_tools,
    target_words,
)
from generators.policy.dialects.switch_words import QWEN3_5
from schemas.base import JsonObject
from schemas.episodes.action import Action
from schemas.episodes.episode import Step
from schemas.episodes.observation import PageState

_SYSTEM = """\
You operate a web browser on behalf of a user, with a mouse and a keyboard, until the user's task is done.

# Turns
Each turn shows you the browser in an <observation> block: a screenshot of the viewport{page}. Older \
screenshots are replaced by a placeholder. You call one tool in each turn. Before the call, write down each \
fact of this screenshot that the task needs later, after "Note:": once the screenshot is gone you will only \
have what you wrote.

# Points
{measured} In element, describe in a few words what you act on.

# Rules
{rules}
- As soon as the screenshot shows that the task is done, or you can answer it, call answer: with what was \
asked for, exact and complete, or with an empty text if nothing was asked. Call it too, saying why, if the \
task cannot be done."""


_FAMILY = TextFamily(
    name="holo3_1",
    version="1",
    published=Convention.THOUSAND,
    processor=QWEN3_PATCHES,
    switch_words=QWEN3_5,
    placeholder=PLACEHOLDER,
)


class Holo31(PromptedText):
    """A thought and a note, then one native call."""

    def __init__(self, settings: FunctionSettings) -> None:
        """Raises `BadConfig` if a tool left out does not exist."""
        super().__init__(_FAMILY, settings)
        self._tools = offered_tools(PUBLISHED, ADDED, settings)

    @override
    def system_prompt(self, frame: Frame) -> str:
        """Return the system prompt, which shows no form of a call."""
        words = _SYSTEM.format(
            page=", with the page's URL and title" if self.settings.page_line else "",
            measured=point_rules(self._scale(frame)),
            rules=RULES,
        )
        return self._with_instructions(words)

    @override
    def functions(self, frame: Frame) -> tuple[JsonObject, ...]:
        scale = self._scale(frame)
        return tuple(function_of(tool, scale) for tool in self._tools)

    @override
    def observation_text(self, step: int, page: PageState) -> tuple[str, str]:
        return f"<observation>\n{self._page_text(page)}", "\n</observation>"

    @override
    def result_text(self, step: Step) -> str:
        """Return what a call gave back; every call but the last has a result."""
        if step.action.type in ("none", "answer"):
            return ""
        if step.action_error is not None:
            return self.rejection_text(step.action, step.action_error)
        return write_response(self._escape(step.result_text or "", MAX_RESULT_CHARS) or "done")

    @override
    def rejection_text(self, action: Action, why: str) -> str:
        """Return why a call was not carried out."""
        del action
        return write_response(f"Error: {self._escape(why, MAX_RESULT_CHARS)}")

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        before, tag, after = strip_thinking(reply).partition(CALL_TAG)
        calls = self._calls(tag + after, self._scale(frame)) if tag else []
        if not calls:
            raise UnreadableReply("the reply calls no tool; call exactly one")
        (tool, arguments), scale = calls[0], self._scale(frame)
        remark = read_remark(before)
        lost = f"the reply has {len(calls)} calls, and only the first is carried out"
        return make_parsed(
            tool.to_action(arguments, scale),
            remark,
            self._format(tool, arguments, remark.thought, remark.note),
            element=arguments.named_element,
            dropped=None if len(calls) == 1 else lost,
        )

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        element = target_words(action, rationale)
        tool, arguments = choose_tool(self._tools, action, self._scale(frame), element=element)
        return self._format(tool, arguments, rationale.thought, rationale.note)

    def _calls(self, text: str, scale: Scale) -> list[tuple[Tool, ToolArguments]]:
        """Return the calls of a text: in the template's tags, or as JSON, as the client writes a server's fields."""
        written = read_calls(text)
        if written:
            return [self._written_call(name, values, scale) for name, values in written]
        calls = find_json_objects(text, with_key="arguments")
        return [self._call(call.get("name"), call["arguments"], scale) for call in calls]

    def _written_call(
        self, name: str, values: dict[str, str], scale: Scale
    ) -> tuple[Tool, ToolArguments]:
        schemas = find_tool(self._tools, name).arguments.schemas(scale)
        given: dict[str, JsonValue] = {
            key: read_value(unescape_words(value), is_text=takes_text(schemas.get(key)))
            for key, value in values.items()
        }
        return self._call(name, given, scale)

    def _call(self, name: JsonValue, given: JsonValue, scale: Scale) -> tuple[Tool, ToolArguments]:
        tool = find_tool(self._tools, name)
        if not isinstance(given, dict):
            raise UnreadableReply(f"the arguments of '{tool.name}' are no object: {quote(given)}")
        return tool, tool.parse(given, scale)

    def _format(
        self, tool: Tool, arguments: ToolArguments, thought: str | None, note: str | None
    ) -> str:
        words = self._remark(thought, note)
        given: JsonObject = {
            key: escape_words(value, self.switch_words) if isinstance(value, str) else value
            for key, value in arguments.to_json().items()
        }
        call = write_call(tool.name, given)
        return f"{words}\n\n{call}" if words else call
