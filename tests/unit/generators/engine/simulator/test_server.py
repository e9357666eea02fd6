"""What a client sees of a simulator without faults."""

import json

import pytest
from support.servers.engine_http import (
    ask,
    chat,
    engine,
    events,
    get,
    inside,
    ints,
    picture,
    text_of,
    under,
    user,
)

from generators.engine.simulator.coordinates import smart_resize
from generators.engine.simulator.options import SimulatorOptions
from schemas.base import JsonObject

SAY_IT: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 40}},
    "required": ["text"],
    "additionalProperties": False,
}


async def test_it_says_what_it_serves() -> None:
    async with engine(SimulatorOptions(model="tiny", context_tokens=5_000)) as (_, client):
        models = await get(client, "/v1/models")
        version = await get(client, "/version")
        health = await client.get("/health")

    model = inside(models, "data", 0)
    assert isinstance(model, dict)
    assert (model["id"], model["owned_by"], model["max_model_len"]) == ("tiny", "stepmill", 5_000)
    assert isinstance(version["version"], str)
    assert health.status == 200


@pytest.mark.parametrize(
    "field",
    [
        {"response_format": under(SAY_IT)},
        {"structured_outputs": {"json": SAY_IT}},
        {"guided_json": SAY_IT},
    ],
)
async def test_each_way_to_ask_for_a_schema_is_heard(field: JsonObject) -> None:
    async with engine() as (_, client):
        reply = await ask(client, chat(user("go on"), **field))

    assert list(json.loads(text_of(reply))) == ["text"]
    assert inside(reply, "choices", 0, "finish_reason") == "stop"


async def test_equal_requests_get_equal_replies_from_any_engine_of_the_seed() -> None:
    body = chat(user(picture(), "go on"), response_format=under(SAY_IT))
    other = chat(user(picture(321), "go on"), response_format=under(SAY_IT))
    texts = []
    for seed in (1, 1, 2):
        async with engine(SimulatorOptions(seed=seed)) as (_, client):
            texts.append([text_of(await ask(client, b)) for b in (body, body, other)])

    assert texts[0] == texts[1]
    assert texts[0][0] == texts[0][1]
    assert texts[0][2] != texts[0][0]
    assert texts[2][0] != texts[0][0]


async def test_a_stream_says_the_same_as_a_plain_reply() -> None:
    body = chat(
        user(picture(), "go on"),
        response_format=under(SAY_IT),
        return_token_ids=True,
        logprobs=True,
    )
    async with engine() as (_, client):
        plain = await ask(client, body)
        streamed = {**body, "stream": True, "stream_options": {"include_usage": True}}
        async with client.post("/v1/chat/completions", json=streamed) as response:
            assert response.content_type == "text/event-stream"
            lines = (await response.text()).splitlines()

    parts = events(lines)
    *deltas, usage = parts
    choices = [inside(part, "choices", 0) for part in deltas]
    assert lines[-2:] == ["data: [DONE]", ""]
    assert "".join(str(inside(c, "delta", "content")) for c in choices) == text_of(plain)
    token_ids = [token for c in choices for token in ints(inside(c, "token_ids"))]
    assert token_ids == ints(inside(plain, "choices", 0, "token_ids"))
    assert deltas[0]["prompt_token_ids"] == plain["prompt_token_ids"]
    assert [inside(c, "finish_reason") for c in choices][-2:] == [None, "stop"]
    assert usage["choices"] == []
    assert inside(usage, "usage", "completion_tokens") == inside(
        plain, "usage", "completion_tokens"
    )


async def test_a_reply_ends_where_it_must() -> None:
    async with engine() as (_, client):
        cut = await ask(client, chat(user("go on"), max_tokens=3))
        whole = await ask(client, chat(user("go on")))

    assert inside(cut, "choices", 0, "finish_reason") == "length"
    assert inside(cut, "usage", "completion_tokens") == 3
    assert text_of(whole).startswith(text_of(cut))
    assert len(text_of(cut)) < len(text_of(whole))


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"messages": [user("word " * 600)]}, 400, "maximum context length is 512 tokens"),
        ({"max_tokens": 600}, 400, "is too large: 600"),
        ({"max_tokens": 0}, 400, "max_tokens must be at least 1, got 0."),
        ({"model": "other"}, 404, "The model `other` does not exist."),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "robot", "content": ""}]}, 400, "roles"),
        ({"messages": [user(picture(), picture())]}, 400, "At most 1 image(s)"),
        ({"messages": [user("data:image/png;base64,AAAA")]}, 400, "Failed to load image"),
        ({"messages": [user("data:text/plain,hello")]}, 400, "only data URLs"),
        ({"n": 2}, 400, "n: only one"),
        ({"n": []}, 400, "n: only one"),
        ({"messages": [{"role": [], "content": ""}]}, 400, "roles"),
        ({"messages": [{"role": "user", "content": 7}]}, 400, "content part"),
        ({"tools": [7]}, 400, "tools"),
        ({"response_format": {"type": "xml"}}, 400, "response_format"),
        ({"guided_json": {"uniqueItems": True}}, 400, "Unimplemented keys: ['uniqueItems']"),
        ({"guided_json": {"$ref": "#/$defs/Gone"}}, 400, "leads nowhere"),
        (
            {
                "guided_json": {
                    "$ref": "#/$defs/A",
                    "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}},
                }
            },
            400,
            "refers to itself",
        ),
        ({"guided_json": {"type": "array"}}, 400, "an array needs items"),
    ],
)
async def test_what_it_cannot_serve_is_refused_by_name(
    fields: JsonObject, status: int, message: str
) -> None:
    async with engine(SimulatorOptions(context_tokens=512, max_pictures=1)) as (_, client):
        refused = await ask(client, chat(user("go on")) | fields, status=status)

    assert message in str(inside(refused, "error", "message"))
    assert inside(refused, "error", "code") == status


async def test_a_body_that_is_no_json_is_refused() -> None:
    async with engine() as (_, client):
        broken = await client.post("/v1/chat/completions", data=b'{"model": ')
        listed = await client.post("/v1/chat/completions", data=b"[]")

    assert (broken.status, listed.status) == (400, 400)


async def test_a_key_that_was_set_is_asked_for() -> None:
    async with engine(SimulatorOptions(api_key="sesame")) as (_, client):
        without = await client.get("/v1/models")
        with_it = await client.get("/v1/models", headers={"Authorization": "Bearer sesame"})
        health = await client.get("/health")

    assert (without.status, with_it.status, health.status) == (401, 200, 200)


async def test_what_it_was_asked_can_be_looked_up_without_the_pictures() -> None:
    url = picture(kind="PNG")
    async with engine() as (_, client):
        await ask(client, chat(user("first")))
        await ask(client, chat(user("second", url)), session="s-1")
        log = await get(client, "/requests?last=1")

    assert log["chats"] == 2
    assert log["outcomes"] == {"whole": 2}
    (last,) = log["last"] if isinstance(log["last"], list) else []
    assert inside(last, "session") == "s-1"
    assert inside(last, "outcome") == "whole"
    assert "second" in json.dumps(last)
    assert url not in json.dumps(last)


@pytest.mark.parametrize(
    ("size", "resized"),
    [
        ((1_280, 720), (1_288, 728)),
        ((1_288, 728), (1_288, 728)),
        ((1_204, 1_204), (980, 980)),
        ((160, 210), (168, 224)),
        ((20, 20), (56, 56)),
        ((3_840, 2_160), (1_316, 728)),
    ],
)
def test_resizing_is_qwens(size: tuple[int, int], resized: tuple[int, int]) -> None:
    assert smart_resize(*size) == resized
