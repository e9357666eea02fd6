"""JSON schemas of replies, in the few words that every server's grammar really enforces.

What is not here is left out on purpose: a bare `maxLength` lets control characters through some
grammars, a `pattern` beside a length switches the length off, and `format`, `multipleOf` and
`uniqueItems` are refused or ignored. Free text is a plain string: how long it gets is bounded by
the reply's tokens and looked at when the reply is read.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from schemas.base import JsonObject

_WITHIN_TEXT = "[ !#-\\[\\]-~\u00a1-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""A printable character that JSON spells as itself: no quotation mark, no backslash."""


def text(limit: int | None = None) -> JsonObject:
    """Return the schema of free text; `limit` bounds it where tokens alone do not.

    A bounded text has no quotation mark and no backslash, as grammars differ in whether a
    pattern means the text or its spelling in JSON.
    """
    if limit is None:
        return {"type": "string"}
    return {"type": "string", "pattern": f"^{_WITHIN_TEXT}{{0,{limit}}}$"}


def whole(least: int, most: int) -> JsonObject:
    """Return the schema of a whole number within bounds."""
    return {"type": "integer", "minimum": least, "maximum": most}


def number(least: float, most: float) -> JsonObject:
    """Return the schema of a number within bounds."""
    return {"type": "number", "minimum": least, "maximum": most}


def choice(of: Sequence[str]) -> JsonObject:
    """Return the schema of one word out of a few."""
    return {"type": "string", "enum": list(of)}


def flag() -> JsonObject:
    """Return the schema of yes or no."""
    return {"type": "boolean"}


def several(item: JsonObject, *, least: int, most: int) -> JsonObject:
    """Return the schema of a list with so many items."""
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


def nullable(schema: JsonObject) -> JsonObject:
    """Return the schema of what `schema` allows, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def either(schemas: Sequence[JsonObject]) -> JsonObject:
    """Return the schema of what any of `schemas` allows."""
    return {"anyOf": [dict(schema) for schema in schemas]}


def form(properties: Mapping[str, JsonObject]) -> JsonObject:
    """Return the schema of an object with just these properties, all there, in this order."""
    named: dict[str, JsonValue] = {name: dict(schema) for name, schema in properties.items()}
    return {
        "type": "object",
        "properties": named,
        "required": list(properties),
        "additionalProperties": False,
    }
