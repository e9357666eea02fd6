"""Each fault of the simulator, as a client sees it over HTTP."""

import asyncio
import json
import math

import aiohttp
import pytest
from support.servers.engine_http import (
    ask,
    chat,
    engine,
    events,
    get,
    inside,
    picture,
    post,
    text_of,
    under,
    user,
)

from generators.engine.simulator.faults import Fault, FaultKind
from generators.engine.simulator.options import Coordinates, SimulatorOptions
from schemas.base import JsonObject

POINT: JsonObject = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "maxLength": 30},
        "x": {"type": "integer", "minimum": 0, "maximum": 1_000},
        "y": {"type": "integer", "minimum": 0, "maximum": 1_000},
    },
    "required": ["note", "x", "y"],
}
CHAT = "/v1/chat/completions"
BODY = chat(user(picture(), "go on"), response_format=under(POINT))


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
async def test_a_status_comes_as_often_as_it_was_asked_for(status: int) -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": f"http-{status}", "times": 2, "after": 1})
        statuses = [(await client.post(CHAT, json=BODY)).status for _ in range(4)]

    assert statuses == [200, status, status, 200]


async def test_too_many_requests_says_when_to_come_back_only_if_told_to() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "http-429", "retry_after": "7"})
        await post(client, "/fault", {"kind": "http-429", "after": 1})
        first, second = [(await client.post(CHAT, json=BODY)).headers for _ in range(2)]

    assert first["Retry-After"] == "7"
    assert "Retry-After" not in second


async def test_a_fault_without_end_lasts_until_it_is_cleared() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "http-500", "times": -1})
        during = [(await client.post(CHAT, json=BODY)).status for _ in range(5)]
        struck = await get(client, "/fault")
        await client.delete("/fault")
        after = (await client.post(CHAT, json=BODY)).status

    assert during == [500] * 5
    assert struck == {"struck": {"http-500": 5}}
    assert after == 200


async def test_a_fault_of_one_session_leaves_the_others_alone() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "http-503", "times": -1, "session": "ill"})
        await ask(client, BODY, session="well")
        await ask(client, BODY)
        await ask(client, BODY, session="ill", status=503)


async def test_a_fault_strikes_any_path_it_names() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "http-401", "path": "/v1/models"})
        models = await client.get("/v1/models")
        again = await client.get("/v1/models")

    assert (models.status, again.status) == (401, 200)


async def test_a_server_that_ignores_the_schema_answers_in_prose() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "unstructured", "times": -1})
        reply = await ask(client, BODY)

    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(text_of(reply))


async def test_a_server_can_ignore_one_way_to_ask_and_hear_another() -> None:
    fields = ["response_format"]
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "unstructured", "times": -1, "fields": [*fields]})
        deaf = await ask(client, BODY)
        heard = await ask(client, chat(user("go on"), structured_outputs={"json": POINT}))

    assert not text_of(deaf).startswith("{")
    assert set(json.loads(text_of(heard))) == {"note", "x", "y"}


async def test_a_truncated_reply_is_half_a_json_and_ends_for_length() -> None:
    async with engine() as (_, client):
        whole = text_of(await ask(client, BODY))
        await post(client, "/fault", {"kind": "truncated"})
        reply = await ask(client, BODY)

    assert text_of(reply) == whole[: len(whole) // 2]
    assert inside(reply, "choices", 0, "finish_reason") == "length"


async def test_an_empty_reply_ends_as_if_nothing_were_wrong() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "empty"})
        reply = await ask(client, BODY)

    assert text_of(reply) == ""
    assert inside(reply, "choices", 0, "finish_reason") == "stop"


async def test_a_huge_reply_heeds_no_limit() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "huge", "size": 1_048_576})
        reply = await ask(client, {**BODY, "max_tokens": 10})

    assert len(text_of(reply)) == 1_048_576


