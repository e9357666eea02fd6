"""Made-up values that are valid under a reply's JSON schema: random, but the same for the same seed.

It knows the keywords that the dialects use, skips those that only annotate, and refuses every other
by name, as a server does whose grammar lacks a keyword: a constraint that is silently dropped would
be worse than none. Points lie
within the picture, and a point that was asked for is named where the schema has room for it.
`oneOf` is read as `anyOf`, as the grammars of real servers do.
"""

import math
import re
from itertools import chain
from random import Random
from typing import Literal, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.reply_targets import (
    ReplyTargets,
    axis,
    is_address,
    is_key,
    is_pair,
)
from schemas.base import JsonObject, Record

_MAX_DEPTH = 60
"""Levels of a schema with its references replaced; a schema that refers to itself has more."""
_FREE_ITEMS = 3
"""Items beyond the minimum that a list may get."""
_TRIES = 20
"""Texts that are tried against a pattern."""
_FREE_RANGE = 1_000.0
"""How far a number may lie from the one bound that is given, or from 0."""

_ADDRESS = "https://example.com/"
_KEYS = ("Enter", "Tab", "Escape", "ArrowDown", "a")
_PLAIN = (_ADDRESS, "a", "A", "1", "a1", "")
"""Most patterns match one of these."""
_WORDS = (
    *("click", "the", "blue", "button", "naïve", "Straße", "Ωμέγα", "дом", "東京", "한국", "🙂"),
    *('say "yes"', "50 %", "a\\b", "it's", "{x}", "–", "é", "#1", "<b>"),
)
_NUMERIC = frozenset({"integer", "number"})
_ANNOTATIONS = frozenset(
    {
        *("$comment", "$schema", "default", "deprecated", "description", "discriminator"),
        *("examples", "format", "readOnly", "title", "writeOnly"),
    }
)
"""Keywords that do not restrict a value."""


class Schema(Record):
    """A JSON schema, or a part of one, in the keywords that dialects use."""

    type: Literal["object", "array", "string", "integer", "number", "boolean", "null"] | None = None
    """None where `enum`, `const` or `anyOf` says it."""
    enum: tuple[JsonValue, ...] | None = Field(default=None, min_length=1)
    """The values to choose from."""
    const: JsonValue = None
    """The only value; None is one too where the keyword is set."""
    any_of: tuple["Schema", ...] = Field(default=(), alias="anyOf")
    """The branches to choose from; empty: none."""
    properties: dict[str, "Schema"] = Field(default_factory=dict)
    """The properties of an object."""
    required: frozenset[str] = frozenset()
    """The properties that an object always has; any other has an even chance."""
    additional_properties: bool = Field(default=False, alias="additionalProperties")
    """Accepted and of no effect: an object is never given another property."""
    items: "Schema | None" = None
    """Each item of an array."""
    min_items: int = Field(default=0, ge=0, alias="minItems")
    """The fewest items of an array."""
    max_items: int | None = Field(default=None, ge=0, alias="maxItems")
    """The most items of an array; None: `_FREE_ITEMS` more than the fewest."""
    minimum: float | None = None
    """The minimum of a number."""
    maximum: float | None = None
    """The maximum of a number."""
    pattern: re.Pattern[str] | None = None
    """A regular expression that a string matches somewhere."""
    max_length: int | None = Field(default=None, ge=0, alias="maxLength")
    """Characters of a string; None: no limit."""

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        if not (self.type or self.enum or self.any_of or "const" in self.model_fields_set):
            raise ValueError("a schema needs type, enum, const or anyOf")
        if unknown := self.required - self.properties.keys():
            raise ValueError(f"required names no property: {sorted(unknown)}")
        if self.type == "array" and self.items is None:
            raise ValueError("an array needs items")
        if self.max_items is not None and self.max_items < self.min_items:
            raise ValueError(f"no array has {self.min_items} to {self.max_items} items")
        return self

    @property
    def options(self) -> tuple[JsonValue, ...]:
        """The values that an enumeration or a constant allows; empty: neither is set."""
        return (self.const,) if "const" in self.model_fields_set else self.enum or ()

    @property
    def _parts(self) -> tuple["Schema", ...]:
        return (*self.properties.values(), *self.any_of, *((self.items,) if self.items else ()))

    def has_room_for(self, targets: ReplyTargets) -> bool:
        """Return whether a value can hold the address or the target that is asked for."""
        return any(map(targets.fits_property, self.properties)) or any(
            part.has_room_for(targets) for part in self._parts
        )

    def mentions_click(self) -> bool:
        """Return whether a property or a value names a click."""
        return any("click" in str(word) for word in (*self.properties, *self.options)) or any(
            part.mentions_click() for part in self._parts
        )


