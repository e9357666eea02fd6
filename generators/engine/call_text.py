"""Calls of tools as text, in the form in which Qwen3.5's chat template writes them.

A conversation is text and pictures everywhere in this program: in prompts, in recorded calls and in training
rows. A model that calls tools by OpenAI's own fields is no exception: its call is a text in the very tags that its
template makes of those fields, and the client makes the fields of the text again. In a value, tags of this
form have an entity in place of their bracket, which stays there: no page's text can end a value.
"""

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

from schemas.base import JsonObject

CALL_TAG = "<tool_call>"
"""Begins a call."""

RESPONSE_TAG = "<tool_response>"
"""Begins what a call gave back."""

RESPONSE_END = "</tool_response>"
"""Ends it."""

_CALL = re.compile(
    r"<tool_call>\s*<function=(?P<name>[^>\n]{1,80})>\n?(?P<rest>.*?)</function>\s*</tool_call>",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"<parameter=(?P<name>[^>\n]{1,80})>\n?(?P<value>.*?)\n?</parameter>\n?", re.DOTALL
)
_WORDS: Mapping[str, JsonValue] = {"true": True, "false": False, "none": None, "null": None}


def write_call(name: str, arguments: JsonObject) -> str:
    """Return a call as the template writes it; an argument without a value is left out."""
    values = "".join(
        f"<parameter={key}>\n{_write_value(value)}\n</parameter>\n"
        for key, value in arguments.items()
        if value is not None
    )
    return f"{CALL_TAG}\n<function={name}>\n{values}</function>\n</tool_call>"


def write_response(text: str) -> str:
    """Return what a call gave back, as the template writes it."""
    return f"{RESPONSE_TAG}\n{text}\n{RESPONSE_END}\n"


def read_calls(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the name of each call of a text, and its arguments as they are written."""
    return [
        (
            found["name"],
            {part["name"]: part["value"] for part in _PARAMETER.finditer(found["rest"])},
        )
        for found in _CALL.finditer(text)
    ]


def read_value(text: str, *, is_text: bool) -> JsonValue:
    """Return the value of an argument; `is_text` is whether its tool takes a text there."""
    if is_text:
        return text
    if text.strip().lower() in _WORDS:
        return _WORDS[text.strip().lower()]
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def takes_text(schema: JsonValue) -> bool:
    """Return whether an argument of this JSON schema is a text, if it is not null; what a schema refers to is one."""
    if not isinstance(schema, dict) or "$ref" in schema:
        return True
    options = schema.get("anyOf")
    if isinstance(options, list):
        return any(isinstance(one, dict) and one.get("type") == "string" for one in options)
    return schema.get("type") == "string"


def _write_value(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
