"""One engine, one dialect, one episode: what is asked is put together, sent, and booked as a call.

A speaker turns a prompt and a reply into a row of `calls`. Pictures stand in it by the number of
their step and the system prompt by its hash, so a row says exactly what was sent and repeats no
picture. What a policy makes of the reply is not its matter.
"""

import asyncio
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath

from PIL import Image
from pydantic import JsonValue

from generators.engine.client.pricing import usd_of_reply, usd_of_seconds
from generators.engine.client.time_share import Share, SharedTime
from generators.engine.protocol import (
    Engine,
    EngineCard,
    EnginePrompt,
    Message,
    Picture,
    Reply,
    Role,
    Sampling,
)
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Dialect
from generators.policy.model.usage import Account
from schemas.base import JsonObject, canonical_json, content_hash, sha256_hex
from schemas.episode import Call, Prompt, Step
from schemas.observation import Observation
from schemas.sections import EngineSection

JPEG_QUALITY = 90
"""Of a picture that had to be resized."""


@dataclass(frozen=True, slots=True)
class Voice:
    """How an engine is spoken to, the same for every episode of a run."""

    engine: Engine
    """Who is asked."""
    dialect: Dialect
    """How."""
    sampling: Sampling
    """How replies are drawn, the seed apart."""
    frame: Frame
    """The sizes between which points are carried."""
    prompt: Prompt
    """The system prompt."""
    schema: JsonObject | None
    """What a reply must follow; None: free text."""
    time: SharedTime
    """The engine's time, divided among the replies of all episodes."""
    pricing: EngineSection
    """What the engine charges, by tokens or by the hour, if it does."""
    points: bool = True
    """Its replies may hold points, in the dialect's convention."""


def make_prompt(dialect: Dialect, text: str, schema: JsonObject | None) -> Prompt:
    """Return the row of `prompts` for a system prompt."""
    return Prompt(
        prompt_sha256=sha256_hex(canonical_json([text, schema]).encode("utf-8", "surrogatepass")),
        dialect=dialect.name,
        dialect_version=dialect.version,
        text=text,
        tools=schema,
    )


class Speaker:
    """Asks one engine for one episode, and books every call."""

    def __init__(self, voice: Voice, account: Account, *, session: str) -> None:
        self._voice = voice
        self._account = account
        self._session = session
        self._last: tuple[int, Reply] | None = None

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        step: int,
        role: str,
        segment: int = 0,
    ) -> Reply:
        """Return the reply to `messages`, and book the call.

        Raises:
            RolloutFailure: the engine gives none.
        """
        at, sampling = datetime.now(UTC), self._sampling()
        with self._voice.time.awaited() as share:
            reply = await self._voice.engine.reply(
                EnginePrompt(messages=tuple(messages), reply_schema=self._voice.schema),
                sampling,
                session=self._session,
                stopwatch=self._account.stopwatch,
            )
        call = self._call(messages, reply, sampling)
        told: dict[str, object] = {"step": step, "role": role, "segment": segment, "at": at}
        told["cost_usd"] = _cost(self._voice.pricing, reply, share)
        told["cacheable_tokens"] = self._cacheable(reply, segment)
        self._account.calls.append(call.model_copy(update=told))
        if role != "repair":
            self._last = segment, reply
        return reply

    def _sampling(self) -> Sampling:
        """Return how the next reply is drawn; equal episodes draw alike, call by call."""
        sampling = self._voice.sampling
        if not sampling.temperature:
            return sampling
        number = len(self._account.calls)
        seed = int(content_hash(["draws", self._session, number])[:8], 16) & 0x7FFF_FFFF
        return sampling.model_copy(update={"seed": seed})

    def _call(self, messages: Sequence[Message], reply: Reply, sampling: Sampling) -> Call:
        voice = self._voice
        pictures = [p for m in messages for p in m.parts if isinstance(p, Picture)]
        own = {name: getattr(reply, name) for name in _SAME}
        return Call(
            step=0,
            call=len(self._account.calls),
            role="",
            engine=engine_label(voice.engine.card, reply.endpoint),
            model=model_name(reply.model),
            prompt_sha256=voice.prompt.prompt_sha256,
            messages=[_shown(message, voice.prompt) for message in messages],
            image_steps=tuple(picture.step for picture in pictures),
            sent_width=pictures[-1].width if pictures else None,
            sent_height=pictures[-1].height if pictures else None,
            coordinates=voice.dialect.convention.value if voice.points else None,
            reply=reply.text,
            sampling=sampling_row(sampling),
            at=datetime.now(UTC),
            **own,
        )

    def _cacheable(self, reply: Reply, segment: int) -> int | None:
        """Return how many prompt tokens the conversation's own cache could have served."""
        if self._last is None:
            return 0
        before, last = self._last
        if reply.prompt_token_ids is not None and last.prompt_token_ids is not None:
            return _common(last.prompt_token_ids, reply.prompt_token_ids)
        return last.prompt_tokens if before == segment else None