@pytest.mark.parametrize("stream", [False, True])
async def test_a_body_can_be_no_utf8(*, stream: bool) -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "invalid-utf8"})
        async with client.post(CHAT, json={**BODY, "stream": stream}) as response:
            data = await response.read()

    with pytest.raises(UnicodeDecodeError):
        data.decode()


async def test_a_plain_reply_is_cut_after_half_of_its_body() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "cut"})
        async with client.post(CHAT, json=BODY) as response:
            promised = int(response.headers["Content-Length"])
            data = await response.content.read(promised // 4)
            with pytest.raises(aiohttp.ClientPayloadError):
                data += await response.read()
        log = await get(client, "/requests")
        again = await ask(client, BODY)

    assert 0 < len(data) < promised
    assert log["outcomes"] == {"broken": 1}
    assert set(json.loads(text_of(again))) == {"note", "x", "y"}


async def test_a_stream_is_cut_after_half_of_its_events() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "cut"})
        async with client.post(CHAT, json={**BODY, "stream": True}) as response:
            first = await response.content.readline()
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.content.readuntil(b"[DONE]")

    assert first.startswith(b"data: {")


async def test_a_dying_engine_ends_a_stream_in_an_error_event() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "stream-error", "times": 2})
        async with client.post(CHAT, json={**BODY, "stream": True}) as response:
            lines = (await response.text()).splitlines()
        plain = await ask(client, BODY, status=500)

    assert inside(events(lines)[-1], "error", "message") == "EngineCore encountered an issue"
    assert "data: [DONE]" not in lines
    assert "EngineCore" in str(inside(plain, "error", "message"))


@pytest.mark.parametrize(("stream", "blank"), [(False, b" "), (True, b": still here")])
async def test_a_reply_can_trickle_for_ever(*, stream: bool, blank: bytes) -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "endless", "seconds": 0.01})
        async with client.post(CHAT, json={**BODY, "stream": stream}) as response:
            assert response.status == 200
            data = b""
            while len(data) < 5 * len(blank):
                data += await response.content.readany()

    assert data.startswith(blank)
    assert b"{" not in data


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_can_stop_after_its_headers(*, stream: bool) -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "silent"})
        async with client.post(CHAT, json={**BODY, "stream": stream}) as response:
            assert response.status == 200
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(response.content.readany(), 0.3)


async def test_a_request_can_stay_without_any_answer_while_others_get_theirs() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "stuck"})
        stuck = asyncio.create_task(client.post(CHAT, json=BODY))
        while not (await get(client, "/requests"))["chats"]:
            continue
        await ask(client, BODY)
        assert not stuck.done()
        stuck.cancel()
        while (await get(client, "/requests"))["outcomes"] != {"whole": 1, "aborted": 1}:
            continue


async def test_a_slow_reply_comes_late_and_whole() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "slow", "seconds": 0.4})
        began = asyncio.get_running_loop().time()
        await ask(client, BODY)
        slow = asyncio.get_running_loop().time() - began

    assert slow >= 0.4


async def test_log_probabilities_can_be_no_numbers() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "nan-logprobs"})
        reply = await ask(client, {**BODY, "logprobs": True})

    content = inside(reply, "choices", 0, "logprobs", "content")
    assert isinstance(content, list)
    values = [inside(one, "logprob") for one in content]
    assert values
    assert all(isinstance(value, float) and math.isnan(value) for value in values)


async def test_the_metrics_page_can_be_missing() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "no-metrics"})
        missing = await client.get("/metrics")
        back = await client.get("/metrics")

    assert (missing.status, back.status) == (404, 200)


async def test_the_metrics_page_can_end_in_the_middle() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "half-metrics"})
        half = await (await client.get("/metrics")).text()
        whole = await (await client.get("/metrics")).text()

    assert "vllm:num_requests_running" in half
    assert "vllm:request_queue_time_seconds" not in half
    assert "vllm:request_queue_time_seconds" in whole


