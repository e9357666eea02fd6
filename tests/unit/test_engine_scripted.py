"""What a client sees of a scripted engine that behaves."""

import asyncio
import json

import pytest
from wires import ask, chat, engine, events, get, inside, ints, picture, post, text_of, under, user

from generators.engine.scripted.options import ScriptedOptions
from generators.engine.scripted.points import smart_resize
from schemas.base import JsonObject

SAY_IT: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 40}},
    "required": ["text"],
    "additionalProperties": False,
}


async def test_it_says_what_it_serves() -> None:
    async with engine(ScriptedOptions(model="tiny", context_tokens=5_000)) as (_, client):
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
        async with engine(ScriptedOptions(seed=seed)) as (_, client):
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


async def test_token_ids_and_log_probabilities_are_one_each_for_the_tokens_said() -> None:
    async with engine() as (_, client):
        reply = await ask(client, chat(user("go on"), return_token_ids=True, logprobs=True))

    choice, usage = inside(reply, "choices", 0), inside(reply, "usage")
    logprobs = inside(choice, "logprobs", "content")
    assert isinstance(logprobs, list)
    said = inside(usage, "completion_tokens")
    assert said == len(ints(inside(choice, "token_ids"))) == len(logprobs)
    assert all(isinstance(p := inside(one, "logprob"), float) and p <= 0 for one in logprobs)
    assert inside(usage, "prompt_tokens") == len(ints(reply["prompt_token_ids"]))


async def test_a_prompt_that_grew_begins_with_the_earlier_one_less_its_suffix() -> None:
    first: list[JsonObject] = [
        {"role": "system", "content": "rules é"},
        user("look", picture(), "go"),
    ]
    async with engine() as (_, client):
        before = await ask(client, chat(*first, return_token_ids=True))
        said: JsonObject = {"role": "assistant", "content": text_of(before)}
        after = await ask(client, chat(*first, said, user("more"), return_token_ids=True))
        bare = await post(client, "/tokenize", chat(*first, add_generation_prompt=False))
        full = await post(client, "/tokenize", chat(*first))

    earlier, later = ints(before["prompt_token_ids"]), ints(after["prompt_token_ids"])
    stem = ints(bare["tokens"])
    assert full["count"] == len(earlier)
    assert ints(full["tokens"]) == earlier
    assert earlier[: len(stem)] == stem
    assert later[: len(stem)] == stem
    assert len(stem) < len(earlier)
    assert later[: len(earlier)] != earlier


async def test_a_picture_takes_a_run_of_one_placeholder_by_its_size() -> None:
    async with engine() as (_, client):
        reply = await ask(client, chat(user(picture(1_280, 720), "go"), return_token_ids=True))

    ids = ints(reply["prompt_token_ids"])
    commonest = max(set(ids), key=ids.count)
    run = ids[ids.index(commonest) :][: 40 * 23]
    assert set(run) == {commonest}
    assert ids.count(commonest) == 40 * 23
    assert inside(reply, "usage", "prompt_tokens_details", "image_tokens") == 40 * 23


async def test_a_text_is_tokenized_piece_by_piece() -> None:
    async with engine() as (_, client):
        body = await post(
            client, "/tokenize", {"prompt": "Straße, 東京!", "return_token_strs": True}
        )

    strings = body["token_strs"]
    assert isinstance(strings, list)
    assert "".join(map(str, strings)) == "Straße, 東京!"
    assert body["count"] == len(strings) == len(ints(body["tokens"]))


def _cached(reply: JsonObject) -> int:
    count = inside(reply, "usage", "prompt_tokens_details", "cached_tokens")
    assert isinstance(count, int)
    return count


async def test_a_prompt_that_only_grew_is_served_from_the_cache() -> None:
    first = [user("start", picture(), "word " * 200)]
    async with engine() as (_, client):
        cold = await ask(client, chat(*first, return_token_ids=True))
        warm = await ask(client, chat(*first))
        grown = await ask(client, chat(*first, user("and on " * 40)))

    length = len(ints(cold["prompt_token_ids"]))
    assert _cached(cold) == 0
    assert length - 17 <= _cached(warm) < length
    assert length - 19 <= _cached(grown) < length


