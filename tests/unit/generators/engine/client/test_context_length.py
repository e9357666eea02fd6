"""Refusals that are about the length of a prompt, in the words of each server, and those that are not."""

import pytest

from generators.engine.client.context_length import is_too_long

TOO_LONG = [
    # vLLM
    (
        "This model's maximum context length is 4096 tokens. However, you requested 4160 tokens (4032 in the "
        "messages, 128 in the completion). Please reduce the length of the messages or completion."
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 128. This model's maximum context length is 4096 "
        "tokens and your request has 4032 input tokens (128 > 4096 - 4032)."
    ),
    (
        "The decoder prompt (length 4160) is longer than the maximum model length of 4096. Make sure that "
        "`max_model_len` is no smaller than the number of text tokens plus multimodal tokens."
    ),
    (
        "You passed 4097 input tokens and requested 128 output tokens. However, the model's context length is only "
        "4096 tokens, resulting in a maximum input length of 3968 tokens."
    ),
    # SGLang
    "The input (4160 tokens) is longer than the model's context length (4096 tokens).",
    (
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of "
        "4160 tokens: 4032 tokens from the input messages and 128 tokens for the completion."
    ),
    "Input length (4160 tokens) exceeds the maximum allowed length (4090 tokens). Use a shorter input.",
    # OpenAI
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please "
        "reduce the length of the messages."
    ),
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    # llama.cpp
    "the request exceeds the available context size (4096 tokens), try increasing it",
]
OTHER = [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "At most 3 image(s) may be provided in one prompt.",
    "max_tokens must be at least 1, got 0.",
]


@pytest.mark.parametrize("message", TOO_LONG)
def test_each_servers_words_for_a_prompt_that_is_too_long_are_known(message: str) -> None:
    assert is_too_long(400, message)
    assert not is_too_long(500, message)


@pytest.mark.parametrize("message", OTHER)
def test_other_refusals_are_not_about_length(message: str) -> None:
    assert not is_too_long(400, message)