def _cost(pricing: EngineSection, reply: Reply, share: Share) -> float | None:
    """Return the dollars of a call, by tokens or by its share of an engine paid by the hour."""
    if pricing.usd_per_million is not None:
        return usd_of_reply(reply, pricing.usd_per_million)
    if pricing.usd_per_hour is not None:
        return usd_of_seconds(share.seconds, pricing.usd_per_hour)
    return None


_SAME = (
    "reasoning",
    "structured_mode",
    "finish_reason",
    "prompt_tokens",
    "cached_tokens",
    "image_tokens",
    "completion_tokens",
    "wasted_tokens",
    "prompt_token_ids",
    "completion_token_ids",
    "completion_logprobs",
    "logprobs_mode",
    "queue_ms",
    "ttft_ms",
    "total_ms",
    "retries",
)
"""What a call takes over from its reply."""


def sampling_row(sampling: Sampling) -> JsonObject:
    """Return how a reply is drawn, as rows hold it."""
    row: JsonObject = sampling.model_dump(mode="json", exclude_none=True)
    return row if row["extra"] else {key: value for key, value in row.items() if key != "extra"}


def engine_label(card: EngineCard, endpoint: str) -> str:
    """Return what rows call an endpoint: its product and number, for addresses come and go."""
    known = enumerate(card.endpoints)
    number = next((n for n, name in known if name == endpoint), 0)
    return f"{card.product or 'engine'}-{number}"


def model_name(model: str | None) -> str | None:
    """Return what rows call a model: one that was served from a folder goes by the folder's name."""
    return PurePath(model).name if model is not None and model.startswith(("/", ".")) else model


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how long the beginning is that both share."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _shown(message: Message, prompt: Prompt) -> JsonValue:
    """Return a message as rows of `calls` hold it."""
    if message.role is Role.SYSTEM and message.parts == (prompt.text,):
        return {"role": message.role.value, "prompt_sha256": prompt.prompt_sha256}
    parts: list[JsonValue] = [
        {"type": "image", "step": part.step}
        if isinstance(part, Picture)
        else {"type": "text", "text": part}
        for part in message.parts
    ]
    return {"role": message.role.value, "content": parts}


async def picture_of(shown: Observation | Step, *, step: int, size: tuple[int, int]) -> Picture:
    """Return a picture as it is sent: its very bytes where the size is right, else resized."""
    width, height = size
    if size == (shown.width, shown.height):
        return Picture(jpeg=shown.screenshot.bytes, step=step, width=width, height=height)
    jpeg = await asyncio.to_thread(_resized, shown.screenshot.bytes, size)
    return Picture(jpeg=jpeg, step=step, width=width, height=height)


def _resized(jpeg: bytes, size: tuple[int, int]) -> bytes:
    with Image.open(io.BytesIO(jpeg)) as picture:
        resized = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    out = io.BytesIO()
    resized.save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()
