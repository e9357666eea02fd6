"""A prompt as the body of a request, in the form that the server takes.

Servers that speak OpenAI's protocol differ in a few fields, and report so only by refusing them. Each
server's quirks record the refused fields, and the request is sent again without them. This module
determines the refused field from the text of the message.
"""

import json
import re
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from generators.engine.client.native_calls import Encoded, native_messages
from generators.engine.client.structured_output import enforceable_schema
from generators.engine.protocol import EnginePrompt, Message, Part, Picture, Sampling
from schemas.base import JsonObject, canonical_json
from schemas.episodes.call import StructuredMode

_STRUCTURE_WORDS = (
    "response_format",
    "json_schema",
    "json_object",
    "structured",
    "guided",
    "grammar",
    "schema",
    "xgrammar",
    "outlines",
)
_IDS_FIELD = "return_token_ids"
_PRIORITY_FIELD = "priority"
_UNKNOWN_FIELD_WORDS = (
    "extra",
    "unknown",
    "unrecognized",
    "unexpected",
    "not permitted",
    "unsupported",
)


OPTIONAL_FIELDS = (
    *("seed", "temperature", "top_p", "tool_choice"),
    *("reasoning_effort", "chat_template_kwargs"),
)
"""Fields that a server may refuse and still reply: a reply without them says which."""

_OPTIONAL = re.compile(rf"(?<![a-z_])({'|'.join(OPTIONAL_FIELDS)})(?![a-z_])")
_REFUSAL_WORDS = (
    *_UNKNOWN_FIELD_WORDS,
    *("not supported", "does not support", "only the default", "not allowed", "unsupported"),
)


@dataclass(frozen=True)
class ServerQuirks:
    """The deviations of one server from the others."""

    token_ids: bool = False
    """It may be asked for the ids of tokens."""
    by_priority: bool = False
    """It schedules requests by their priority, of which it is told the rank of their episode."""
    length_field: str = "max_tokens"
    """Its name for the field with the longest reply."""
    structured_modes: dict[str, StructuredMode] = field(default_factory=dict)
    """The mode by which the server follows each schema; other schemas are sent in the most portable mode."""
    left_out: frozenset[str] = frozenset()
    """Those of `OPTIONAL_FIELDS` that it refuses."""

    def structured_mode(self, schema: str) -> StructuredMode:
        """Return how the server is made to follow the schema of this canonical JSON."""
        return self.structured_modes.get(schema, StructuredMode.JSON_SCHEMA)

    def merged_with(self, other: "ServerQuirks") -> "ServerQuirks":
        """Return these quirks with those that another request found."""
        default = ServerQuirks.length_field
        return ServerQuirks(
            token_ids=self.token_ids and other.token_ids,
            by_priority=self.by_priority and other.by_priority,
            length_field=other.length_field if other.length_field != default else self.length_field,
            structured_modes={**self.structured_modes, **other.structured_modes},
            left_out=self.left_out | other.left_out,
        )

    def after_refusal(self, message: str, *, schema: str | None) -> "ServerQuirks | None":
        """Return the quirks to retry with after a refusal with this message; None: no retry helps.

        `schema` is the canonical JSON of the one that was sent; None: none was.
        """
        text = message.lower()
        if self.token_ids and _IDS_FIELD in text:
            return replace(self, token_ids=False)
        if "max_completion_tokens" in text and self.length_field == "max_tokens":
            return replace(self, length_field="max_completion_tokens")
        named = set(_OPTIONAL.findall(text)) - self.left_out
        if named and _contains_any(_REFUSAL_WORDS, text):
            return replace(self, left_out=self.left_out | named)
        if (
            schema
            and self.structured_mode(schema) != StructuredMode.NONE
            and _contains_any(_STRUCTURE_WORDS, text)
        ):
            return replace(
                self,
                structured_modes={
                    **self.structured_modes,
                    schema: self.structured_mode(schema).next,
                },
            )
        if self.token_ids and _contains_any(_UNKNOWN_FIELD_WORDS, text):
            return replace(self, token_ids=False)
        return None


def _contains_any(words: tuple[str, ...], text: str) -> bool:
    return any(word in text for word in words)


