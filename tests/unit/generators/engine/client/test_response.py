"""A reply is read for what it says, and what it does not say is None."""

import json
import math

import pytest
from pydantic import JsonValue

from generators.engine.client.response import (
    MAX_CHARS,
    InvalidCompletion,
    error_message,
    one_line,
    partial_usage,
    read_completion,
)
from schemas.packed import TokenIds


def answer(message: JsonValue = None, *, choice: JsonValue = None, **top: JsonValue) -> bytes:
    first: dict[str, JsonValue] = {
        "message": message or {"content": "hello"},
        "finish_reason": "stop",
    }
    if isinstance(choice, dict):
        first |= choice
    return json.dumps({"model": "m", "choices": [first], **top}).encode()


def test_what_the_server_does_not_say_is_none() -> None:
    found = read_completion(answer())

    assert (found.text, found.finish_reason, found.model) == ("hello", "stop", "m")
    assert found.prompt_tokens is None
    assert found.completion_tokens is None
    assert found.cached_tokens is None
    assert found.image_tokens is None
    assert found.queue_ms is None
    assert found.ttft_ms is None
    assert found.prompt_token_ids is None
    assert found.completion_token_ids is None
    assert found.completion_logprobs is None
    assert found.cut_chars == 0


def test_usage_and_token_ids_are_read() -> None:
    found = read_completion(
        answer(
            choice={"token_ids": [4, 5]},
            prompt_token_ids=[1, 2, 3],
            usage={
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 1, "multimodal_tokens": {"image": 2}},
            },
        )
    )

    assert (found.prompt_tokens, found.completion_tokens) == (3, 2)
    assert (found.cached_tokens, found.image_tokens) == (1, 2)
    assert found.prompt_token_ids == TokenIds((1, 2, 3))
    assert found.completion_token_ids == TokenIds((4, 5))


def test_only_pictures_count_as_pictures() -> None:
    def read(details: JsonValue) -> int | None:
        return read_completion(answer(usage={"prompt_tokens_details": details})).image_tokens

    assert read({"multimodal_tokens": {"image": 9, "video": 4}}) == 9
    assert read({"multimodal_tokens": {"video": 4}}) is None
    assert read({"multimodal_tokens": None}) is None
    assert read({"image_tokens": 9}) is None


def test_the_first_token_is_counted_from_the_arrival_in_the_queue() -> None:
    found = read_completion(
        answer(
            metrics={"queue_time_ms": 40.5, "time_to_first_token_ms": 100, "generation_time_ms": 7}
        )
    )

    assert (found.queue_ms, found.ttft_ms) == (40.5, 140.5)


@pytest.mark.parametrize("strange", [None, -1, True, "7", math.nan, math.inf])
def test_a_time_that_is_none_is_unknown_and_not_zero(strange: JsonValue) -> None:
    queued = read_completion(
        answer(metrics={"queue_time_ms": strange, "time_to_first_token_ms": 5.0})
    )
    worked = read_completion(
        answer(metrics={"queue_time_ms": 5.0, "time_to_first_token_ms": strange})
    )

    assert (queued.queue_ms, queued.ttft_ms) == (None, None)
    assert (worked.queue_ms, worked.ttft_ms) == (5.0, None)


@pytest.mark.parametrize("strange", [-1, True, 1.5, "7", None, [], 2**40])
def test_a_count_that_is_none_is_unknown_and_not_zero(strange: JsonValue) -> None:
    assert read_completion(answer(usage={"prompt_tokens": strange})).prompt_tokens is None


def test_content_in_parts_is_put_together() -> None:
    parts: JsonValue = [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]

    assert read_completion(answer({"content": parts})).text == "ab"


@pytest.mark.parametrize("content", [None, "", []])
def test_an_empty_reply_is_whole_and_empty(content: JsonValue) -> None:
    assert read_completion(answer({"role": "assistant", "content": content})).text == ""


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_is_set_apart(key: str) -> None:
    found = read_completion(answer({"content": "x", key: "because"}))

    assert (found.text, found.reasoning) == ("x", "because")


def test_tool_calls_follow_the_text_as_models_write_them() -> None:
    calls: JsonValue = [
        {"function": {"name": "click", "arguments": '{"x": 1}'}},
        {"function": {"name": "odd", "arguments": "{not json"}},
        "nothing",
    ]

    assert read_completion(answer({"content": "so", "tool_calls": calls})).text == (
        'so\n<tool_call>{"name": "click", "arguments": {"x": 1}}</tool_call>\n'
        '<tool_call>{"name": "odd", "arguments": "{not json"}</tool_call>'
    )


@pytest.mark.parametrize("bad", [float("nan"), float("-inf"), None, "x", True])
def test_one_log_probability_that_is_no_number_makes_all_unknown(bad: JsonValue) -> None:
    content: JsonValue = [{"logprob": -0.5}, {"logprob": bad}]

    found = read_completion(answer(choice={"logprobs": {"content": content}}))

    assert found.completion_logprobs is None


def test_log_probabilities_that_do_not_fit_the_tokens_are_unknown() -> None:
    logprobs: JsonValue = {"content": [{"logprob": -0.5}]}

    one = read_completion(answer(choice={"logprobs": logprobs, "token_ids": [1]}))
    two = read_completion(answer(choice={"logprobs": logprobs, "token_ids": [1, 2]}))

    assert one.completion_logprobs == (-0.5,)
    assert two.completion_logprobs is None


def test_a_reply_far_too_long_is_cut_and_says_so() -> None:
    found = read_completion(answer({"content": "x" * 1_000_000}, choice={"token_ids": [1, 2, 3]}))

    assert len(found.text) == MAX_CHARS
    assert found.cut_chars == 1_000_000 - MAX_CHARS
    assert found.completion_token_ids is None


def test_halves_of_characters_are_mended_and_pairs_kept() -> None:
    body = b'{"choices": [{"message": {"content": "a\\ud800b \\ud83d\\ude00"}}]}'

    assert read_completion(body).text == "a\ufffdb \U0001f600"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not whole JSON: an empty body"),
        (b'{"choices": [{"mess', "not whole JSON"),
        (b'{"choices": "\xff\xfe"}', "not UTF-8 at byte 13"),
        (b"{}", "no message in it"),
        (b"[]", "no message in it"),
        (b'{"choices": []}', "no message in it"),
        (b'{"choices": [{"message": null}]}', "no message in it"),
        (b'{"error": {"message": "sorry"}}', "no message in it"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_chat_completion_is_no_reply(body: bytes, why: str) -> None:
    with pytest.raises(InvalidCompletion, match=why):
        read_completion(body)


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        (b'{"usage":{"prompt_tokens": 12,"completion_tokens":3,"total', 15),
        (b'{"usage":{"prompt_tokens": 12,"comp', 12),
        (b'{"usage":{"prompt_tokens": 12', None),  # perhaps 123
        (b'{"choices":[{"message"', None),
        (b"", None),
    ],
)
def test_a_part_reply_counts_what_it_says(part: bytes, tokens: int | None) -> None:
    assert partial_usage(part) == tokens


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "too\\nlong"}}', "too long"),
        (b'{"object": "error", "message": "no"}', "no"),
        (b'{"error": "no"}', "no"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b"<html>\n bad gateway", "<html> bad gateway"),
        (b"\xff", "\ufffd"),
        (b"", "an empty body"),
    ],
)
def test_what_a_refusal_says_is_one_line(body: bytes, said: str) -> None:
    assert error_message(body) == said


def test_a_long_line_is_cut_with_a_mark() -> None:
    assert one_line("x" * 900) == "x" * 499 + "…"
