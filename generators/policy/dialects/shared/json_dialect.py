"""Families that answer with one JSON object: reasoning, a note, and a call of one tool.

A `JsonDialectSpec` has the parts in which such families differ: the names of the keys, the tools, the
picture rule and the texts. `JsonDialect` has the common parts, from the schema to the canonical reply.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue
from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import PictureRule
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    Dialect,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.settings import PromptSettings, Settings
from generators.policy.dialects.shared.arguments import Scale, quote
from generators.policy.dialects.shared.json_reply import find_json_object, json_line, strip_thinking
from generators.policy.dialects.shared.json_schema import (
    any_of,
    nullable,
    object_schema,
    text_schema,
)
from generators.policy.dialects.shared.keys import key_schema
from generators.policy.dialects.shared.prompt_text import (
    MAX_RESULT_CHARS,
    MAX_TASK_CHARS,
    page_text,
)
from generators.policy.dialects.shared.remark import Remark, bound_remark
from generators.policy.dialects.shared.sanitize import (
    break_words,
    break_words_in_reply,
    escape_markup,
)
from generators.policy.dialects.shared.tools import (
    Tool,
    ToolArguments,
    choose_tool,
    find_tool,
    target_words,
    tool_name,
)
from schemas.base import JsonObject
from schemas.episodes.action import Action
from schemas.episodes.episode import Step
from schemas.episodes.observation import PageState


@dataclass(frozen=True)
class ReplyKeys:
    """The keys of a reply's parts."""

    note: str
    """Key of the note to remember."""
    thought: str
    """Key of the reasoning."""
    call: str
    """Key of the tool call."""
    name: str
    """Key of the tool's name, within the call."""


@dataclass(frozen=True)
class JsonDialectSpec:
    """The differences of one model family from others."""

    name: str
    """The name in configurations."""
    version: str
    """Changes with the prompt's text and with the parser."""
    convention: Convention
    """The convention of its points."""
    pictures: PictureRule
    """The size at which pictures are sent."""
    switch_words: tuple[str, ...]
    """The words that its chat template or tokenizer takes for something other than text."""
    keys: ReplyKeys
    """The keys of a reply."""
    empty_note: str | None
    """The note if there is nothing to remember."""
    tools: tuple[Tool, ...]
    """The tools in the order in which they are offered and tried."""
    system: Callable[[Scale], str]
    """Returns the system prompt without the schema."""
    schema_block: str
    """Around the schema in the system prompt; `{}` is its place."""
    task: str
    """The message that states the task; `{}` is the task's place."""
    observation: Callable[[int, str], tuple[str, str]]
    """Returns the text before and after a picture, from the step and the text about the page."""
    done: Callable[[str, str], str]
    """Returns the result of an action, from the tool's name and a text, which may be empty."""
    failed: Callable[[str, str], str]
    """Returns why an action failed, from the tool's name and the reason."""