@pytest.mark.parametrize(
    ("coordinates", "edge"),
    [
        (Coordinates.PX, 320),
        (Coordinates.RESIZED, 308),
        (Coordinates.THOUSAND, 1_000),
        (Coordinates.UNIT, 1),
    ],
)
async def test_a_point_can_lie_outside_the_picture(coordinates: Coordinates, edge: int) -> None:
    loose: JsonObject = {
        "type": "object",
        "properties": {"x": {"type": "number", "maximum": 1}, "y": {"type": "number"}},
        "required": ["x", "y"],
    }
    body = chat(user(picture(), "go on"), response_format=under(loose))
    async with engine(SimulatorOptions(coordinates=coordinates)) as (_, client):
        await post(client, "/fault", {"kind": "outside"})
        said = json.loads(text_of(await ask(client, body)))

    assert said["x"] > edge


async def test_a_reply_can_go_where_it_may_not() -> None:
    goto: JsonObject = {
        "type": "object",
        "properties": {"action": {"const": "goto"}, "url": {"type": "string"}},
        "required": ["action", "url"],
    }
    either: JsonObject = {"anyOf": [POINT, goto]}
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "forbidden", "times": 2})
        said = json.loads(text_of(await ask(client, chat(user("go"), guided_json=either))))
        prose = text_of(await ask(client, chat(user("go"))))

    assert said == {"action": "goto", "url": "http://forbidden.example/"}
    assert "http://forbidden.example/" in prose


async def test_a_field_that_is_not_openais_can_be_refused_by_name() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "unknown-fields", "times": -1})
        refused = await ask(client, {**BODY, "return_token_ids": True}, status=400)
        await ask(client, BODY)

    assert "return_token_ids" in str(inside(refused, "error", "message"))


async def test_a_field_of_openais_can_be_refused_too() -> None:
    async with engine() as (_, client):
        fault: JsonObject = {"kind": "unknown-fields", "fields": ["response_format"]}
        await post(client, "/fault", fault)
        refused = await ask(client, BODY, status=400)

    assert "response_format" in str(inside(refused, "error", "message"))


async def test_pictures_can_be_refused_as_by_a_text_only_model() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "no-pictures", "times": -1})
        refused = await ask(client, BODY, status=400)
        await ask(client, chat(user("go on")))

    assert "does not support image input" in str(inside(refused, "error", "message"))


@pytest.mark.parametrize("stream", [False, True])
async def test_what_a_reply_took_can_stay_unsaid(*, stream: bool) -> None:
    body = {**BODY, "stream": stream, "stream_options": {"include_usage": True}}
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "no-usage"})
        text = await (await client.post(CHAT, json=body)).text()
        again = await (await client.post(CHAT, json=body)).text()

    assert "usage" not in text
    assert "usage" in again


async def test_the_health_page_can_hang() -> None:
    async with engine() as (_, client):
        await post(client, "/fault", {"kind": "hanging-health"})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.get("/health"), 0.3)
        assert (await client.get("/health")).status == 200


async def test_faults_can_be_given_from_the_start_and_in_process() -> None:
    async with engine() as (server, client):
        server.add_fault(Fault(kind=FaultKind.HTTP_503, times=-1))
        await ask(client, BODY, status=503)
        server.clear_faults()
        await ask(client, BODY)

        assert server.request_log.outcomes == {"refused": 1, "whole": 1}


async def test_a_fault_that_does_not_exist_is_refused() -> None:
    async with engine() as (_, client):
        unknown = await client.post("/fault", json={"kind": "flood"})
        odd = await client.post("/fault", json={"kind": "cut", "when": "now"})
        said = await odd.text()

    assert (unknown.status, odd.status) == (400, 400)
    assert "when" in said


async def test_a_server_stops_though_a_request_never_ends() -> None:
    async with engine() as (server, client):
        await post(client, "/fault", {"kind": "endless", "seconds": 0.01})
        response = await client.post(CHAT, json=BODY)
        await response.content.readany()
        began = asyncio.get_running_loop().time()
        await server.__aexit__(None, None, None)
        took = asyncio.get_running_loop().time() - began
        response.close()

    assert took < 10
