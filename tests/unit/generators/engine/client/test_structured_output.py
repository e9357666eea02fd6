"""What is sent of a schema is what every server enforces, and nothing in it is open."""

import pytest
from pydantic import BaseModel, Field, JsonValue

from generators.engine.client.structured_output import (
    Unenforceable,
    enforceable_schema,
    unenforced_keywords,
)
from schemas.base import JsonObject
from schemas.episodes.call import StructuredMode


class Click(BaseModel):
    element: str = Field(max_length=200, description="what is clicked")
    x: int = Field(ge=0, le=1_000)


class Answer(BaseModel):
    content: str = Field(default="", json_schema_extra={"format": "uri"})


class Turn(BaseModel):
    thought: str | None = None
    call: Click | Answer


def _of(**properties: JsonValue) -> JsonObject:
    return {"type": "object", "properties": properties}


def test_lengths_of_strings_are_left_out_and_named() -> None:
    schema = _of(text={"type": "string", "maxLength": 5, "minLength": 1})

    assert enforceable_schema(schema)["properties"] == {"text": {"type": "string"}}
    assert unenforced_keywords(schema) == (
        "$.properties.text.maxLength",
        "$.properties.text.minLength",
    )


def test_every_object_is_closed_at_any_depth() -> None:
    found = enforceable_schema(Turn.model_json_schema())

    definitions = found["$defs"]
    assert isinstance(definitions, dict)
    assert found["additionalProperties"] is False
    for definition in definitions.values():
        assert isinstance(definition, dict)
        assert definition["additionalProperties"] is False


def test_bounds_of_integers_and_enumerations_stay() -> None:
    schema = _of(
        x={"type": "integer", "minimum": 0, "maximum": 1_000},
        way={"enum": ["up", "down"]},
        kind={"const": "scroll"},
    )

    assert enforceable_schema(schema)["properties"] == schema["properties"]


def test_a_property_may_bear_the_name_of_a_constraint() -> None:
    schema = _of(format={"type": "string"}, default={"type": "integer"})

    assert enforceable_schema(schema)["properties"] == schema["properties"]
    assert unenforced_keywords(schema) == ()


def test_one_of_becomes_any_of_and_defaults_go() -> None:
    schema = _of(a={"oneOf": [{"type": "string", "default": ""}, {"type": "null"}]})

    assert enforceable_schema(schema)["properties"] == {
        "a": {"anyOf": [{"type": "string"}, {"type": "null"}]}
    }


def test_a_pattern_stays_and_the_lengths_beside_it_go() -> None:
    schema = _of(code={"type": "string", "pattern": "^[a-z]{2}$", "maxLength": 2})

    assert enforceable_schema(schema)["properties"] == {
        "code": {"type": "string", "pattern": "^[a-z]{2}$"}
    }


def test_a_schema_that_was_prepared_is_prepared_to_itself() -> None:
    once = enforceable_schema(Turn.model_json_schema())

    assert enforceable_schema(once) == once
    assert unenforced_keywords(once) == ()


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({}, r"^\$: "),
        (_of(a={}), r"^\$\.properties\.a: an empty schema"),
        (_of(a={"description": "anything"}), r"^\$\.properties\.a: an empty schema"),
        (_of(a=True), r"^\$\.properties\.a: True allows anything"),
        (_of(a={"type": "object"}), "an object of any keys"),
        (_of(a={"type": "array"}), "an array of anything"),
        (_of(a={"type": "array", "items": {}}), r"a\.items: an empty schema"),
        (_of(a={"$ref": "https://example.org/schema"}), "lies outside"),
        (_of(a={"type": "string", "pattern": "(?=x)y"}), "looks around"),
        (_of(a={**_of(b={"type": "null"}), "patternProperties": {"x": {}}}), "keys by pattern"),
        (_of(a={"anyOf": [{"type": "string"}, {}]}), r"a\.anyOf\[1\]: an empty"),
    ],
)
def test_an_open_place_is_refused_with_its_path(schema: JsonObject, where: str) -> None:
    with pytest.raises(Unenforceable, match=where):
        enforceable_schema(schema)


def test_the_ways_lead_from_the_portable_one_to_none() -> None:
    assert [
        StructuredMode.JSON_SCHEMA.next,
        StructuredMode.STRUCTURED_OUTPUTS.next,
        StructuredMode.JSON_OBJECT.next,
    ] == [
        StructuredMode.STRUCTURED_OUTPUTS,
        StructuredMode.JSON_OBJECT,
        StructuredMode.NONE,
    ]
    assert StructuredMode.NONE.next is StructuredMode.NONE
    assert not StructuredMode.JSON_OBJECT.follows_schema