def read_schema(root: JsonObject) -> Schema:
    """Return a schema with its references resolved and annotations left out.

    Raises:
        HttpRefusal: it has unsupported keywords, or a reference to itself or to a missing part.
    """
    definitions = root.get("$defs")
    known = definitions if isinstance(definitions, dict) else {}
    try:
        return Schema.model_validate(_inline(root, known, depth=0))
    except ValidationError as error:
        faults = error.errors()
        unknown = {str(fault["loc"][-1]) for fault in faults if fault["type"] == "extra_forbidden"}
        if unknown:
            raise HttpRefusal(
                400, f"Grammar error: Unimplemented keys: {sorted(unknown)}"
            ) from None
        place = ".".join(map(str, faults[0]["loc"])) or "the schema"
        raise HttpRefusal(400, f"Grammar error: {place}: {faults[0]['msg']}") from None


def _inline(part: JsonValue, definitions: JsonObject, *, depth: int) -> JsonValue:
    """Return a schema with its references replaced and without annotations."""
    if depth > _MAX_DEPTH:
        raise HttpRefusal(400, "Grammar error: the schema refers to itself, or is too deep")
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("$ref"), str):
        return _inline(_referenced_schema(part, definitions), definitions, depth=depth + 1)
    inlined: JsonObject = {}
    for name, value in part.items():
        match name, value:
            case "properties", dict():
                inlined[name] = {
                    key: _inline(inner, definitions, depth=depth + 1)
                    for key, inner in value.items()
                }
            case (("anyOf" | "oneOf"), list()):
                inlined["anyOf"] = [_inline(one, definitions, depth=depth + 1) for one in value]
            case "items", _:
                inlined[name] = _inline(value, definitions, depth=depth + 1)
            case _ if name not in _ANNOTATIONS and name != "$defs":
                inlined[name] = value
    return inlined


def _referenced_schema(part: JsonObject, definitions: JsonObject) -> JsonObject:
    reference = str(part["$ref"])
    target = definitions.get(reference.removeprefix("#/$defs/"))
    if not isinstance(target, dict):
        raise HttpRefusal(400, f"Grammar error: {reference} leads nowhere")
    if beside := sorted(part.keys() - _ANNOTATIONS - {"$ref", "$defs"}):
        raise HttpRefusal(400, f"Grammar error: Unimplemented keys beside $ref: {beside}")
    return target


