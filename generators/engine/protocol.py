"""The protocol of an engine: a prompt with pictures goes in, a reply comes out.

An engine serves a model to many episodes at once. A request has no side effects, so an engine retries by
itself if a reply did not arrive whole; a reply that did arrive is final, good or bad. Values that a server
does not report (tokens, log-probabilities, times) are None and never 0. Implementations are `OpenAIEngine`,
for any OpenAI-compatible server, and the stubs of tests.
"""

import base64
import hashlib
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from pydantic import ConfigDict, Field

from generators.engine.stopwatch import Stopwatch
from schemas.base import JsonObject, Record
from schemas.episodes.call import StructuredMode, WeightsSpan
from schemas.errors import RolloutFailure
from schemas.packed import Logprobs, TokenIds


class Role(StrEnum):
    """The author of a message."""

    SYSTEM = "system"
    """The instructions for the whole conversation."""
    USER = "user"
    """Observations, and the outcomes of actions."""
    ASSISTANT = "assistant"
    """The model's replies."""


@dataclass(frozen=True)
class Picture:
    """A picture in a prompt; it is encoded once, however often it is sent."""

    jpeg: bytes
    """The bytes of a JPEG."""
    step: int
    """The step whose screenshot it is; -1 for one that belongs to no step."""
    width: int
    """Width as sent, px."""
    height: int
    """Height as sent, px."""

    @cached_property
    def content(self) -> bytes:
        """A digest of its bytes, by which equal pictures are known."""
        return hashlib.blake2b(self.jpeg, digest_size=16).digest()

    @cached_property
    def url(self) -> str:
        """The picture as a data URL; kept until `drop_url`, because the next prompts have it too."""
        return "data:image/jpeg;base64," + base64.b64encode(self.jpeg).decode("ascii")

    def drop_url(self) -> None:
        """Keep the JPEG alone, because the picture has left the prompt; `url` makes its URL anew."""
        self.__dict__.pop("url", None)


Part = str | Picture
"""A piece of a message: text or a picture."""


class Message(Record):
    """One message: text and pictures in order."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    role: Role
    """Its author."""
    parts: tuple[Part, ...]
    """Texts and pictures in order; most messages have a single text."""


class EnginePrompt(Record):
    """Everything in a request for a reply but the sampling."""

    messages: tuple[Message, ...] = Field(min_length=1)
    """The messages in order; the system message first."""
    reply_schema: JsonObject | None = None
    """JSON schema that the reply must follow; None: free text."""
    schema_name: str = "reply"
    """The schema's name, for servers that require one."""
    tools: tuple[JsonObject, ...] = ()
    """Function tools in OpenAI's form; empty: none."""


class Sampling(Record):
    """The settings by which the tokens of a reply are drawn."""

    temperature: float = Field(default=0.0, ge=0, le=2)
    """0: the likeliest token each time."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus; None: the server's default."""
    max_tokens: int = Field(default=1_024, ge=1)
    """The longest reply, tokens."""
    seed: int | None = None
    """Seed of the draw; None: not seeded."""
    logprobs: bool = False
    """Ask for the log-probability of each token of the reply."""
    extra: JsonObject = Field(default_factory=dict)
    """Further fields of the request's body, such as `chat_template_kwargs`."""


class Reply(Record):
    """A whole reply; a field is None where the server does not report it."""

    text: str
    """The reply without its reasoning; may be empty."""
    reasoning: str | None = None
    """The text that the server separates as thinking."""
    finish_reason: str | None = None
    """`stop`, `length` or another of the server's values."""
    endpoint: str
    """The endpoint that answered, without credentials."""
    model: str | None = None
    """The server's name for the model."""
    weights: tuple[WeightsSpan, ...] = ()
    """The versions of the weights that wrote it, in order; empty where the server says none."""
    prompt_tokens: int | None = None
    """Tokens of the whole prompt, pictures included."""
    completion_tokens: int | None = None
    """Tokens of the whole reply, reasoning included."""
    cached_tokens: int | None = None
    """Prompt tokens that a cache served."""
    image_tokens: int | None = None
    """Prompt tokens that are pictures."""
    prompt_token_ids: TokenIds | None = None
    """Token ids of the whole prompt, a picture's placeholders included."""
    completion_token_ids: TokenIds | None = None
    """Token ids of the whole reply."""
    completion_logprobs: Logprobs | None = None
    """One for each completion token; None too where the server sent something other than a number."""
    logprobs_mode: str | None = None
    """`raw` or `processed`; None without log-probabilities or where it is not known."""
    queue_ms: float | None = None
    """Time in the server's queue, ms."""
    ttft_ms: float | None = None
    """Time from its arrival in the server's queue to the first token, `queue_ms` included, ms."""
    paused_ms: float = 0.0
    """Time of `total_ms` in which the server was paused by whoever trains it, ms, as far as it says so."""
    total_ms: float
    """Time from the answered request to its reply, ms."""
    block_tokens: int | None = None
    """Tokens of a block of the server's prefix cache."""
    retries: int = 0
    """Number of times that the request was sent again because a reply did not arrive whole."""
    wasted_tokens: int | None = None
    """Tokens of replies that did not arrive whole, as far as they can be counted; None if none."""
    structured_mode: StructuredMode | None = None
    """The mode by which the server was asked to follow the schema; None: the prompt has none."""
    left_out: tuple[str, ...] = ()
    """Fields of the sampling that the server refuses and was not sent, as `seed`."""
    cut_chars: int = Field(default=0, ge=0)
    """Characters of the text and the reasoning left out, as too long to keep; if any, no answer."""

    @property
    def structured(self) -> bool:
        """The server was made to follow the schema."""
        return self.structured_mode is not None and self.structured_mode.follows_schema


class PromptTooLong(RolloutFailure):
    """A server refuses a prompt because it is longer than the model's context, with room for the reply."""


class EngineCard(Record):
    """The known properties of an engine before its first request."""

    model: str
    """The server's name for the model."""
    product: str | None = None
    """`vllm`, `sglang`, `trtllm`, `llama.cpp`, `scripted`; None if unknown."""
    version: str | None = None
    """The server's version; None if it reports none."""
    context_tokens: int | None = None
    """The longest prompt and reply together; None if the server reports none."""
    endpoints: tuple[str, ...] = ()
    """Every endpoint, without credentials."""


class Engine(Protocol):
    """Serves a model to many episodes at once."""

    @property
    def card(self) -> EngineCard:
        """The servers' reports when the engine was opened."""
        ...

    async def reply(
        self,
        prompt: EnginePrompt,
        sampling: Sampling,
        *,
        session: str,
        stopwatch: Stopwatch | None = None,
    ) -> Reply:
        """Return the reply to `prompt`.

        `session` names the conversation: its requests stay with one endpoint while that lives,
        because its prefix is in that endpoint's cache. `stopwatch` is paused while no endpoint
        is live. Cancelling ends the request at the server too.

        Raises:
            PromptTooLong: the prompt does not fit into the model's context.
            RolloutFailure: a server that replies to others refuses the request for good, dies of it, or gave
                no whole reply in time.
            NoEngine: no server is left to ask.
        """
        ...

    def hear(self, reply: Reply, *, session: str, cacheable_tokens: int | None) -> None:
        """Learn how much of a reply's prompt its server's cache could have served; None: it is not known.

        By that an engine finds how many conversations may live at a time.
        """
        ...
