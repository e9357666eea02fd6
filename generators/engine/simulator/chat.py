"""A chat request as the engine understands it, and everything for which it refuses one.

It reads the fields of OpenAI's chat completions and the few of vLLM's that change a reply; others
are ignored, as those servers do.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.pictures import ImageCache, PromptImage
from schemas.base import JsonObject

SCHEMA_FIELDS = ("response_format", "structured_outputs", "guided_json")
"""Where a request may say the schema of its reply."""


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
class Turn:
    """One message."""

    role: ChatRole
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Its texts."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True)
class Chat:
    """A request for a reply."""

    model: str
    turns: tuple[Turn, ...]
    schema: JsonObject | None = None
    """What the reply must follow; None: free text."""
    tools: tuple[JsonObject, ...] = ()
    """Function tools that it may call."""
    max_tokens: int | None = None
    """The longest reply, tokens; None: what fits."""
    seed: int | None = None
    """Of the draw; None: not said."""
    stream: bool = False
    stream_usage: bool = False
    logprobs: bool = False
    token_ids: bool = False
    """Tokens are sent along."""

    @property
    def images(self) -> tuple[PromptImage, ...]:
        """In order."""
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
) -> Chat:
    """Return the chat that a request's body asks for; `deaf_to` names schema fields to ignore.

    Raises:
        HttpRefusal: it asks for nothing that can be answered.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise HttpRefusal(400, "messages: a list of at least one message is required")
    if body.get("n", 1) not in (None, 1):
        raise HttpRefusal(400, "n: only one reply is given here")
    options = body.get("stream_options")
    return Chat(
        model=str(body.get("model") or model),
        turns=tuple(_turn(message, pictures) for message in messages),
        schema=_schema(body, set(ignored_fields)),
        tools=_tools(body),
        max_tokens=_max_tokens(body),
        seed=seed if isinstance(seed := body.get("seed"), int) else None,
        stream=body.get("stream") is True,
        stream_usage=isinstance(options, dict) and options.get("include_usage") is True,
        logprobs=body.get("logprobs") is True,
        token_ids=body.get("return_token_ids") is True,
    )


def _turn(message: JsonValue, pictures: ImageCache) -> Turn:
    if not isinstance(message, dict) or message.get("role") not in tuple(ChatRole):
        raise HttpRefusal(400, f"messages: a message needs one of the roles {', '.join(ChatRole)}")
    content = message.get("content")
    parts = content if isinstance(content, list) else [content or ""]
    calls = [message["tool_calls"]] if message.get("tool_calls") else []
    return Turn(
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


def _schema(body: JsonObject, deaf_to: set[str]) -> JsonObject | None:
    for field in SCHEMA_FIELDS:
        said = body.get(field)
        if field in deaf_to or said is None:
            continue
        schema = said if field == "guided_json" else _inner(field, said)
        if isinstance(schema, dict):
            return schema
    return None


def _inner(field: str, said: JsonValue) -> JsonValue:
    if not isinstance(said, dict):
        raise HttpRefusal(400, f"{field}: an object is required")
    if field == "structured_outputs":
        return {"type": "object"} if said.get("json_object") else said.get("json")
    match said.get("type"):
        case "json_schema":
            named = said.get("json_schema")
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
    said = body.get("max_completion_tokens")
    said = body.get("max_tokens") if said is None else said
    if said is None:
        return None
    if not isinstance(said, int) or isinstance(said, bool) or said < 1:
        raise HttpRefusal(400, f"max_tokens must be at least 1, got {said}.")
    return said