class RequestBody:
    """A prompt and its sampling, ready to be written for any server."""

    def __init__(self, prompt: EnginePrompt, sampling: Sampling, *, model: str) -> None:
        self._model = model
        self._sampling = sampling
        self._prompt = prompt
        self._messages = b",".join(map(_encode, native_messages(prompt.messages, prompt.tools)))
        self._schema = prompt.reply_schema and enforceable_schema(prompt.reply_schema)
        self.canonical_schema = canonical_json(self._schema) if self._schema else None
        """The canonical JSON of the schema that is sent; None: none is."""

    def left_out(self, quirks: ServerQuirks) -> tuple[str, ...]:
        """Return the fields that were asked for and that a server with these quirks was not sent."""
        asked = json.loads(self.encode(replace(quirks, left_out=frozenset())))
        return tuple(sorted(quirks.left_out & asked.keys()))

    @property
    def size(self) -> str:
        """The size of the request, in words: its messages in bytes, and its pictures."""
        parts = [part for message in self._prompt.messages for part in message.parts]
        pictures = sum(isinstance(part, Picture) for part in parts)
        return f"a request with {len(self._messages):,} bytes of messages, {pictures} pictures among them,"

    def encode(self, quirks: ServerQuirks, *, rank: int = 0) -> bytes:
        """Return the body of the request for a server with these quirks.

        Where that schedules by priority, requests of a lower `rank` go first.
        """
        sampling = self._sampling
        fields: JsonObject = {
            "model": self._model,
            "temperature": sampling.temperature,
            quirks.length_field: sampling.max_tokens,
        }
        if sampling.top_p is not None:
            fields["top_p"] = sampling.top_p
        if sampling.seed is not None:
            fields["seed"] = sampling.seed
        if sampling.logprobs:
            fields["logprobs"] = True
        if self._prompt.tools:
            fields["tools"] = list(self._prompt.tools)
            fields["tool_choice"] = "required"  # every reply is an action
        if quirks.token_ids:
            fields[_IDS_FIELD] = True
        if quirks.by_priority:
            fields[_PRIORITY_FIELD] = rank
        fields.update(self._structured_fields(quirks))
        fields.update(sampling.extra)
        for name in quirks.left_out:
            fields.pop(name, None)
        return b'{"messages":[%b],%b' % (self._messages, _json(fields)[1:])

    def encode_for_tokenizer(self, *, suffix: bool) -> bytes:
        """Return the body that asks vLLM's `/tokenize` for the prompt's tokens and their strings.

        They end in the generation suffix unless `suffix` is False.
        """
        fields: JsonObject = {
            "model": self._model,
            "add_generation_prompt": suffix,
            "return_token_strs": True,
        }
        if self._prompt.tools:
            fields["tools"] = list(self._prompt.tools)
        return b'{"messages":[%b],%b' % (self._messages, _json(fields)[1:])

    def _structured_fields(self, quirks: ServerQuirks) -> JsonObject:
        if self._schema is None or self.canonical_schema is None:
            return {}
        match quirks.structured_mode(self.canonical_schema):
            case StructuredMode.JSON_SCHEMA:
                named: JsonObject = {
                    "name": self._prompt.schema_name,
                    "schema": self._schema,
                    "strict": True,
                }
                return {"response_format": {"type": "json_schema", "json_schema": named}}
            case StructuredMode.STRUCTURED_OUTPUTS:
                return {
                    "structured_outputs": {"json": self._schema, "disable_any_whitespace": True}
                }
            case StructuredMode.JSON_OBJECT:
                return {"response_format": {"type": "json_object"}}
            case StructuredMode.NONE:
                return {}


def _encode(message: Encoded) -> bytes:
    return _message(message) if isinstance(message, Message) else _json(message)


def _message(message: Message) -> bytes:
    """Return a message in OpenAI's form.

    A single text needs no parts, which some servers lack; an empty text among others is left out, which some refuse.
    """
    role = _json(message.role.value)
    if len(message.parts) == 1 and isinstance(message.parts[0], str):
        return b'{"role":%b,"content":%b}' % (role, _json(message.parts[0]))
    parts = b",".join(_part(part) for part in message.parts if part)
    return b'{"role":%b,"content":[%b]}' % (role, parts)


def _part(part: Part) -> bytes:
    """Return a part; a picture's URL needs no escaping, and looking for what would takes long."""
    if isinstance(part, Picture):
        return b'{"type":"image_url","image_url":{"url":"%b"}}' % part.url.encode("ascii")
    return b'{"type":"text","text":%b}' % _json(part)


def _json(value: JsonValue) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
