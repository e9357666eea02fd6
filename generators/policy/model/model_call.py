"""Asks an engine on behalf of one episode, and records every call.

A prompt and its reply become a row of `calls`. A picture is recorded as the number of its step, and the
system prompt as its hash, so the row states exactly the sent prompt and repeats no picture. The caller
parses the reply.
"""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from pydantic import JsonValue

from generators.engine.protocol import (
    EngineCard,
    Message,
    Picture,
    Reply,
    Role,
    Sampling,
)
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.try_account import Account
from schemas.base import JsonObject, content_hash
from schemas.episodes.call import Call, Prompt


class RecordedEngine:
    """Asks one engine for one episode, and records every call."""

    def __init__(self, model: ModelConfig, account: Account, *, session: str) -> None:
        self._model = model
        self._account = account
        self._session = session
        self._rows: dict[int, tuple[Message, JsonValue]] = {}
        """The messages of the last prompt, by identity, as rows record them."""

    async def ask(
        self, messages: Sequence[Message], *, step: int, role: str, segment: int = 0
    ) -> Reply:
        """Return the reply to `messages`, and record the call.

        Of the time that it took, what the server worked on the reply counts; turns, queues, pauses, lost tries and silence do not.

        Raises:
            RolloutFailure: the engine gives no reply.
            NoEngine: no engine is left to ask.
        """
        model, sent_at, sampling = self._model, self._account.stopwatch.now, self._sampling()
        prompt, seen = model.prompt_of(messages), model.seen.begin()
        with model.meter.time.measure_reply() as share, self._account.stopwatch.pause():
            reply = await model.engine.reply(prompt, sampling, session=self._session)
        pictures = [p for m in messages for p in m.parts if isinstance(p, Picture)]
        cacheable = model.seen.cacheable_tokens(prompt, reply, sent=seen)
        model.engine.hear(reply, session=self._session, cacheable_tokens=cacheable)
        call = Call(
            step=step,
            call=len(self._account.calls),
            role=role,
            engine=engine_label(model.engine.card, reply.endpoint),
            model=model_name(reply.model),
            **self._weights_of(reply),
            prompt_sha256=model.prompt.prompt_sha256,
            image_steps=tuple(picture.step for picture in pictures),
            sent_width=pictures[-1].width if pictures else None,
            sent_height=pictures[-1].height if pictures else None,
            coordinates=model.dialect.convention.value if model.points else None,
            segment=segment,
            reply=reply.text,
            reasoning=reply.reasoning,
            structured_mode=reply.structured_mode,
            finish_reason=reply.finish_reason,
            sampling=sampling_row(sampling, left_out=reply.left_out),
            prompt_tokens=reply.prompt_tokens,
            cached_tokens=reply.cached_tokens,
            cacheable_tokens=cacheable,
            image_tokens=reply.image_tokens,
            completion_tokens=reply.completion_tokens,
            wasted_tokens=reply.wasted_tokens,
            prompt_token_ids=reply.prompt_token_ids,
            completion_token_ids=reply.completion_token_ids,
            completion_logprobs=reply.completion_logprobs,
            logprobs_mode=reply.logprobs_mode,
            queue_ms=reply.queue_ms,
            ttft_ms=reply.ttft_ms,
            total_ms=reply.total_ms,
            retries=reply.retries,
            cost_usd=model.meter.charge(model.pricing, reply, share),
            at=sent_at,
        )
        self._account.calls.append(
            call.model_copy(update={"messages": self._message_rows(messages)})
        )
        waited_ms = max(reply.queue_ms or 0.0, reply.paused_ms)
        self._account.stopwatch.charge((reply.total_ms - waited_ms) / 1_000)
        return reply

    def _weights_of(self, reply: Reply) -> dict[str, Any]:
        """Return the columns of a call about the weights that wrote its reply."""
        told = self._account.told_version
        return {
            "weights_version": reply.weights[0].version if reply.weights else told,
            "weights_spans": reply.weights if len(reply.weights) > 1 else None,
        }

    def _message_rows(self, messages: Sequence[Message]) -> list[JsonValue]:
        """Return the messages as a row records them.

        Prompts repeat their messages, so the rows of an episode share them: a copy for each call would take
        more memory than the ids of its tokens.
        """
        known, prompt = self._rows, self._model.prompt
        self._rows = {
            id(message): known.get(id(message)) or (message, _message_row(message, prompt))
            for message in messages
        }
        return [self._rows[id(message)][1] for message in messages]

    def _sampling(self) -> Sampling:
        """Return the sampling of the next reply; equal episodes get equal seeds, call by call."""
        sampling = self._model.sampling
        if not sampling.temperature:
            return sampling
        number = len(self._account.calls)
        seed = int(content_hash(["draws", self._session, number])[:8], 16) & 0x7FFF_FFFF
        return sampling.model_copy(update={"seed": seed})


def sampling_row(sampling: Sampling, *, left_out: Sequence[str] = ()) -> JsonObject:
    """Return sampling parameters as rows record them, with those that a server refused under `left_out`."""
    row: JsonObject = sampling.model_dump(mode="json", exclude_none=True)
    if left_out:
        row["left_out"] = list(left_out)
    return row if row["extra"] else {key: value for key, value in row.items() if key != "extra"}


def engine_label(card: EngineCard, endpoint: str) -> str:
    """Return the label of an endpoint in rows: its product and number, because addresses change."""
    known = enumerate(card.endpoints)
    number = next((n for n, name in known if name == endpoint), 0)
    return f"{card.product or 'engine'}-{number}"


def model_name(model: str | None) -> str | None:
    """Return the name of a model in rows; for a model served from a folder, the folder's name."""
    return PurePath(model).name if model is not None and model.startswith(("/", ".")) else model


def _message_row(message: Message, prompt: Prompt) -> JsonValue:
    """Return a message as rows of `calls` record it."""
    if message.role is Role.SYSTEM and message.parts == (prompt.text,):
        return {"role": message.role.value, "prompt_sha256": prompt.prompt_sha256}
    parts: list[JsonValue] = [
        {"type": "image", "step": part.step}
        if isinstance(part, Picture)
        else {"type": "text", "text": part}
        for part in message.parts
    ]
    return {"role": message.role.value, "content": parts}
