"""A reply as bytes, with its usage and times in vLLM's words, and how it leaves.

As with vLLM, how a prompt's tokens divide is reported only by a server that was set to report it,
and so are the times; without that their places are null. A fault keeps a reply from arriving whole.
"""

import asyncio
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

from aiohttp import web

from generators.engine.simulator.chat import Chat
from generators.engine.simulator.faults import ActiveFaults, FaultKind
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.replies import GeneratedReply
from generators.engine.simulator.tokenizer import END, END_TEXT, Prompt, Tokenizer, pieces
from schemas.base import JsonObject


@dataclass
class ReplyUsage:
    """One reply's usage and times."""

    options: SimulatorOptions
    """What is to be said."""
    prompt: Prompt
    cached: int
    """Tokens of the prompt that came from the cache."""
    queued: float
    """Waiting for its turn, s."""
    begun: float = field(default_factory=perf_counter)
    """When its turn came, by the clock."""
    first: float | None = None
    """When the first token was there, by the clock; None: not yet."""

    def usage(self, said: int) -> JsonObject:
        """Return the usage of a reply of so many tokens."""
        read = len(self.prompt.ids)
        return {
            "prompt_tokens": read,
            "completion_tokens": said,
            "total_tokens": read + said,
            "prompt_tokens_details": self._details(),
        }

    def metrics(self, said: int) -> JsonObject | None:
        """Return the times of a reply of so many tokens that ends now; None: not to be said."""
        if not self.options.request_metrics or self.first is None:
            return None
        now = perf_counter()
        decoding = now - self.first
        return {
            "time_to_first_token_ms": (self.first - self.begun) * 1_000,
            "generation_time_ms": decoding * 1_000,
            "queue_time_ms": self.queued * 1_000,
            "mean_itl_ms": decoding / (said - 1) * 1_000 if said > 1 else None,
            "tokens_per_second": said / (now - self.begun),
            "speculative_decoding": None,
        }

    def _details(self) -> JsonObject | None:
        if not self.options.prompt_tokens_details:
            return None
        pictures = self.prompt.image_tokens
        return {
            "cached_tokens": self.cached,
            "created_cache_tokens": None,
            "multimodal_tokens": {"image": pictures} if pictures else None,
        }


STREAM_TOKENS = 8
"""Tokens in an event of a stream."""

NOT_UTF8 = b"\xff\xfe"
"""What stands in the middle of the text under the fault `invalid-utf8`."""

SCATTER = 2_654_435_761
"""Knuth's multiplier: neighbours end far apart."""

DONE = b"data: [DONE]\n\n"
_MARK = "\ue000"


@dataclass(frozen=True)
class TokenizedReply:
    """An answer as tokens, cut where it had to end."""

    number: int
    """Of the request."""
    answer: GeneratedReply
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    finish: str

    def text(self, start: int, stop: int) -> str:
        """Return the text of some of the tokens, without what ends it."""
        ended = stop > start and self.ids[stop - 1] == END
        return "".join(self.pieces[start : stop - ended])


def tokenize_reply(
    answer: GeneratedReply, tokenizer: Tokenizer, *, number: int, most: int | None
) -> TokenizedReply:
    """Return an answer as tokens, at most `most` of them; None: all of it."""
    texts = (*pieces(answer.text), END_TEXT)
    ids = (*tokenizer.ids(answer.text), END)
    finish = "tool_calls" if answer.call else "stop"
    if not answer.whole or (most is not None and len(ids) > most):
        last = len(ids) - 1 if most is None else min(most, len(ids) - 1)
        texts, ids, finish = texts[:last], ids[:last], "length"
    return TokenizedReply(number, answer, texts, ids, finish)


