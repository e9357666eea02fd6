"""Messages of a model that calls tools by OpenAI's own fields, made of their text.

A reply in the tags of `call_text` becomes a message with `tool_calls`, and the result at the beginning of the
user's next message a message of the role `tool`. A call without a result, as one that could not be carried out
because its reply was unreadable, stays the text that it is: servers refuse a call that nothing answers.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from pydantic import JsonValue

from generators.engine.call_text import (
    CALL_TAG,
    RESPONSE_END,
    RESPONSE_TAG,
    read_calls,
    read_value,
    takes_text,
)
from generators.engine.protocol import Message, Role
from schemas.base import JsonObject

Encoded = Message | JsonObject
"""A message to be encoded as usual, or one in OpenAI's form already."""


def native_messages(
    messages: Sequence[Message], functions: Sequence[JsonObject]
) -> Iterator[Encoded]:
    """Yield the messages, with calls and their results in OpenAI's fields; without functions as they are."""
    if not functions:
        yield from messages
        return
    schemas = dict(map(_parameters, functions))
    answers: str | None = None
    for number, (message, after) in enumerate(pairwise((*messages, None))):
        assert message is not None  # noqa: S101 - only the last of a pair is none
        if answers is not None:
            result, _, rest = _first_text(message)[len(RESPONSE_TAG) :].partition(RESPONSE_END)
            yield {"role": "tool", "tool_call_id": answers, "content": result.strip("\n")}
            answers, parts = None, (rest.lstrip("\n"), *message.parts[1:])
            if parts != ("",):
                yield message.model_copy(update={"parts": parts})
            continue
        text = _first_text(message)
        calls = read_calls(text) if message.role is Role.ASSISTANT else []
        answered = after is not None and _first_text(after).startswith(RESPONSE_TAG)
        if len(calls) != 1 or not answered:
            yield message
            continue
        answers = f"call_{number}"
        yield _with_call(text, answers, calls[0], schemas)


def _with_call(
    text: str,
    call_id: str,
    call: tuple[str, dict[str, str]],
    schemas: Mapping[str, Mapping[str, JsonValue]],
) -> JsonObject:
    name, values = call
    takes = schemas.get(name, {})
    arguments: JsonObject = {
        key: read_value(value, is_text=takes_text(takes.get(key))) for key, value in values.items()
    }
    function: JsonObject = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    before = text.partition(CALL_TAG)[0].strip()
    return {
        "role": Role.ASSISTANT.value,
        "content": before,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def _parameters(function: JsonObject) -> tuple[str, Mapping[str, JsonValue]]:
    """Return a tool's name and the schemas of its arguments."""
    about = function.get("function")
    assert isinstance(about, dict)  # noqa: S101 - tools are in OpenAI's form
    parameters = about.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return str(about.get("name")), properties if isinstance(properties, dict) else {}


def _first_text(message: Message) -> str:
    first = message.parts[0] if message.parts else ""
    return first if isinstance(first, str) else ""
