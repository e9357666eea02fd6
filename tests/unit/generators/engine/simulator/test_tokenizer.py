"""What the simulator counts: tokens, hits of its cache, and the page of its counters."""

import asyncio

import pytest
from support.servers.engine_http import (
    CHAT,
    ask,
    chat,
    engine,
    events,
    get,
    inside,
    ints,
    picture,
    post,
    text_of,
    user,
)

from generators.engine.simulator.options import SimulatorOptions
from schemas.base import JsonObject

TOLD = SimulatorOptions(prompt_tokens_details=True, request_metrics=True)
"""It says all that vLLM says when it is told to."""


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
    async with engine(TOLD) as (_, client):
        reply = await ask(client, chat(user(picture(1_280, 720), "go"), return_token_ids=True))

    ids = ints(reply["prompt_token_ids"])
    commonest = max(set(ids), key=ids.count)
    run = ids[ids.index(commonest) :][: 40 * 23]
    assert set(run) == {commonest}
    assert ids.count(commonest) == 40 * 23
    details = inside(reply, "usage", "prompt_tokens_details")
    assert inside(details, "multimodal_tokens") == {"image": 40 * 23}


async def test_tokens_are_told_apart_as_vllm_does_and_only_on_request() -> None:
    body = chat(user(picture(), "go"))
    async with engine() as (_, client):
        silent = await ask(client, body)
    async with engine(TOLD) as (_, client):
        seen, read = await ask(client, body), await ask(client, chat(user("go")))

    assert inside(silent, "usage", "prompt_tokens_details") is None
    assert inside(seen, "usage", "prompt_tokens_details", "multimodal_tokens") == {"image": 70}
    assert inside(read, "usage", "prompt_tokens_details", "multimodal_tokens") is None
    assert _cached(read) == 0


async def test_times_are_told_as_vllm_does_and_only_on_request() -> None:
    async with engine() as (_, client):
        silent = await ask(client, chat(user("go")))
    options = SimulatorOptions(request_metrics=True, at_once=1, delay_ms=(200, 200))
    async with engine(options) as (_, client), asyncio.TaskGroup() as group:
        body = chat(user("go"), max_tokens=4)
        tasks = [group.create_task(ask(client, body)) for _ in range(2)]

    assert silent["metrics"] is None
    first, second = sorted(
        (task.result() for task in tasks), key=lambda one: _ms(one, "queue_time_ms")
    )
    assert _ms(first, "time_to_first_token_ms") > 99
    assert _ms(first, "generation_time_ms") > 99
    assert _ms(first, "mean_itl_ms") == pytest.approx(_ms(first, "generation_time_ms") / 3)
    assert _ms(second, "queue_time_ms") > 199


async def test_a_stream_ends_with_the_times() -> None:
    body = chat(user("go"), stream=True, stream_options={"include_usage": True})
    async with engine(TOLD) as (_, client), client.post(CHAT, json=body) as response:
        *before, last = events((await response.text()).splitlines())

    assert _ms(last, "time_to_first_token_ms") >= 0
    assert inside(last, "usage", "prompt_tokens_details", "cached_tokens") == 0
    assert not any("metrics" in event for event in before)


def _ms(reply: JsonObject, name: str) -> float:
    found = inside(reply, "metrics", name)
    assert isinstance(found, float)
    return found


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
    async with engine(TOLD) as (_, client):
        cold = await ask(client, chat(*first, return_token_ids=True))
        warm = await ask(client, chat(*first))
        grown = await ask(client, chat(*first, user("and on " * 40)))

    length = len(ints(cold["prompt_token_ids"]))
    assert _cached(cold) == 0
    assert length - 17 <= _cached(warm) < length
    assert length - 19 <= _cached(grown) < length


async def test_another_picture_of_the_same_size_ends_the_cached_prefix() -> None:
    before, after = "word " * 100, "word " * 300
    async with engine(TOLD) as (_, client):
        await ask(client, chat(user(before, picture(), after)))
        other = await ask(client, chat(user(before, picture(background="navy"), after)))

    assert 80 <= _cached(other) <= 112


async def test_what_was_used_longest_ago_leaves_the_cache_first() -> None:
    old, new = (user(f"{word} " * 160) for word in ("old", "new"))
    async with engine(SimulatorOptions(cache_blocks=12, prompt_tokens_details=True)) as (_, client):
        await ask(client, chat(old))
        await ask(client, chat(new))
        counts = [_cached(await ask(client, chat(message))) for message in (new, old)]

    assert counts[0] >= 144
    assert counts[1] < 48


async def test_a_cache_that_is_off_never_hits_and_says_so() -> None:
    async with engine(SimulatorOptions(prefix_cache=False, prompt_tokens_details=True)) as (
        _,
        client,
    ):
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
    async with engine(TOLD) as (_, client):
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
    options = SimulatorOptions(at_once=2, delay_ms=(60_000, 60_000))
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
