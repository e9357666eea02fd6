"""Makes schemas that every server really enforces from a reply's full schema.

Servers follow a JSON schema by a grammar, and grammar makers drop or bend many of its parts, mostly in
silence: under a length limit one lets raw control characters into strings, with a pattern beside it the
limit is ignored, formats and multiples are skipped, an empty schema makes digits without end. So a narrower
schema is sent, which keeps the shape (closed objects, types, enumerations, bounds of integers) and leaves
out unreliable parts. Strings may have all of Unicode's printable characters and are bounded by the tokens
of the reply. This module does not validate: the dialect that wrote the schema checks each reply against the
whole of it.
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from schemas.base import JsonObject


class Unenforceable(ValueError):
    """A schema leaves a place open that no grammar can bound."""


UNRELIABLE = frozenset(
    {
        "contains",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "format",
        "if",
        "maxContains",
        "maxLength",
        "maxProperties",
        "minContains",
        "minLength",
        "minProperties",
        "multipleOf",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    }
)
"""Keywords that at least one server ignores, bends or refuses; left out, and checked by the dialect."""

_ANNOTATIONS = frozenset({"$comment", "default", "deprecated", "discriminator", "examples"})
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED_SCHEMAS = ("$defs", "definitions", "properties")


def enforceable_schema(schema: Mapping[str, JsonValue]) -> JsonObject:
    """Return the schema to send for `schema`.

    Raises:
        Unenforceable: a place in it is open (an empty schema, an object of any keys, an array of
            anything, a pattern that looks around), or it refers outside itself.
    """
    return _narrow(schema, "$")


def unenforced_keywords(schema: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the paths of the parts of `schema` that are not sent, so that they can be checked."""
    return tuple(sorted(_find_unenforced(schema, "$")))


def _narrow(schema: Mapping[str, JsonValue], path: str) -> JsonObject:
    _refuse_open(schema, path)
    out: JsonObject = {}
    for key, value in schema.items():
        if key in UNRELIABLE or key in _ANNOTATIONS:
            continue
        # Some makers know only `anyOf`, and for a union of closed objects both say the same.
        out["anyOf" if key == "oneOf" else key] = _narrow_value(key, value, f"{path}.{key}")
    if "properties" in out:
        out["additionalProperties"] = False
    return out


def _narrow_value(key: str, value: JsonValue, path: str) -> JsonValue:
    if key in _NAMED_SCHEMAS and isinstance(value, dict):
        return {name: _narrow_part(inner, f"{path}.{name}") for name, inner in value.items()}
    if key in _LISTS_OF_SCHEMAS and isinstance(value, list):
        return [_narrow_part(inner, f"{path}[{place}]") for place, inner in enumerate(value)]
    if key == "items":
        return _narrow_part(value, path)
    return value


def _narrow_part(schema: JsonValue, path: str) -> JsonObject:
    if not isinstance(schema, dict):
        raise Unenforceable(f"{path}: {schema!r} allows anything or nothing; write a schema")
    return _narrow(schema, path)


def _refuse_open(schema: Mapping[str, JsonValue], path: str) -> None:
    """Refuse a schema that leaves its place open."""
    problem = None
    reference = schema.get("$ref")
    pattern = schema.get("pattern")
    if not set(schema) - _ANNOTATIONS - UNRELIABLE - {"description", "title"}:
        problem = "an empty schema lets a model write without end; give a type"
    elif isinstance(reference, str) and not reference.startswith("#"):
        problem = f"'{reference}' lies outside the schema; put it under $defs"
    elif schema.get("type") == "object" and not schema.get("properties"):
        problem = "an object of any keys cannot be bounded; name its properties"
    elif "patternProperties" in schema or isinstance(schema.get("additionalProperties"), dict):
        problem = "keys by pattern are dropped by some servers; name the properties"
    elif schema.get("type") == "array" and not ({"items", "prefixItems"} & set(schema)):
        problem = "an array of anything cannot be bounded; give its items"
    elif isinstance(pattern, str) and "(?" in pattern:
        problem = f"'{pattern}' looks around, which some servers read as something else"
    if problem:
        raise Unenforceable(f"{path}: {problem}")


def _find_unenforced(schema: Mapping[str, JsonValue], path: str) -> Iterator[str]:
    yield from (f"{path}.{key}" for key in schema if key in UNRELIABLE)
    for key, value in schema.items():
        if key in _NAMED_SCHEMAS and isinstance(value, dict):
            inner = {f"{key}.{name}": found for name, found in value.items()}
        elif key in _LISTS_OF_SCHEMAS and isinstance(value, list):
            inner = {f"{key}[{place}]": found for place, found in enumerate(value)}
        elif key == "items":
            inner = {key: value}
        else:
            continue
        for name, found in inner.items():
            if isinstance(found, dict):
                yield from _find_unenforced(found, f"{path}.{name}")
