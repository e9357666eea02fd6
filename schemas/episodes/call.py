"""One call of an engine, and the system prompts that calls share.

Both are rows of tables of their own, and every field is a column of the same name. Whatever a
server does not report is None and never 0.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, TypeVar

from pydantic import Field, JsonValue

from schemas.base import JsonObject, Moment, Record, canonical_json, sha256_hex
from schemas.columns import AsJson, Int32
from schemas.packed import Logprobs, TokenIds

_Number = TypeVar("_Number", int, float)


class StructuredMode(StrEnum):
    """How an engine was asked to follow a schema, from the most portable way on."""

    JSON_SCHEMA = "json_schema"
    """By OpenAI's `response_format`, with the schema."""
    STRUCTURED_OUTPUTS = "structured_outputs"
    """By vLLM's own field in the body, with the schema."""
    JSON_OBJECT = "json_object"
    """By OpenAI's `response_format`, without the schema: any object."""
    NONE = "none"
    """The prompt alone asks for it."""

    @property
    def follows_schema(self) -> bool:
        """Whether the reply follows the schema, and not only the grammar of JSON."""
        return self in {StructuredMode.JSON_SCHEMA, StructuredMode.STRUCTURED_OUTPUTS}

    @property
    def next(self) -> "StructuredMode":
        """The mode to try if a server refuses this one."""
        modes = list(StructuredMode)
        return modes[min(modes.index(self) + 1, len(modes) - 1)]


class WeightsSpan(Record):
    """A version of the weights that wrote a part of a reply."""

    version: str
    """The server's or the trainer's name for it."""
    start: int | None = None
    """The first of the reply's tokens that it wrote, from 0; None where the server does not say."""
    end: int | None = None
    """The token after the last one; None where the server does not say."""


class Call(Record):
    """One request to an engine and its reply."""

    step: Annotated[int, Int32]
    """The step it was made for."""
    call: Annotated[int, Int32]
    """From 0 within the episode."""
    role: str
    """policy, localizer, validator or repair. Reserved: judge and user, as no verifier and no site asks an
    engine yet."""
    engine: str | None = None
    """What serves the model, and which of several, as `vllm-0`; None if unknown."""
    model: str | None = None
    """The model's name."""
    weights_version: str | None = None
    """The version of the weights that wrote the reply, of several the first; where the server does not say it, as its
    trainer told it. None where nobody says."""
    weights_spans: Annotated[tuple[WeightsSpan, ...] | None, AsJson()] = None
    """The versions that wrote the reply one after another, each with its tokens, or those among which the server was
    changed meanwhile, without. None where one wrote all of it, and where nobody says."""
    prompt_sha256: str | None = None
    """Of the system prompt; a row of `prompts`."""
    messages: Annotated[JsonValue, AsJson()] = None
    """The messages, pictures by step number; JSON's null if they were not kept."""
    image_steps: tuple[Annotated[int, Int32], ...] = ()
    """Steps whose pictures were sent."""
    sent_width: Annotated[int | None, Int32] = None
    """Of the picture as sent, px."""
    sent_height: Annotated[int | None, Int32] = None
    """Of the picture as sent, px."""
    coordinates: str | None = None
    """The reply's convention: `px`, `resized`, `0-1000` or `0-1`; None: it holds no points."""
    segment: Annotated[int, Int32] = 0
    """Grows at each eviction; the calls of one segment form one append-only sequence."""
    reply: str | None = None
    """The reply without its reasoning; None if none came."""
    reasoning: str | None = None
    """What the server returned separately as reasoning; None if nothing."""
    structured_mode: StructuredMode | None = None
    """How the engine was asked to follow a schema: `json_schema`, `structured_outputs`,
    `json_object` or `none`; None: there was no schema."""
    finish_reason: str | None = None
    """Why the engine stopped."""
    sampling: JsonObject = Field(default_factory=dict)
    """Temperature and the like."""
    prompt_tokens: Annotated[int | None, Int32] = None
    """None where the server does not say."""
    cached_tokens: Annotated[int | None, Int32] = None
    """Prompt tokens served from a cache; None where the server does not say."""
    cacheable_tokens: Annotated[int | None, Int32] = None
    """Prompt tokens that a perfect cache would serve: the longest beginning that any conversation of the run had sent to
    the endpoint, in whole blocks. None where the server counts no tokens."""
    image_tokens: Annotated[int | None, Int32] = None
    """Prompt tokens of pictures, with the markers around them where the server counts those; None where
    it does not say."""
    completion_tokens: Annotated[int | None, Int32] = None
    """None where the server does not say."""
    wasted_tokens: Annotated[int | None, Int32] = None
    """Tokens of replies that did not arrive whole."""
    prompt_token_ids: TokenIds | None = None
    """None where the server does not give them."""
    completion_token_ids: TokenIds | None = None
    """None where the server does not give them."""
    completion_logprobs: Logprobs | None = None
    """One per completion token; None where the server does not give them."""
    logprobs_mode: str | None = None
    """`raw` or `processed`."""
    queue_ms: float | None = None
    """Time that the request waited in the engine's queue, ms; None where the server does not say."""
    ttft_ms: float | None = None
    """From its arrival in the engine's queue to the first token, `queue_ms` included, ms; None where
    the server does not say."""
    total_ms: float | None = None
    """The whole call, ms."""
    retries: Annotated[int, Int32] = 0
    """How often the request was repeated because a reply did not arrive whole."""
    cost_usd: float | None = None
    """None if it has no known price."""
    at: Moment
    """When it was made, UTC."""


