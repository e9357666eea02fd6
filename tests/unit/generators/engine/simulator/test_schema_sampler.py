"""Schemas as people write them, with annotations, give the values that the bare schemas give."""

from random import Random

import pytest

from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.reply_targets import ReplyTargets
from generators.engine.simulator.schema_sampler import SchemaSampler
from schemas.base import JsonObject

ANNOTATED: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$comment": "of a shop",
    "title": "Order",
    "description": "What is bought.",
    "examples": [{"title": "a book"}],
    "type": "object",
    "properties": {
        "title": {"type": "string", "title": "Title", "deprecated": True, "readOnly": True},
        "format": {"enum": ["paper", "audio"], "default": "paper"},
        "day": {"type": "string", "format": "date", "writeOnly": True},
        "size": {"$ref": "#/$defs/Size", "description": "In pages."},
    },
    "required": ["title", "format", "day", "size"],
    "$defs": {"Size": {"type": "integer", "minimum": 1, "maximum": 9, "examples": [3]}},
}
BARE: JsonObject = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "format": {"enum": ["paper", "audio"]},
        "day": {"type": "string"},
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["title", "format", "day", "size"],
}


@pytest.mark.parametrize("seed", range(5))
def test_annotations_change_nothing(seed: int) -> None:
    first, second = (
        SchemaSampler(schema, Random(seed), ReplyTargets()).sample() for schema in (ANNOTATED, BARE)
    )

    assert first == second
    assert isinstance(first, dict)
    assert set(first) == {"title", "format", "day", "size"}


@pytest.mark.parametrize("keyword", ["uniqueItems", "not", "patternProperties"])
def test_a_constraint_that_is_not_understood_is_refused_wherever_it_stands(keyword: str) -> None:
    inner: JsonObject = {"type": "string", "title": "A title", keyword: {}}
    schema: JsonObject = {"type": "object", "properties": {"title": inner}}

    with pytest.raises(HttpRefusal) as refusal:
        SchemaSampler(schema, Random(0), ReplyTargets())

    assert f"Unimplemented keys: ['{keyword}']" in refusal.value.message