async def test_another_picture_of_the_same_size_ends_the_cached_prefix() -> None:
    before, after = "word " * 100, "word " * 300
    async with engine() as (_, client):
        await ask(client, chat(user(before, picture(), after)))
        other = await ask(client, chat(user(before, picture(background="navy"), after)))

    assert 80 <= _cached(other) <= 112


async def test_what_was_used_longest_ago_leaves_the_cache_first() -> None:
    old, new = (user(f"{word} " * 160) for word in ("old", "new"))
    async with engine(ScriptedOptions(cache_blocks=12)) as (_, client):
        await ask(client, chat(old))
        await ask(client, chat(new))
        counts = [_cached(await ask(client, chat(message))) for message in (new, old)]

    assert counts[0] >= 144
    assert counts[1] < 48


async def test_a_cache_that_is_off_never_hits_and_says_so() -> None:
    async with engine(ScriptedOptions(prefix_cache=False)) as (_, client):
        await ask(client, chat(user("word " * 200)))
        again = await ask(client, chat(user("word " * 200)))
        page = await (await client.get("/metrics")).text()

    assert _cached(again) == 0
    assert 'enable_prefix_caching="False"' in page
    assert _gauges(page)["vllm:prefix_cache_queries_total"] == 0


def _gauges(page: str) -> dict[str, float]:
    samples = (line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    return {name.partition("{")[0]: float(value) for name, value in samples}


async def test_its_counters_are_true() -> None:
    async with engine() as (_, client):
        replies = [await ask(client, chat(user(f"word {n} " * 60))) for n in (1, 1, 2)]
        page = await (await client.get("/metrics")).text()

    gauges = _gauges(page)
    for name, field in (
        ("prompt_tokens", "prompt_tokens"),
        ("generation_tokens", "completion_tokens"),
    ):
        told = [inside(reply, "usage", field) for reply in replies]
        assert gauges[f"vllm:{name}_total"] == sum(n for n in told if isinstance(n, int))
    assert gauges["vllm:prefix_cache_hits_total"] == sum(map(_cached, replies)) > 0
    assert gauges["vllm:num_requests_running"] == 0
    assert gauges["vllm:e2e_request_latency_seconds_count"] == 3
    assert (
        'vllm:request_success_total{engine="0",model_name="scripted",finished_reason="stop"} 3.0'
        in page
    )


async def test_requests_beyond_the_limit_wait_and_both_are_shown() -> None:
    options = ScriptedOptions(at_once=2, delay_ms=(60_000, 60_000))
    async with engine(options) as (_, client):
        asked = [asyncio.create_task(ask(client, chat(user(f"{n}")))) for n in range(5)]
        gauges: dict[str, float] = {}
        while gauges.get("vllm:num_requests_waiting") != 3:
            gauges = _gauges(await (await client.get("/metrics")).text())
        for task in asked:
            task.cancel()
        await asyncio.wait(asked)
        assert gauges["vllm:num_requests_running"] == 2
        assert 0 < gauges["vllm:kv_cache_usage_perc"] < 1
        while gauges["vllm:num_requests_running"] or gauges["vllm:num_requests_waiting"]:
            gauges = _gauges(await (await client.get("/metrics")).text())
        log = await get(client, "/requests")

    assert log["outcomes"] == {"aborted": 5}


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
    ],
)
async def test_what_it_cannot_serve_is_refused_by_name(
    fields: JsonObject, status: int, message: str
) -> None:
    async with engine(ScriptedOptions(context_tokens=512, max_pictures=1)) as (_, client):
        refused = await ask(client, chat(user("go on")) | fields, status=status)

    assert message in str(inside(refused, "error", "message"))
    assert inside(refused, "error", "code") == status


async def test_a_body_that_is_no_json_is_refused() -> None:
    async with engine() as (_, client):
        broken = await client.post("/v1/chat/completions", data=b'{"model": ')
        listed = await client.post("/v1/chat/completions", data=b"[]")

    assert (broken.status, listed.status) == (400, 400)


async def test_a_key_that_was_set_is_asked_for() -> None:
    async with engine(ScriptedOptions(api_key="sesame")) as (_, client):
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