class Prompt(Record):
    """A system prompt, kept once for all the calls that used it."""

    prompt_sha256: str
    """Of `text` and `tools`."""
    dialect: str
    """The dialect of the prompt."""
    dialect_version: str
    """The dialect's version."""
    text: str
    """The prompt's text."""
    tools: Annotated[JsonValue, AsJson()] = None
    """Tool definitions; JSON's null if there are none."""


def prompt_hash(text: str, tools: JsonValue) -> str:
    """Return the hash of a system prompt and its tools, which a row of `prompts` is known by."""
    return sha256_hex(canonical_json([text, tools]).encode("utf-8", "surrogatepass"))


def versions_of(calls: Iterable[Call]) -> tuple[str, ...]:
    """Return the versions of the weights that wrote the replies, each once, in the order of the calls."""
    named = (
        one
        for call in calls
        for one in (call.weights_version, *(span.version for span in call.weights_spans or ()))
    )
    return tuple(dict.fromkeys(one for one in named if one is not None))


def join_versions(versions: Sequence[str]) -> str | None:
    """Return versions as an episode's column has them; None if there is none."""
    return ", ".join(versions) or None


class Usage(Record):
    """The columns of an episode that sum up its calls."""

    prompt_tokens: int
    """Over all calls whose server says it."""
    completion_tokens: int
    """Over all calls whose server says it."""
    cached_tokens: int | None
    """None where the server does not say."""
    image_tokens: int | None
    """None where the server does not say."""
    engine_seconds: float
    """Waiting for the engine, s."""
    cost_usd: float | None
    """None if no call has a known price."""


def usage(calls: Sequence[Call]) -> Usage:
    """Return the sums over `calls`."""
    return Usage(
        prompt_tokens=sum(call.prompt_tokens or 0 for call in calls),
        completion_tokens=sum(call.completion_tokens or 0 for call in calls),
        cached_tokens=sum_known(call.cached_tokens for call in calls),
        image_tokens=sum_known(call.image_tokens for call in calls),
        engine_seconds=sum(call.total_ms or 0 for call in calls) / 1_000,
        cost_usd=sum_known(call.cost_usd for call in calls),
    )


def sum_known(values: Iterable[_Number | None]) -> _Number | None:
    """Return the sum of the values that are known; None if none is."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None
