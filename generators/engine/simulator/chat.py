"""A chat request as the simulator understands it, and everything for which it refuses one.

It reads the fields of OpenAI's chat completions and the few of vLLM's that change a reply, and
ignores others, as those servers do. It refuses other models, too many pictures, prompts that do not
fit, and on demand the fields that a stricter server does not know.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.pictures import ImageCache, PromptImage
from schemas.base import JsonObject

SCHEMA_FIELDS = ("response_format", "structured_outputs", "guided_json")
"""Fields in which a request may give the schema of its reply."""

OPENAI_FIELDS = frozenset(
    {
        *("messages", "model", "stream", "stream_options", "n", "stop", "user", "store"),
        *("metadata", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort"),
        *("max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "logit_bias"),
        *("frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "response_format"),
        *("service_tier", "modalities", "prediction", "audio", "verbosity", "safety_identifier"),
    }
)
"""Fields of OpenAI's API, which a strict server accepts."""


class ChatRole(StrEnum):
    """Who speaks in a turn."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    DEVELOPER = "developer"


Part = str | PromptImage
"""A piece of a turn."""


@dataclass(frozen=True)
class ChatTurn:
    """One message."""

    role: ChatRole
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Its texts."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True)
class ChatRequest:
    """A request for a reply."""

    model: str
    turns: tuple[ChatTurn, ...]
    schema: JsonObject | None = None
    """The schema that the reply must follow; None: free text."""
    tools: tuple[JsonObject, ...] = ()
    """Function tools that it may call."""
    max_tokens: int | None = None
    """The longest reply, tokens; None: what fits."""
    seed: int | None = None
    """Seed of the draw; None: the request has none."""
    priority: int = 0
    """Where a server schedules by it, lower ones go first."""
    stream: bool = False
    stream_usage: bool = False
    logprobs: bool = False
    token_ids: bool = False
    """The response lists token ids."""

    @property
    def images(self) -> tuple[PromptImage, ...]:
        """The pictures in order."""
        return tuple(
            part for turn in self.turns for part in turn.parts if isinstance(part, PromptImage)
        )

    @property
    def system_text(self) -> str:
        """The text of the system's turns."""
        return "\n".join(turn.text for turn in self.turns if turn.role is ChatRole.SYSTEM)

    @property
    def last_user_text(self) -> str:
        """The text of the last turn of the user."""
        return next((turn.text for turn in reversed(self.turns) if turn.role is ChatRole.USER), "")


