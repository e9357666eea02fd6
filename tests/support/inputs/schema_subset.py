"""A reader of the few words of JSON schema that a reply's schema may use, and of no other.

It fails on any other word, so a schema that passes here says only what every server enforces.
"""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from schemas.base import JsonObject

_WORDS = {
    "object": {"type", "properties", "required", "additionalProperties", "$defs"},
    "array": {"type", "items", "minItems", "maxItems"},
    "integer": {"type", "minimum", "maximum"},
    "number": {"type", "minimum", "maximum"},
    "boolean": {"type"},
    "null": {"type"},
}


def _plain(value: object) -> str:
    assert isinstance(value, str)
    return value


def _schema(value: object) -> JsonObject:
    assert isinstance(value, dict)
    assert value, "an empty schema lets anything through"
    return value


def check(schema: JsonObject, definitions: Mapping[str, JsonObject] | None = None) -> None:
    """Assert that a schema uses only words that are really enforced."""
    if "$ref" in schema or "anyOf" in schema:
        assert len(schema) == 1
        for option in _options(schema, definitions or {}):
            check(option, definitions)
        return
    kind = _plain(schema["type"])
    if kind == "string":
        assert set(schema) in ({"type"}, {"type", "enum"}, {"type", "pattern"})
        return
    assert set(schema) <= _WORDS[kind], f"{kind}: {set(schema) - _WORDS[kind]}"
    if kind == "object":
        below = _definitions(schema) or definitions
        properties = _schema(schema["properties"])
        assert schema["required"] == list(properties)
        assert schema["additionalProperties"] is False
        for value in properties.values():
            check(_schema(value), below)
    elif kind == "array":
        check(_schema(schema["items"]), definitions)
    elif kind in ("integer", "number"):
        assert {"minimum", "maximum"} <= set(schema)


def allows(
    schema: JsonObject, value: JsonValue, definitions: Mapping[str, JsonObject] | None = None
) -> bool:
    """Return whether a schema allows a value, its properties in the schema's own order."""
    if "$ref" in schema or "anyOf" in schema:
        options = _options(schema, definitions or {})
        return any(allows(option, value, definitions) for option in options)
    allowed = False
    match schema["type"], value:
        case "object", dict():
            allowed = _allows_object(schema, value, _definitions(schema) or definitions)
        case "array", list():
            items = _schema(schema["items"])
            allowed = _number(schema["minItems"]) <= len(value) <= _number(schema["maxItems"])
            allowed = allowed and all(allows(items, part, definitions) for part in value)
        case "string", str():
            words = schema.get("enum")
            allowed = bool(re.search(_plain(schema.get("pattern", "")), value))
            allowed = allowed and (not isinstance(words, list) or value in words)
        case "integer" | "number", int() | float() if not isinstance(value, bool):
            allowed = isinstance(value, int) or schema["type"] == "number"
            least, most = _number(schema["minimum"]), _number(schema["maximum"])
            allowed = allowed and least <= value <= most
        case kind, _:
            allowed = (kind, value) == ("null", None) or (
                kind == "boolean" and isinstance(value, bool)
            )
    return allowed


def _allows_object(
    schema: JsonObject, value: JsonObject, definitions: Mapping[str, JsonObject] | None
) -> bool:
    properties = _schema(schema["properties"])
    return list(value) == list(properties) and all(
        allows(_schema(properties[name]), part, definitions) for name, part in value.items()
    )


def _options(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> list[JsonObject]:
    if "$ref" in schema:
        return [definitions[_plain(schema["$ref"]).removeprefix("#/$defs/")]]
    options = schema["anyOf"]
    assert isinstance(options, list)
    return [_schema(option) for option in options]


def _definitions(schema: JsonObject) -> dict[str, JsonObject]:
    named = schema.get("$defs", {})
    assert isinstance(named, dict)
    return {name: _schema(value) for name, value in named.items()}


def _number(value: JsonValue) -> float:
    assert isinstance(value, int | float)
    return value
