"""What a JSON schema demands, resolved: what a place of it allows, and where its branches lead."""

import math

from pydantic import JsonValue

from generators.engine.simulator.constraints import Wishes
from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.schema_shape import ANNOTATIONS, check
from schemas.base import JsonObject

CHAIN = 16
"""How many references may follow one another."""

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
        """Take a schema in.

        Raises:
            HttpRefusal: it says what is not understood.
        """
        check(root)
        self.root = root

    def resolved(self, schema: JsonValue) -> JsonObject:
        """Return a schema with its references and its `allOf` merged in."""
        if not isinstance(schema, dict):
            if schema is False:
                raise HttpRefusal(400, "Grammar error: nothing is valid under `false`")
            return {}
        for _ in range(CHAIN):
            if "$ref" not in schema and "allOf" not in schema:
                return schema
            beside = {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}
            merged: JsonObject = {}
            together = schema.get("allOf")
            for part in together if isinstance(together, list) else ():
                merged |= self.resolved(part)
            if "$ref" in schema:
                merged |= self._named(str(schema["$ref"]))
            schema = merged | beside
        raise HttpRefusal(400, "Grammar error: a reference leads back to itself")

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
            if key not in {"anyOf", "oneOf"} and key not in ANNOTATIONS
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


def _demanded(schema: JsonObject) -> list[JsonValue]:
    """Return the schemas of which every value of a resolved schema holds a value."""
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        return [properties[name] for name in map(str, required) if name in properties]
    return _items(schema) if schema.get("minItems") else []


def _items(schema: JsonObject) -> list[JsonValue]:
    first, rest = schema.get("prefixItems"), schema.get("items")
    return [*(first if isinstance(first, list) else ()), *([rest] if rest is not None else ())]