def read_chat(
    body: JsonObject,
    pictures: ImageCache,
    *,
    ignored_fields: Iterable[str] = (),
    model: str = "scripted",
) -> ChatRequest:
    """Return the chat that a request's body asks for; `ignored_fields` are fields of a schema.

    Raises:
        HttpRefusal: it asks for nothing that can be answered.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise HttpRefusal(400, "messages: a list of at least one message is required")
    if body.get("n", 1) not in (None, 1):
        raise HttpRefusal(400, "n: only one reply is given here")
    options = body.get("stream_options")
    return ChatRequest(
        model=str(body.get("model") or model),
        turns=tuple(_turn(message, pictures) for message in messages),
        schema=_schema(body, set(ignored_fields)),
        tools=_tools(body),
        max_tokens=_max_tokens(body),
        seed=seed if isinstance(seed := body.get("seed"), int) else None,
        priority=rank if isinstance(rank := body.get("priority"), int) else 0,
        stream=body.get("stream") is True,
        stream_usage=isinstance(options, dict) and options.get("include_usage") is True,
        logprobs=body.get("logprobs") is True,
        token_ids=body.get("return_token_ids") is True,
    )


def _turn(message: JsonValue, pictures: ImageCache) -> ChatTurn:
    if not isinstance(message, dict) or message.get("role") not in tuple(ChatRole):
        raise HttpRefusal(400, f"messages: a message needs one of the roles {', '.join(ChatRole)}")
    content = message.get("content")
    parts = content if isinstance(content, list) else [content or ""]
    calls = [message["tool_calls"]] if message.get("tool_calls") else []
    return ChatTurn(
        ChatRole(str(message["role"])),
        (*(_part(part, pictures) for part in parts), *map(str, calls)),
    )


def _part(part: JsonValue, pictures: ImageCache) -> Part:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text, image = part.get("text"), part.get("image_url")
        if part.get("type") == "text" and isinstance(text, str):
            return text
        if part.get("type") == "image_url" and isinstance(image, dict):
            return pictures.read(str(image.get("url")))
    raise HttpRefusal(400, "messages: a content part is a text or an image_url with its url")


def _schema(body: JsonObject, ignored_fields: Collection[str]) -> JsonObject | None:
    for field in SCHEMA_FIELDS:
        value = body.get(field)
        if field in ignored_fields or value is None:
            continue
        schema = value if field == "guided_json" else _nested_schema(field, value)
        if isinstance(schema, dict):
            return schema
    return None


def _nested_schema(field: str, value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        raise HttpRefusal(400, f"{field}: an object is required")
    if field == "structured_outputs":
        return {"type": "object"} if value.get("json_object") else value.get("json")
    match value.get("type"):
        case "json_schema":
            named = value.get("json_schema")
            if not isinstance(named, dict) or not isinstance(named.get("schema"), dict):
                raise HttpRefusal(400, "response_format: json_schema needs its schema")
            return named["schema"]
        case "json_object":
            return {"type": "object"}
        case "text":
            return None
    raise HttpRefusal(400, "response_format: type is text, json_object or json_schema")


def _tools(body: JsonObject) -> tuple[JsonObject, ...]:
    tools = body.get("tools") or []
    if body.get("tool_choice") == "none":
        return ()
    if not isinstance(tools, list) or not all(
        isinstance(tool, dict) and isinstance(tool.get("function"), dict) for tool in tools
    ):
        raise HttpRefusal(400, "tools: a list of function tools is required")
    return tuple(tool for tool in tools if isinstance(tool, dict))


def _max_tokens(body: JsonObject) -> int | None:
    limit = body.get("max_completion_tokens")
    limit = body.get("max_tokens") if limit is None else limit
    if limit is None:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise HttpRefusal(400, f"max_tokens must be at least 1, got {limit}.")
    return limit


def check_chat(
    chat: ChatRequest, prompt_tokens: int, options: SimulatorOptions, *, text_only: bool
) -> None:
    """Refuse a chat that the simulator cannot serve.

    Raises:
        HttpRefusal: it names another model, has too many pictures or does not fit the context.
    """
    if chat.model != options.model:
        raise HttpRefusal(404, f"The model `{chat.model}` does not exist.")
    max_pictures = 0 if text_only else options.max_pictures
    if max_pictures is not None and len(chat.images) > max_pictures:
        raise HttpRefusal(
            400,
            f"At most {max_pictures} image(s) may be provided in one prompt."
            if max_pictures
            else f"The model `{chat.model}` does not support image input.",
        )
    context = options.context_tokens
    if prompt_tokens >= context:
        raise HttpRefusal(
            400,
            f"This model's maximum context length is {context} tokens. However, your request has"
            f" {prompt_tokens} input tokens. Please reduce the length of the input messages.",
        )
    if chat.max_tokens is not None and prompt_tokens + chat.max_tokens > context:
        raise HttpRefusal(
            400,
            f"'max_tokens' or 'max_completion_tokens' is too large: {chat.max_tokens}. This model's"
            f" maximum context length is {context} tokens and your request has {prompt_tokens} input tokens"
            f" ({chat.max_tokens} > {context} - {prompt_tokens}).",
        )


def check_fields(body: JsonObject, refused: Collection[str]) -> None:
    """Refuse a body with a field of `refused`, or where that is empty one that is not OpenAI's.

    Raises:
        HttpRefusal: it has one; the message names it.
    """
    for field in body:
        if field in refused if refused else field not in OPENAI_FIELDS:
            raise HttpRefusal(400, f"Unrecognized request argument supplied: {field}")
