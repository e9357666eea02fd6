"""What a scripted engine counts: its tokens, what its cache held, and the page of its counters."""

import asyncio

from wires import ask, chat, engine, get, inside, ints, picture, post, text_of, user

from generators.engine.scripted.options import ScriptedOptions
from schemas.base import JsonObject


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