class JsonDialect(Dialect):
    """A family that replies with one JSON object, with the settings of a configuration."""

    drives_engine = True

    def __init__(self, spec: JsonDialectSpec, settings: Settings) -> None:
        self._spec = spec
        self._settings = settings

    @property
    @override
    def name(self) -> str:
        return self._spec.name

    @property
    @override
    def version(self) -> str:
        return self._spec.version

    @property
    @override
    def convention(self) -> Convention:
        return self._settings.convention or self._spec.convention

    @property
    @override
    def pictures(self) -> PictureRule:
        return self._spec.pictures

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its tools, in the order in which they are offered."""
        return self._spec.tools

    @property
    @override
    def switch_words(self) -> tuple[str, ...]:
        return self._spec.switch_words

    @property
    @override
    def image_placeholder(self) -> str:
        return self._settings.placeholder

    @property
    @override
    def request_fields(self) -> JsonObject:
        """Fields of a request's body that the settings ask for, beside the prompt."""
        return setting_fields(self._settings)

    @override
    def system_prompt(self, frame: Frame) -> str:
        """Return the system prompt, with the reply's schema unless that is switched off."""
        parts = [self._spec.system(self._scale(frame))]
        if self._settings.schema_in_prompt:
            parts.append(self._spec.schema_block.replace("{}", json_line(self.reply_schema(frame))))
        if self._settings.more_instructions:
            parts.append(self._settings.more_instructions)
        return "\n\n".join(parts)

    @override
    def reply_schema(self, frame: Frame) -> JsonObject:
        scale, keys = self._scale(frame), self._spec.keys
        words = text_schema(scale.text_limit)
        calls = any_of([tool.schema(keys.name, scale) for tool in self.tools])
        note = nullable(words) if self._spec.empty_note is None else words
        whole = object_schema({keys.note: note, keys.thought: words, keys.call: calls})
        if '"$ref"' not in json_line(calls):
            return whole
        defined: dict[str, JsonValue] = {"key": key_schema()}
        return {**whole, "$defs": defined}

    @override
    def task_message(self, instruction: str) -> str:
        return self._spec.task.replace("{}", self._escape(instruction, MAX_TASK_CHARS))

    @override
    def observation_text(self, step: int, page: PageState) -> tuple[str, str]:
        words = page_text(page, named=self._settings.page_line, switch_words=self.switch_words)
        return self._spec.observation(step, words)

    @override
    def result_text(self, step: Step) -> str:
        if step.action.type in ("none", "answer"):
            return ""
        if step.action_error is not None:
            return self.rejection_text(step.action, step.action_error)
        tool = tool_name(self.tools, step.action)
        return self._spec.done(tool, self._escape(step.result_text or "", MAX_RESULT_CHARS))

    @override
    def rejection_text(self, action: Action, why: str) -> str:
        return self._spec.failed(tool_name(self.tools, action), self._escape(why, MAX_RESULT_CHARS))

    @override
    def repair_message(self, problem: str) -> str:
        keys, said = self._spec.keys, break_words(problem, self.switch_words)
        return (
            f"Your last reply could not be used and nothing was done: {said}.\n"
            f"Reply again to the same screenshot: one JSON object with {keys.note}, "
            f"{keys.thought} and {keys.call}, and nothing else."
        )

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        scale, keys = self._scale(frame), self._spec.keys
        whole = find_json_object(strip_thinking(reply), with_key=keys.call)
        for name in whole:
            if name not in (keys.note, keys.thought, keys.call):
                raise UnreadableReply(
                    f"there is no field {quote(name)}; give {keys.note}, {keys.thought} "
                    f"and {keys.call}"
                )
        words = bound_remark(_text_value(whole, keys.thought), _text_value(whole, keys.note))
        tool, arguments = self._call(whole[keys.call], scale)
        return ParsedAction(
            action=tool.to_action(arguments, scale),
            thought=words.thought,
            note=words.note,
            element=arguments.named_element,
            canonical_reply=self._format(tool, arguments, words),
            dropped=words.dropped,
        )

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        element = target_words(action, rationale)
        tool, arguments = choose_tool(self.tools, action, self._scale(frame), element=element)
        return self._format(tool, arguments, bound_remark(rationale.thought, rationale.note))

    def _scale(self, frame: Frame) -> Scale:
        return Scale(frame=frame, convention=self.convention, text_limit=self._settings.text_limit)

    def _call(self, call: JsonValue, scale: Scale) -> tuple[Tool, ToolArguments]:
        keys = self._spec.keys
        if not isinstance(call, dict) or keys.name not in call:
            raise UnreadableReply(f"'{keys.call}' must be an object with '{keys.name}' in it")
        tool = find_tool(self.tools, call[keys.name])
        given = {name: value for name, value in call.items() if name != keys.name}
        return tool, tool.parse(given, scale)

    def _format(self, tool: Tool, arguments: ToolArguments, words: Remark) -> str:
        keys = self._spec.keys
        reply: JsonObject = {
            keys.note: words.note or self._spec.empty_note,
            keys.thought: words.thought or "",
            keys.call: {keys.name: tool.name, **arguments.to_json()},
        }
        return break_words_in_reply(json_line(reply), self.switch_words)

    def _escape(self, text: str, max_chars: int) -> str:
        return escape_markup(text, max_chars, switch_words=self.switch_words)


def setting_fields(settings: PromptSettings) -> JsonObject:
    """Return the fields of a request's body that settings ask for."""
    fields: JsonObject = {}
    if settings.thinking is not None:
        fields["chat_template_kwargs"] = {settings.thinking_key: settings.thinking}
    if settings.reasoning_effort is not None:
        fields["reasoning_effort"] = settings.reasoning_effort
    return fields


def _text_value(whole: JsonObject, key: str) -> str | None:
    value = whole.get(key)
    if value is not None and not isinstance(value, str):
        raise UnreadableReply(f"'{key}' must be a text in quotation marks, but is {quote(value)}")
    return value or None