class SchemaSampler:
    """Makes up values for one schema."""

    def __init__(self, schema: JsonObject, rng: Random, targets: ReplyTargets) -> None:
        self._schema = read_schema(schema)
        self._rng = rng
        self._targets = targets

    def sample(self) -> JsonValue:
        """Return the next value.

        Raises:
            HttpRefusal: the schema allows none.
        """
        return self._value(self._schema)

    def _value(self, schema: Schema, *, name: str = "", wanted: float | None = None) -> JsonValue:
        if schema.options:
            clicks = [option for option in schema.options if "click" in str(option)]
            wished = clicks if self._targets.point is not None else []
            return wished[0] if wished else self._rng.choice(schema.options)
        if schema.any_of:
            return self._value(
                self._branch(schema, numeric=wanted is not None), name=name, wanted=wanted
            )
        self._rng.choice((schema.type,))  # keeps the replies that a seed has always given
        value: JsonValue = None
        match schema.type:
            case "object":
                value = self._object(schema)
            case "array":
                value = self._array(schema, name)
            case "integer":
                value = self._integer(schema, wanted)
            case "number":
                value = self._number(schema, wanted)
            case "boolean":
                value = self._rng.choice((False, True))
            case "string":
                value = self._string(schema, name)
        return value

    def _branch(self, schema: Schema, *, numeric: bool) -> Schema:
        branches = schema.any_of
        if numeric:
            branches = tuple(part for part in branches if part.type in _NUMERIC) or branches
        fit = [branch for branch in branches if branch.has_room_for(self._targets)]
        clicks = [branch for branch in fit if branch.mentions_click()]
        return (clicks or fit)[0] if fit else self._rng.choice(branches)

    def _object(self, schema: Schema) -> JsonObject:
        targets = self._targets
        points = self._points([name for name in schema.properties if axis(name)])
        return {
            name: self._value(part, name=name, wanted=points.get(name))
            for name, part in schema.properties.items()
            if name in schema.required
            or targets.fits_property(name)
            or part.has_room_for(targets)
            or self._rng.choice((False, True))
        }

    def _points(self, names: list[str]) -> dict[str, float]:
        """Return the required values of the coordinates among an object's properties."""
        numbers: dict[str, float] = {}
        for name in names:
            draw = self._targets.draw_point if name in {"x", "y"} else self._targets.draw_any_point
            head, _, tail = name.rpartition("x")
            if draw is None or (point := draw(self._rng)) is None or axis(name) != "x":
                continue
            numbers[name] = point.x
            numbers[f"{head}y{tail}"] = point.y
        return numbers

    def _array(self, schema: Schema, name: str) -> list[JsonValue]:
        part, count = schema.items, schema.min_items
        room = _FREE_ITEMS if schema.max_items is None else schema.max_items - count
        count += self._rng.randint(0, min(_FREE_ITEMS, room))
        point = self._targets.draw_point(self._rng) if is_pair(name) else None
        numbers = [*((point.x, point.y) if point else ()), *[None] * count][:count]
        return [self._value(part, name=name, wanted=number) for number in numbers if part]

    def _integer(self, schema: Schema, wanted: float | None) -> int:
        low, high = _bounds(schema)
        first, last = math.ceil(low), math.floor(high)
        if first > last:
            raise HttpRefusal(400, f"Grammar error: no whole number in {low:g}..{high:g}")
        if wanted is None:
            return self._rng.randint(first, last)
        nearest = round(wanted)
        return min(max(nearest, first), last) if self._targets.within_bounds else nearest

    def _number(self, schema: Schema, wanted: float | None) -> float:
        low, high = _bounds(schema)
        if low > high:
            raise HttpRefusal(400, f"Grammar error: no number in {low:g}..{high:g}")
        if wanted is not None:
            return min(max(wanted, low), high) if self._targets.within_bounds else wanted
        drawn = low + (high - low) * self._rng.random()
        short = round(drawn, 3)
        return short if low < short < high else drawn

    def _string(self, schema: Schema, name: str) -> str:
        named: list[str] = []
        if is_address(name):
            named = [self._targets.address or _ADDRESS]
        elif is_key(name):
            named = [self._rng.choice(_KEYS)]
        sentences = (
            " ".join(self._rng.choices(_WORDS, k=self._rng.randint(1, 5))) for _ in range(_TRIES)
        )
        for text in chain(named, sentences, _PLAIN):
            cut = text[: schema.max_length]
            if not schema.pattern or schema.pattern.search(cut):
                return cut
        raise HttpRefusal(400, f"Grammar error: Unimplemented pattern: {schema.pattern}")


def _bounds(schema: Schema) -> tuple[float, float]:
    """Return the least and the greatest number that a schema allows."""
    low, high = schema.minimum, schema.maximum
    if low is None:
        low = -_FREE_RANGE if high is None else high - _FREE_RANGE
    return low, max(_FREE_RANGE, low + _FREE_RANGE) if high is None else high