class ResponseBody:
    """Writes the reply to one chat."""

    def __init__(
        self, chat: Chat, said: TokenizedReply, strikes: ActiveFaults, account: ReplyUsage
    ) -> None:
        self._chat = chat
        self._prompt = account.prompt
        self._said = said
        self._account = account
        self._strikes = strikes
        self._created = int(time.time())

    def plain(self) -> bytes:
        """Return the body of a reply that is not streamed."""
        said = self._said
        choice: JsonObject = {
            "index": 0,
            "message": {"role": "assistant", **self._content(said.text(0, len(said.ids)))},
            "logprobs": self._logprobs(0, len(said.ids)),
            "finish_reason": said.finish,
            "stop_reason": None,
            "token_ids": list(said.ids) if self._chat.token_ids else None,
        }
        body = self._envelope("chat.completion", [choice])
        body["prompt_token_ids"] = [*self._prompt.ids] if self._chat.token_ids else None
        return self._bytes(body | self._usage_fields())

    def events(self) -> Iterator[bytes]:
        """Yield the events of a streamed reply."""
        said = self._said
        first = self._event({"role": "assistant", "content": ""})
        first["prompt_token_ids"] = [*self._prompt.ids] if self._chat.token_ids else None
        yield self._event_bytes(first)
        step = len(said.ids) if said.answer.call and said.finish != "length" else STREAM_TOKENS
        for start in range(0, len(said.ids), step):
            stop = min(start + step, len(said.ids))
            delta = self._content(said.text(start, stop))
            last = stop == len(said.ids)
            yield self._event_bytes(self._event(delta, start=start, stop=stop, last=last))
        if not said.ids:
            yield self._event_bytes(self._event({}, last=True))
        if self._chat.stream_usage and FaultKind.NO_USAGE not in self._strikes:
            yield self._event_bytes(
                self._envelope("chat.completion.chunk", []) | self._usage_fields()
            )
        yield DONE

    def _event(
        self, delta: JsonObject, *, start: int = 0, stop: int = 0, last: bool = False
    ) -> JsonObject:
        choice: JsonObject = {
            "index": 0,
            "delta": delta,
            "logprobs": self._logprobs(start, stop),
            "finish_reason": self._said.finish if last else None,
            "token_ids": list(self._said.ids[start:stop]) if self._chat.token_ids else None,
        }
        return self._envelope("chat.completion.chunk", [choice])

    def _envelope(self, kind: str, choices: list[JsonObject]) -> JsonObject:
        return {
            "id": f"chatcmpl-{self._said.number}",
            "object": kind,
            "created": self._created,
            "model": self._chat.model,
            "choices": [*choices],
        }

    def _content(self, text: str) -> JsonObject:
        call = self._said.answer.call
        if call is None or self._said.finish == "length":
            return {"content": self._with_bad_bytes(text)}
        function: JsonObject = {"name": call[0], "arguments": self._with_bad_bytes(call[1])}
        tool: JsonObject = {"id": f"call-{self._said.number}", "type": "function", "index": 0}
        return {"content": None, "tool_calls": [{**tool, "function": function}]}

    def _with_bad_bytes(self, text: str) -> str:
        if FaultKind.INVALID_UTF8 not in self._strikes:
            return text
        half = len(text) // 2
        return text[:half] + _MARK + text[half:]

    def _usage_fields(self) -> JsonObject:
        """Return what is said of the reply beside it."""
        said = len(self._said.ids)
        told: JsonObject = {"metrics": self._account.metrics(said)}
        if FaultKind.NO_USAGE not in self._strikes:
            told["usage"] = self._account.usage(said)
        return told

    def _logprobs(self, start: int, stop: int) -> JsonObject | None:
        if not self._chat.logprobs:
            return None
        return {"content": [self._logprob(place) for place in range(start, stop)]}

    def _logprob(self, place: int) -> JsonObject:
        piece = self._said.pieces[place]
        part = (self._said.ids[place] * 4_099 + place) * SCATTER % 2**32 / 2**32
        value = math.nan if FaultKind.NAN_LOGPROBS in self._strikes else math.log1p(-part) / 2
        return {
            "token": piece,
            "logprob": value,
            "bytes": list(piece.encode("utf-8", "replace")),
            "top_logprobs": [],
        }

    def _event_bytes(self, event: JsonObject) -> bytes:
        return b"data: " + self._bytes(event) + b"\n\n"

    def _bytes(self, body: JsonObject) -> bytes:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        return data.replace(_MARK.encode(), NOT_UTF8)


JSON = "application/json"
EVENTS = "text/event-stream"
BROKEN = b'data: {"error":{"message":"EngineCore encountered an issue","code":500}}\n\n'


async def wait_forever() -> None:
    """Wait until the client or the server goes away."""
    await asyncio.Event().wait()


async def send_plain(
    request: web.Request, body: bytes, strikes: ActiveFaults
) -> tuple[web.StreamResponse, bool]:
    """Send a body; return the response and whether all of it left."""
    if strikes.get(FaultKind.SILENT, FaultKind.ENDLESS):
        await _send_endlessly(request, JSON, b" ", strikes)
    if FaultKind.CUT not in strikes:
        return web.Response(body=body, content_type=JSON), True
    response = web.StreamResponse(headers={"Content-Type": JSON})
    response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _close_connection(request)
    return response, False


async def send_events(
    request: web.Request, events: Iterator[bytes], strikes: ActiveFaults, *, pause: float
) -> tuple[web.StreamResponse, bool]:
    """Send the events of a stream, `pause` seconds apart; say whether all of them left."""
    if strikes.get(FaultKind.SILENT, FaultKind.ENDLESS):
        await _send_endlessly(request, EVENTS, b": still here\n\n", strikes)
    parts = list(events)
    broken = strikes.get(FaultKind.CUT, FaultKind.STREAM_ERROR)
    response = web.StreamResponse(headers={"Content-Type": EVENTS})
    await response.prepare(request)
    for part in parts[: len(parts) // 2] if broken else parts:
        await response.write(part)
        if pause:
            await asyncio.sleep(pause)
    if FaultKind.STREAM_ERROR in strikes:
        await response.write(BROKEN)
    if FaultKind.CUT in strikes:
        _close_connection(request)
    return response, broken is None


async def _send_endlessly(
    request: web.Request, kind: str, trickle: bytes, strikes: ActiveFaults
) -> None:
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(request)
    endless = strikes.get(FaultKind.ENDLESS)
    while endless is not None:
        await response.write(trickle)
        await asyncio.sleep(endless.seconds)
    await wait_forever()


def _close_connection(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()
