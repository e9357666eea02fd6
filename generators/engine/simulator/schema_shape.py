"""What a JSON schema may look like here: each keyword that is understood, and the form of its value.

Anything else is refused by its name when a request comes in, as a server does whose grammar lacks
a keyword; a constraint that is silently dropped would be worse than none.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from generators.engine.simulator.http_errors import HttpRefusal
from schemas.base import JsonObject

KINDS = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})
ANNOTATIONS = frozenset(
    {"$schema", "$id", "$defs", "definitions", "$comment", "title", "description", "default"}
    | {"examples", "deprecated", "readOnly", "writeOnly", "discriminator", "format", "nullable"}
)
"""Keywords that leave the values as they are, but for the definitions that others refer to."""


def check(root: JsonObject) -> None:
    """Refuse a schema that says what is not understood.

    Raises:
        HttpRefusal: it does; the message names the keywords.
    """
    strange: set[str] = set()
    for part in _parts(root):
        strange |= part.keys() - _FORMS.keys() - ANNOTATIONS
        odd = [key for key, value in part.items() if not _FORMS.get(key, _anything)(value)]
        if odd:
            raise HttpRefusal(400, f"Grammar error: {odd[0]} cannot be {part[odd[0]]!r}")
    if strange:
        raise HttpRefusal(400, f"Grammar error: Unimplemented keys: {sorted(strange)}")


def _parts(root: JsonObject) -> Iterator[JsonObject]:
    """Yield a schema and every schema in it."""
    waiting: list[JsonValue] = [root]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        yield part
        for key in _HOLDERS & part.keys():
            inner = part[key]
            if isinstance(inner, list):
                waiting += inner
            elif key in _NAMED and isinstance(inner, dict):
                waiting += inner.values()
            else:
                waiting.append(inner)


def _anything(_: JsonValue) -> bool:
    return True


def _schema(value: JsonValue) -> bool:
    return isinstance(value, dict | bool)


def _schemas(value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_schema, value))


def _named_schemas(value: JsonValue) -> bool:
    return isinstance(value, dict) and all(map(_schema, value.values()))


def _number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _positive(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _count(value: JsonValue) -> bool:
    return value == 0 or _positive(value)


def _kind(value: JsonValue) -> bool:
    kinds = value if isinstance(value, list) else [value]
    return bool(kinds) and all(isinstance(kind, str) and kind in KINDS for kind in kinds)


def _names(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _some(value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value)


def _pattern(value: JsonValue) -> bool:
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except re.error:
        return False


_FORMS: Mapping[str, Callable[[JsonValue], bool]] = {
    "type": _kind,
    "enum": _some,
    "const": _anything,
    "$ref": lambda value: isinstance(value, str),
    "$defs": _named_schemas,
    "definitions": _named_schemas,
    "properties": _named_schemas,
    "required": _names,
    "pattern": _pattern,
    "multipleOf": _positive,
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _schemas),
    **dict.fromkeys(("items", "additionalProperties"), _schema),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _count),
    **dict.fromkeys(("minProperties", "maxProperties"), _count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
}
_NAMED = frozenset({"properties", "$defs", "definitions"})
_HOLDERS = _NAMED | {"anyOf", "oneOf", "allOf", "prefixItems", "items", "additionalProperties"}
