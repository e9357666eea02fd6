"""A request holds what was asked in the manner its server takes, learnt from its refusals."""

import base64
import json

import pytest

from generators.engine.client.request_body import RequestBody, ServerQuirks
from generators.engine.protocol import EnginePrompt, Message, Picture, Role, Sampling
from schemas.base import JsonObject
from schemas.episodes.call import StructuredMode

PICTURE = Picture(jpeg=b"\xff\xd8picture", step=3, width=10, height=20)
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 5}},
    "required": ["text"],
}
STRANGE = "Extra inputs are not permitted: return_token_ids"


def question(
    *parts: str | Picture, schema: JsonObject | None = None, sampling: Sampling | None = None
) -> RequestBody:
    prompt = EnginePrompt(
        messages=(
            Message(role=Role.SYSTEM, parts=("rules",)),
            Message(role=Role.USER, parts=parts or ("go",)),
        ),
        reply_schema=schema,
    )
    return RequestBody(prompt, sampling or Sampling(), model="m")


def body(asked: RequestBody, quirks: ServerQuirks | None = None) -> JsonObject:
    found: JsonObject = json.loads(asked.encode(quirks or ServerQuirks()))
    return found


def test_text_and_pictures_keep_their_order() -> None:
    found = body(question("before", PICTURE, "after"))

    url = "data:image/jpeg;base64," + base64.b64encode(PICTURE.jpeg).decode()
    assert found["messages"] == [
        {"role": "system", "content": "rules"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "before"},
                {"type": "image_url", "image_url": {"url": url}},
                {"type": "text", "text": "after"},
            ],
        },
    ]


def test_what_was_not_asked_for_is_not_sent() -> None:
    assert set(body(question())) == {"model", "messages", "temperature", "max_tokens"}


def test_sampling_is_sent_and_its_extras_win() -> None:
    sampling = Sampling(
        temperature=0.5,
        top_p=0.9,
        seed=7,
        logprobs=True,
        max_tokens=9,
        extra={"chat_template_kwargs": {"thinking": False}, "temperature": 1.0},
    )

    found = body(question(sampling=sampling))

    assert found["temperature"] == 1.0
    assert (found["top_p"], found["seed"], found["logprobs"], found["max_tokens"]) == (
        0.9,
        7,
        True,
        9,
    )
    assert found["chat_template_kwargs"] == {"thinking": False}


def test_the_schema_that_is_sent_is_the_prepared_one() -> None:
    found = body(question(schema=SCHEMA))

    assert found["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "reply",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
                "additionalProperties": False,
            },
        },
    }


@pytest.mark.parametrize(
    ("way", "field"),
    [
        (StructuredMode.STRUCTURED_OUTPUTS, "structured_outputs"),
        (StructuredMode.JSON_OBJECT, "response_format"),
        (StructuredMode.NONE, None),
    ],
)
def test_a_way_sends_its_own_field_and_no_other(way: StructuredMode, field: str | None) -> None:
    asked = question(schema=SCHEMA)
    assert asked.canonical_schema is not None

    sent = set(body(asked, ServerQuirks(structured_modes={asked.canonical_schema: way})))

    assert sent & {"structured_outputs", "response_format"} == ({field} if field else set())


def test_refusals_of_a_schema_lead_through_all_ways_and_then_no_further() -> None:
    asked, quirks, modes = question(schema=SCHEMA), ServerQuirks(), []
    while adapted := quirks.after_refusal("Grammar error: no", schema=asked.canonical_schema):
        quirks = adapted
        modes.append(quirks.structured_mode(asked.canonical_schema or ""))

    assert modes == [
        StructuredMode.STRUCTURED_OUTPUTS,
        StructuredMode.JSON_OBJECT,
        StructuredMode.NONE,
    ]


def test_a_refusal_of_one_schema_leaves_the_others_alone() -> None:
    quirks = ServerQuirks().after_refusal("invalid json_schema", schema="one")

    assert quirks is not None
    assert quirks.structured_mode("one") is StructuredMode.STRUCTURED_OUTPUTS
    assert quirks.structured_mode("other") is StructuredMode.JSON_SCHEMA


def test_a_server_that_knows_no_token_ids_is_asked_for_none() -> None:
    asked, quirks = question(schema=SCHEMA), ServerQuirks(token_ids=True)
    assert body(asked, quirks)["return_token_ids"] is True

    adapted = quirks.after_refusal(STRANGE, schema=asked.canonical_schema)

    assert adapted is not None
    assert "return_token_ids" not in body(asked, adapted)
    assert adapted.structured_mode(asked.canonical_schema or "") is StructuredMode.JSON_SCHEMA


def test_a_server_may_name_the_length_otherwise() -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."

    adapted = ServerQuirks().after_refusal(said, schema=None)

    assert adapted is not None
    assert "max_completion_tokens" in body(question(), adapted)
    assert "max_tokens" not in body(question(), adapted)


@pytest.mark.parametrize("said", ["the prompt is too long", "image is broken", ""])
def test_any_other_refusal_teaches_nothing(said: str) -> None:
    assert ServerQuirks(token_ids=True).after_refusal(said, schema="one") is None


def test_what_two_requests_learnt_is_put_together() -> None:
    one = ServerQuirks(token_ids=False, structured_modes={"a": StructuredMode.JSON_OBJECT})
    other = ServerQuirks(
        token_ids=True,
        length_field="max_completion_tokens",
        structured_modes={"b": StructuredMode.NONE},
    )

    together = ServerQuirks(
        length_field="max_completion_tokens",
        structured_modes={"a": StructuredMode.JSON_OBJECT, "b": StructuredMode.NONE},
    )
    assert one.merged_with(other) == together
    assert other.merged_with(one) == together


def test_a_server_that_schedules_by_priority_is_told_a_rank_and_no_other_is() -> None:
    asked = question()
    told = json.loads(asked.encode(ServerQuirks(by_priority=True), rank=7))

    assert told["priority"] == 7
    assert "priority" not in json.loads(asked.encode(ServerQuirks(), rank=7))


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("Unsupported value: 'temperature' does not support 0.7 with this model.", {"temperature"}),
        ("Extra inputs are not permitted: seed, top_p", {"seed", "top_p"}),
        ("tool_choice is not supported by this server", {"tool_choice"}),
        ("unknown field `reasoning_effort`", {"reasoning_effort"}),
    ],
)
def test_a_field_that_a_server_refuses_and_can_do_without_is_left_out(
    message: str, named: set[str]
) -> None:
    sampling = Sampling(temperature=0.7, top_p=0.9, seed=3, extra={"reasoning_effort": "low"})
    asked = question(sampling=sampling)

    adapted = ServerQuirks().after_refusal(message, schema=None)

    assert adapted is not None
    assert adapted.left_out == named
    assert not named & body(asked, adapted).keys()
    assert set(asked.left_out(adapted)) == named - {"tool_choice"}, "it was not asked for"
    assert adapted.after_refusal(message, schema=None) is None, "the same again helps nobody"


def test_a_value_that_a_server_finds_wrong_is_not_left_out() -> None:
    assert ServerQuirks().after_refusal("temperature must be at most 1", schema=None) is None
    assert ServerQuirks().after_refusal("unsupported seeds_file", schema=None) is None


def test_what_requests_found_to_be_refused_adds_up() -> None:
    one, other = (ServerQuirks(left_out=frozenset({name})) for name in ("seed", "top_p"))

    assert one.merged_with(other).left_out == {"seed", "top_p"}
