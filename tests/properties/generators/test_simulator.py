"""The values that the simulator makes up are valid under any schema of a request."""

import json
from contextlib import suppress
from random import Random
from typing import Literal

import jsonschema  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from generators.engine.simulator.coordinates import image_point
from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.options import Coordinates
from generators.engine.simulator.prefix_cache import BLOCK, PrefixCache, blocks_of
from generators.engine.simulator.reply_targets import ReplyTargets
from generators.engine.simulator.schema_sampler import SchemaSampler
from generators.engine.simulator.tokenizer import Tokenizer, pieces
from schemas.base import JsonObject

NAMES = st.sampled_from(["x", "y", "to_x", "url", "keys", "thought", "point", "a b", "é"])
SCALARS: st.SearchStrategy[JsonValue] = st.one_of(
    st.none(), st.booleans(), st.integers(-99, 99), st.text(max_size=5)
)


@st.composite
def bounded(draw: st.DrawFn, least: str, most: str, *, low: int = 0, high: int = 40) -> JsonObject:
    """Draw a pair of bounds, either of which may be missing."""
    first = draw(st.integers(low, high))
    said: JsonObject = {least: first, most: draw(st.integers(first, high + 5))}
    return {key: said[key] for key in said if draw(st.booleans())}


INTEGERS = bounded("minimum", "maximum", low=-50).map(lambda b: {"type": "integer", **b})
NUMBERS = bounded("minimum", "maximum", low=-50).map(lambda b: {"type": "number", **b})
NARROW: st.SearchStrategy[JsonObject] = st.floats(-5, 5, allow_nan=False).map(
    lambda low: {"type": "number", "minimum": low, "maximum": low + 0.001}
)
STRINGS: st.SearchStrategy[JsonObject] = st.integers(0, 40).map(
    lambda limit: {"type": "string", "pattern": f"^.{{0,{limit}}}$"}
)
FIXED: st.SearchStrategy[JsonObject] = st.one_of(
    SCALARS.map(lambda value: {"const": value}),
    st.lists(SCALARS, min_size=1, max_size=3).map(lambda values: {"enum": values}),
    st.just({"type": "null"}),
    st.just({"type": "boolean"}),
    st.just({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    st.just({"$ref": "#/$defs/Pair"}),
)


@st.composite
def objects(draw: st.DrawFn, parts: st.SearchStrategy[JsonObject]) -> JsonObject:
    properties = draw(st.dictionaries(NAMES, parts, max_size=4))
    required: list[JsonValue] = [name for name in properties if draw(st.booleans())]
    return {
        "type": "object",
        "properties": {**properties},
        "required": required,
        "additionalProperties": False,
    }


@st.composite
def arrays(draw: st.DrawFn, parts: st.SearchStrategy[JsonObject]) -> JsonObject:
    return {
        "type": "array",
        "items": draw(parts),
        **draw(bounded("minItems", "maxItems", high=4)),
    }


def _inner(parts: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    unions = st.lists(parts, min_size=1, max_size=3).map(lambda some: {"anyOf": [*some]})
    return st.one_of(objects(parts), arrays(parts), unions)


LEAVES: st.SearchStrategy[JsonObject] = st.one_of(INTEGERS, NUMBERS, NARROW, STRINGS, FIXED)
SCHEMAS = st.recursive(LEAVES, _inner, max_leaves=12)
NAME: JsonObject = {"type": "string"}
PAIR: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"$ref": "#/$defs/Name"},
        "names": {"type": "array", "items": {"$ref": "#/$defs/Name"}, "maxItems": 2},
        "next": {"anyOf": [{"$ref": "#/$defs/Name"}, {"type": "null"}]},
    },
    "required": ["name", "names", "next"],
    "additionalProperties": False,
}


