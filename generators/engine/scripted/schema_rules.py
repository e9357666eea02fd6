"""What a JSON schema demands, resolved: which keywords are understood, and where a branch leads.

Anything that is not understood is refused by its name when a request comes in, as a server whose
grammar lacks a keyword does; a constraint that is silently dropped would be worse than none.
"""

import math
from collections.abc import Iterator
from typing import cast

from pydantic import JsonValue

from generators.engine.scripted.refusals import HttpRefusal
from generators.engine.scripted.wishes import Wishes
from schemas.base import JsonObject

_ANNOTATIONS = frozenset(
    {"$schema", "$id", "$defs", "definitions", "$comment", "title", "description", "default"}
    | {"examples", "deprecated", "readOnly", "writeOnly", "discriminator", "format", "nullable"}
)
_UNDERSTOOD = _ANNOTATIONS | {
    *("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"),
    *("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
    *("items", "prefixItems", "minItems", "maxItems"),
    *("minLength", "maxLength", "pattern"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_NAMED = frozenset({"properties", "$defs", "definitions"})
_HOLDERS = _NAMED | {"anyOf", "oneOf", "allOf", "prefixItems", "items", "additionalProperties"}
_BY_KEYWORD = {
    "properties": "object",
    "required": "object",
    "additionalProperties": "object",
    "items": "array",
    "prefixItems": "array",
    "minItems": "array",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
}


class SchemaRules:
    """Answers what is demanded at any place of one schema."""

    def __init__(self, root: JsonObject) -> None:
        self.root = root

    def check(self) -> None:
        """Refuse a schema that says what is not understood.

        Raises:
            HttpRefusal: it does; the message names the keywords.
        """
        strange = {key for part in _parts(self.root) for key in part if key not in _UNDERSTOOD}
        if strange:
            raise HttpRefusal(400, f"Grammar error: Unimplemented keys: {sorted(strange)}")

    def resolved(self, schema: JsonValue) -> JsonObject:
        """Return a schema with its references and its `allOf` merged in."""
        if not isinstance(schema, dict):
            if schema is False:
                raise HttpRefusal(400, "Grammar error: nothing is valid under `false`")
            return {}
        while "$ref" in schema or "allOf" in schema:
            beside = {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}
            merged: JsonObject = {}
            for part in cast("list[JsonValue]", schema.get("allOf", [])):
                merged |= self.resolved(part)
            if "$ref" in schema:
                merged |= self._named(str(schema["$ref"]))
            schema = merged | beside
        return schema

    def _named(self, reference: str) -> JsonObject:
        found: JsonValue = self.root
        for name in reference.removeprefix("#").split("/")[1:]:
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise HttpRefusal(400, f"Grammar error: {reference} leads nowhere")
        return found

    def branches(self, schema: JsonObject) -> list[JsonValue]:
        """Return what a resolved schema leaves the choice of, each with what stands beside it."""
        options = schema.get("anyOf", schema.get("oneOf"))
        if not isinstance(options, list):
            return []
        beside = {
            key: value
            for key, value in schema.items()
            if key not in {"anyOf", "oneOf"} and key not in _ANNOTATIONS
        }
        return [beside | self.resolved(option) for option in options] if beside else options

    def kinds(self, schema: JsonObject) -> list[str]:
        """Return the types that a resolved schema allows."""
        said = schema.get("type")
        if isinstance(said, list):
            return [str(kind) for kind in said]
        if said is not None:
            return [str(said)]
        return [next((kind for key, kind in _BY_KEYWORD.items() if key in schema), "string")]

    def depth(self, schema: JsonValue, seen: frozenset[str] = frozenset()) -> float:
        """Return how deep the shallowest value of a schema is; infinite if it must hold itself."""
        if isinstance(schema, dict) and "$ref" in schema:
            name = str(schema["$ref"])
            if name in seen:
                return math.inf
            seen |= {name}
        whole = self.resolved(schema)
        if branches := self.branches(whole):
            return 1 + min(self.depth(branch, seen) for branch in branches)
        return 1 + max((self.depth(part, seen) for part in _demanded(whole)), default=0)

    def grants(self, schema: JsonValue, wishes: Wishes, seen: frozenset[str] = frozenset()) -> bool:
        """Say whether a value of a schema can hold what is wished for."""
        if isinstance(schema, dict) and "$ref" in schema:
            name = str(schema["$ref"])
            if name in seen:
                return False
            seen |= {name}
        whole = self.resolved(schema)
        properties = whole.get("properties")
        named = properties if isinstance(properties, dict) else {}
        inner = [*named.values(), *self.branches(whole), *_items(whole)]
        return any(map(wishes.granted_by, named)) or any(
            self.grants(part, wishes, seen) for part in inner
        )


def _parts(schema: JsonObject) -> Iterator[JsonObject]:
    """Yield a schema and every schema in it."""
    waiting: list[JsonValue] = [schema]
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


def _demanded(schema: JsonObject) -> list[JsonValue]:
    """Return the schemas of which every value of a resolved schema holds a value."""
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        return [properties[name] for name in map(str, required) if name in properties]
    return _items(schema) if schema.get("minItems") else []


def _items(schema: JsonObject) -> list[JsonValue]:
    first, rest = schema.get("prefixItems"), schema.get("items")
    return [*(first if isinstance(first, list) else ()), *([rest] if rest is not None else ())]
