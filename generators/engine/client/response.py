"""A server's answer, parsed from bytes into the fields of a `Reply`.

Servers agree on the outline of a chat completion and on little else, so each field is taken where
it has the right type and is None where it has not: a missing number is unknown, never 0. An answer
that is not a chat completion at all is an error, and the caller retries. Values that a table cannot
hold are repaired here: halves of characters, log-probabilities that are not finite, texts far longer
than any reply.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from generators.engine.client.weights import read_spans
from schemas.episodes.call import WeightsSpan
from schemas.packed import Logprobs, TokenIds
from schemas.truncation import to_well_formed

MAX_CHARS = 262_144
"""The longest text kept, in characters; a longer reply says how much is missing, and loses the ids
of its tokens, which would no longer be its text's."""

_USAGE = re.compile(rb'"(prompt|completion)_tokens"\s*:\s*(\d{1,9})\b(?=\s*[,}])')


class InvalidCompletion(ValueError):
    """An answer is not a chat completion, or not all of one."""


@dataclass(frozen=True)
class ChatCompletion:
    """The fields of one chat completion."""

    text: str
    """Content and tool calls, in order."""
    reasoning: str | None
    """The text that the server separated as thinking."""
    finish_reason: str | None
    """The finish reason, as the server sends it."""
    model: str | None
    """The model's name, as the server sends it."""
    weights: tuple[WeightsSpan, ...]
    """The versions of the weights that wrote it; empty where the server names none here."""
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    image_tokens: int | None
    queue_ms: float | None
    ttft_ms: float | None
    prompt_token_ids: TokenIds | None
    completion_token_ids: TokenIds | None
    completion_logprobs: Logprobs | None
    cut_chars: int
    """Characters of the text and the reasoning that were too many to keep."""


def read_completion(body: bytes) -> ChatCompletion:
    """Return the completion in the body of an answer.

    Raises:
        InvalidCompletion: it is not UTF-8, not whole JSON, or not a chat completion.
    """
    top = _object(_json(body))
    choices = top.get("choices")
    choice = _object(choices[0] if isinstance(choices, list) and choices else None)
    message = _object(choice.get("message"))
    if not message:
        raise InvalidCompletion(f"no message in it: {_excerpt(body)}")
    text, cut = _truncate("\n".join(_texts(message)))
    thinking = message.get("reasoning_content") or message.get("reasoning")
    reasoning, cut_too = _truncate(thinking) if isinstance(thinking, str) else (None, 0)
    too_long = cut + cut_too > 0
    usage = _object(top.get("usage"))
    details = _object(usage.get("prompt_tokens_details"))
    times = _object(top.get("metrics"))
    # vLLM counts the time to the first token from where the time in the queue ends.
    queue_ms, first_ms = _ms(times.get("queue_time_ms")), _ms(times.get("time_to_first_token_ms"))
    # SGLang names the reply's ids so, and has the prompt's beside them.
    own_ids = choice.get("token_ids", choice.get("response_token_ids"))
    ids = None if too_long else _ids(own_ids)
    return ChatCompletion(
        text=text,
        reasoning=reasoning,
        finish_reason=_short_text(choice.get("finish_reason")),
        model=_short_text(top.get("model")),
        weights=read_spans(top, choice),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens")),
        image_tokens=_count(_object(details.get("multimodal_tokens")).get("image")),
        queue_ms=queue_ms,
        ttft_ms=None if queue_ms is None or first_ms is None else queue_ms + first_ms,
        prompt_token_ids=_ids(top.get("prompt_token_ids", choice.get("prompt_token_ids"))),
        completion_token_ids=ids,
        completion_logprobs=None if too_long else _logprobs(choice.get("logprobs"), ids),
        cut_chars=cut + cut_too,
    )


def partial_usage(part: bytes) -> int | None:
    """Return the tokens that the beginning of a cut answer reports; None if it reports none."""
    counts = {bytes(kind): int(count) for kind, count in _USAGE.findall(part)}
    return sum(counts.values()) if counts else None


def error_message(body: bytes) -> str:
    """Return the error message of a refusal, on one line."""
    try:
        top = _object(_json(body))
    except InvalidCompletion:
        return _excerpt(body)
    error = top.get("error", top)
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else top.get("detail")
    return one_line(text if isinstance(text, str) else body.decode("utf-8", "replace"))


def one_line(text: str, max_chars: int = 500) -> str:
    """Return `text` as one line of at most `max_chars` characters that any table can hold."""
    line = " ".join(to_well_formed(text).split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def _json(body: bytes) -> JsonValue:
    try:
        document: JsonValue = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidCompletion(f"not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise InvalidCompletion("nested too deeply to be one") from error
    except ValueError as error:
        raise InvalidCompletion(f"not whole JSON: {_excerpt(body)}") from error
    return document


def _excerpt(body: bytes) -> str:
    return one_line(body[:400].decode("utf-8", "replace"), 200) or "an empty body"


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _short_text(value: JsonValue) -> str | None:
    return one_line(value, 200) if isinstance(value, str) and value else None


def _count(value: JsonValue) -> int | None:
    return value if type(value) is int and 0 <= value < 2**31 else None


def _ms(value: JsonValue) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _ids(value: JsonValue) -> TokenIds | None:
    """Return the ids of tokens; None if one is not a token's.

    A prompt has thousands of them. As Python's own numbers they live only while one answer is read.
    """
    if not isinstance(value, list) or not set(map(type, value)) <= {int}:
        return None
    try:
        ids = TokenIds(cast("list[int]", value))
    except OverflowError:
        return None
    return ids if not ids or min(ids) >= 0 else None


def _truncate(text: str) -> tuple[str, int]:
    """Return `text` as it is kept, and how many of its characters are not."""
    return to_well_formed(text[:MAX_CHARS]), max(0, len(text) - MAX_CHARS)


def _texts(message: dict[str, JsonValue]) -> Iterator[str]:
    """Yield the content, then each tool call as text, as models write them themselves."""
    content, calls = message.get("content"), message.get("tool_calls")
    if isinstance(content, str) and content:
        yield content
    elif isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        if text := "".join(part for part in parts if isinstance(part, str)):
            yield text
    for call in calls if isinstance(calls, list) else ():
        function = _object(_object(call).get("function"))
        if function:
            written = {"name": function.get("name"), "arguments": _arguments(function)}
            yield f"<tool_call>{json.dumps(written, ensure_ascii=False)}</tool_call>"


def _arguments(function: dict[str, JsonValue]) -> JsonValue:
    """Return the arguments of a call, parsed where they are a text of JSON, else as they came."""
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        return arguments
    try:
        parsed: JsonValue = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return parsed


def _logprobs(value: JsonValue, ids: TokenIds | None) -> Logprobs | None:
    """Return the log-probability of every token; None if one is not finite, or their number is wrong."""
    content = _object(value).get("content")
    if not isinstance(content, list):
        return None
    values = [_object(token).get("logprob") for token in content]
    numbers = tuple(
        float(each)
        for each in values
        if isinstance(each, int | float)
        and not isinstance(each, bool)
        and abs(each) <= Logprobs.width.limit
    )
    complete = len(numbers) == len(values) and (ids is None or len(ids) == len(numbers))
    return Logprobs(numbers) if complete else None