def _wishes(*, seen: bool) -> ReplyTargets:
    def anywhere(rng: Random) -> object:
        return image_point(Coordinates.THOUSAND, (640, 480), across=rng.random(), down=rng.random())

    target = image_point(Coordinates.THOUSAND, (640, 480), across=0.3, down=0.7)
    return ReplyTargets(anywhere, target if seen else None)  # type: ignore[arg-type]


@given(SCHEMAS, st.integers(0, 2**32), st.booleans())
def test_a_made_up_value_is_valid_under_its_schema(
    schema: JsonObject,
    seed: int,
    seen: bool,  # noqa: FBT001 - hypothesis fills it in
) -> None:
    whole: JsonObject = {"anyOf": [schema], "$defs": {"Pair": PAIR, "Name": NAME}}

    value = SchemaSampler(whole, Random(seed), _wishes(seen=seen)).sample()

    jsonschema.Draft202012Validator(whole).validate(value)
    assert json.loads(json.dumps(value, ensure_ascii=False)) == value


KEYWORDS = st.sampled_from(
    [
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "properties",
        "required",
        "items",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "pattern",
        "$ref",
        "$defs",
        "a",
    ]
)
WORDS = st.sampled_from(["object", "array", "string", "integer", "number", "a", "(", "#/$defs/a"])
ODD = st.recursive(
    st.one_of(SCALARS, WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYWORDS, inner, max_size=4)
    ),
    max_leaves=15,
)


@given(st.dictionaries(KEYWORDS, ODD, max_size=5), st.booleans())
def test_whatever_is_given_as_a_schema_is_followed_or_refused(
    schema: JsonObject,
    seen: bool,  # noqa: FBT001 - hypothesis fills it in
) -> None:
    with suppress(HttpRefusal):
        value = SchemaSampler(schema, Random(0), _wishes(seen=seen)).sample()

        json.dumps(value)


class Click(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool_name: Literal["click"]
    element: str
    x: int = Field(ge=0, le=1_000)
    y: int = Field(ge=0, le=1_000)


class Write(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool_name: Literal["write"]
    content: str
    press_enter: bool = False


class Plan(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool_name: Literal["plan"]
    goals: list[Literal["todo", "done"]] = Field(min_length=1, max_length=5)
    seconds: float | None = Field(ge=0, le=10)


class Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: str | None
    thought: str
    tool_call: Click | Write | Plan


@given(st.integers(0, 2**32))
def test_what_it_makes_up_for_a_pydantic_model_is_read_by_that_model(seed: int) -> None:
    schema = Turn.model_json_schema()

    value = SchemaSampler(schema, Random(seed), ReplyTargets()).sample()

    Turn.model_validate_json(json.dumps(value), strict=True)


@given(st.text(max_size=200))
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text
    assert len(Tokenizer().ids(text)) == len(pieces(text))


@given(st.lists(st.lists(st.integers(0, 3), max_size=90), max_size=12), st.integers(1, 8))
def test_a_cache_with_room_finds_exactly_the_whole_blocks_it_was_shown(
    prompts: list[list[int]], room: int
) -> None:
    ample, tight = PrefixCache(10_000), PrefixCache(room)
    shown: list[list[int]] = []
    for prompt in prompts:
        usable = max(0, len(prompt) - 1) // BLOCK * BLOCK
        expected = max((_common(prompt[:usable], other) for other in shown), default=0)

        blocks = blocks_of(prompt[3:], after=blocks_of(prompt[:3]))
        found = ample.look_up(blocks)

        assert found == expected
        assert tight.look_up(blocks) <= min(found, room * BLOCK)
        for cache in (ample, tight):
            cache.keep(blocks)
        shown.append(prompt)


def _common(first: list[int], second: list[int]) -> int:
    """Return how many tokens of whole blocks two prompts begin with alike."""
    blocks = 0
    while (end := (blocks + 1) * BLOCK) <= min(len(first), len(second)):
        if first[:end] != second[:end]:
            break
        blocks += 1
    return blocks * BLOCK
