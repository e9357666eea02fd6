"""JSON schemas of replies, in the few keywords that every server's grammar enforces.

Other keywords are left out on purpose: a bare `maxLength` lets control characters through some
grammars, a `pattern` beside a length switches the length off, and `format`, `multipleOf` and
`uniqueItems` are refused or ignored. Free text is a plain string: the reply's tokens bound its
length, and the parser checks its characters.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from schemas.base import JsonObject

_WITHIN_TEXT = "[ !#-\\[\\]-~\u00a1-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""A printable character that JSON does not escape: no quotation mark, no backslash."""


def text_schema(limit: int | None = None) -> JsonObject:
    """Return the schema of free text; `limit` bounds it where tokens alone do not.

    A bounded text has no quotation mark and no backslash, because grammars differ in whether a
    pattern is of the text or of its JSON form.
    """
    if limit is None:
        return {"type": "string"}
    return {"type": "string", "pattern": f"^{_WITHIN_TEXT}{{0,{limit}}}$"}


def nullable(schema: JsonObject) -> JsonObject:
    """Return the schema of what `schema` allows, or null."""
    return any_of((schema, {"type": "null"}))


def any_of(schemas: Sequence[JsonObject]) -> JsonObject:
    """Return the schema of what any of `schemas` allows."""
    return {"anyOf": [dict(schema) for schema in schemas]}


def object_schema(properties: Mapping[str, JsonObject]) -> JsonObject:
    """Return the schema of an object with exactly these properties, all required, in this order."""
    named: dict[str, JsonValue] = {name: dict(schema) for name, schema in properties.items()}
    return {
        "type": "object",
        "properties": named,
        "required": list(properties),
        "additionalProperties": False,
    }
