"""A reply as bytes, with its usage and times in vLLM's words, and how it is sent.

Like vLLM, the simulator reports how a prompt's tokens divide, and a reply's times, only where it was
started with the flags for that; otherwise both are null. A fault keeps a reply from arriving whole.
"""

import asyncio
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter

from aiohttp import web

from generators.engine.simulator.chat import ChatRequest
from generators.engine.simulator.faults import ActiveFaults, FaultKind
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.replies import GeneratedReply
from generators.engine.simulator.tokenizer import END, END_TEXT, TokenizedPrompt, Tokenizer, pieces
from schemas.base import JsonObject


@dataclass
class ReplyUsage:
    """One reply's usage and times."""

    options: SimulatorOptions
    """Whether the details and the times are reported."""
    prompt: TokenizedPrompt
    cached: int
    """Tokens of the prompt that came from the cache."""
    queued: float
    """Waiting for its turn, s."""
    begun: float = field(default_factory=perf_counter)
    """When its turn came, by the clock."""
    first: float | None = None
    """When the first token was there, by the clock; None: not yet."""

    def usage(self, tokens: int) -> JsonObject:
        """Return the usage of a reply of `tokens` tokens."""
        prompt_tokens, pictures = len(self.prompt.ids), self.prompt.image_tokens
        details: JsonObject = {
            "cached_tokens": self.cached,
            "created_cache_tokens": None,
            "multimodal_tokens": {"image": pictures} if pictures else None,
        }
        return {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": tokens,
            "total_tokens": prompt_tokens + tokens,
            "prompt_tokens_details": details if self.options.prompt_tokens_details else None,
        }

    def metrics(self, tokens: int) -> JsonObject | None:
        """Return the times of a reply of `tokens` tokens that ends now; None: not reported."""
        if not self.options.request_metrics or self.first is None:
            return None
        now = perf_counter()
        decoding = now - self.first
        return {
            "time_to_first_token_ms": (self.first - self.begun) * 1_000,
            "generation_time_ms": decoding * 1_000,
            "queue_time_ms": self.queued * 1_000,
            "mean_itl_ms": decoding / (tokens - 1) * 1_000 if tokens > 1 else None,
            "tokens_per_second": tokens / (now - self.begun),
            "speculative_decoding": None,
        }


ABORTED = "abort"
"""The finish reason of a reply that a pause ended."""

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
    """A reply as tokens, cut where it had to end."""

    number: int
    """The request's number."""
    content: GeneratedReply
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    finish: str

    def abort(self) -> "TokenizedReply":
        """Return the reply as it is when it is ended half-way."""
        half = len(self.ids) // 2
        return replace(self, pieces=self.pieces[:half], ids=self.ids[:half], finish=ABORTED)

    def text(self, start: int, stop: int) -> str:
        """Return the text of some of the tokens, without what ends it."""
        ended = stop > start and self.ids[stop - 1] == END
        return "".join(self.pieces[start : stop - ended])


def tokenize_reply(
    content: GeneratedReply, tokenizer: Tokenizer, *, number: int, max_tokens: int | None
) -> TokenizedReply:
    """Return a reply as tokens, at most `max_tokens` of them; None: all of it."""
    texts = (*pieces(content.text), END_TEXT)
    ids = (*tokenizer.ids(content.text), END)
    finish = "tool_calls" if content.call else "stop"
    if content.cut or (max_tokens is not None and len(ids) > max_tokens):
        last = len(ids) - 1 if max_tokens is None else min(max_tokens, len(ids) - 1)
        texts, ids, finish = texts[:last], ids[:last], content.cut or "length"
    return TokenizedReply(number, content, texts, ids, finish)


class ResponseBody:
    """Writes the reply to one chat."""

    def __init__(
        self, chat: ChatRequest, reply: TokenizedReply, faults: ActiveFaults, usage: ReplyUsage
    ) -> None:
        self._chat = chat
        self._prompt = usage.prompt
        self._reply = reply
        self._usage = usage
        self._faults = faults
        self._created = int(time.time())

    def plain(self) -> bytes:
        """Return the body of a reply that is not streamed."""
        reply = self._reply
        choice: JsonObject = {
            "index": 0,
            "message": {"role": "assistant", **self._content(reply.text(0, len(reply.ids)))},
            "logprobs": self._logprobs(0, len(reply.ids)),
            "finish_reason": reply.finish,
            "stop_reason": None,
            "token_ids": list(reply.ids) if self._chat.token_ids else None,
        }
        body = self._envelope("chat.completion", [choice])
        body["prompt_token_ids"] = [*self._prompt.ids] if self._chat.token_ids else None
        return self._bytes(body | self._usage_fields())

    def events(self) -> Iterator[bytes]:
        """Yield the events of a streamed reply."""
        reply = self._reply
        first = self._event({"role": "assistant", "content": ""})
        first["prompt_token_ids"] = [*self._prompt.ids] if self._chat.token_ids else None
        yield self._event_bytes(first)
        step = len(reply.ids) if reply.content.call and reply.finish != "length" else STREAM_TOKENS
        for start in range(0, len(reply.ids), step):
            stop = min(start + step, len(reply.ids))
            delta = self._content(reply.text(start, stop))
            last = stop == len(reply.ids)
            yield self._event_bytes(self._event(delta, start=start, stop=stop, last=last))
        if not reply.ids:
            yield self._event_bytes(self._event({}, last=True))
        if self._chat.stream_usage and FaultKind.NO_USAGE not in self._faults:
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
            "finish_reason": self._reply.finish if last else None,
            "token_ids": list(self._reply.ids[start:stop]) if self._chat.token_ids else None,
        }
        return self._envelope("chat.completion.chunk", [choice])

    def _envelope(self, kind: str, choices: list[JsonObject]) -> JsonObject:
        return {
            "id": f"chatcmpl-{self._reply.number}",
            "object": kind,
            "created": self._created,
            "model": self._chat.model,
            "choices": [*choices],
        }

    def _content(self, text: str) -> JsonObject:
        if FaultKind.MISPLACED in self._faults:
            return {"content": None, "reasoning_content": text}
        call = self._reply.content.call
        if call is None or self._reply.finish == "length":
            return {"content": self._with_bad_bytes(text)}
        function: JsonObject = {"name": call[0], "arguments": self._with_bad_bytes(call[1])}
        tool: JsonObject = {"id": f"call-{self._reply.number}", "type": "function", "index": 0}
        return {"content": None, "tool_calls": [{**tool, "function": function}]}

    def _with_bad_bytes(self, text: str) -> str:
        if FaultKind.INVALID_UTF8 not in self._faults:
            return text
        half = len(text) // 2
        return text[:half] + _MARK + text[half:]

    def _usage_fields(self) -> JsonObject:
        """Return the fields about a reply's usage and times."""
        tokens = len(self._reply.ids)
        fields: JsonObject = {"metrics": self._usage.metrics(tokens)}
        if FaultKind.NO_USAGE not in self._faults:
            fields["usage"] = self._usage.usage(tokens)
        return fields

    def _logprobs(self, start: int, stop: int) -> JsonObject | None:
        if not self._chat.logprobs:
            return None
        return {"content": [self._logprob(place) for place in range(start, stop)]}

    def _logprob(self, place: int) -> JsonObject:
        piece = self._reply.pieces[place]
        part = (self._reply.ids[place] * 4_099 + place) * SCATTER % 2**32 / 2**32
        value = math.nan if FaultKind.NAN_LOGPROBS in self._faults else math.log1p(-part) / 2
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
    request: web.Request, body: bytes, faults: ActiveFaults
) -> tuple[web.StreamResponse, bool]:
    """Send a body; return the response and whether all of it left."""
    if faults.get(FaultKind.SILENT, FaultKind.ENDLESS):
        await _send_endlessly(request, JSON, b" ", faults)
    if FaultKind.CUT not in faults:
        return web.Response(body=body, content_type=JSON), True
    response = web.StreamResponse(headers={"Content-Type": JSON})
    response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _close_connection(request)
    return response, False


async def send_events(
    request: web.Request, events: Iterator[bytes], faults: ActiveFaults, *, pause: float
) -> tuple[web.StreamResponse, bool]:
    """Send the events of a stream, `pause` seconds apart; say whether all of them left."""
    if faults.get(FaultKind.SILENT, FaultKind.ENDLESS):
        await _send_endlessly(request, EVENTS, b": still here\n\n", faults)
    parts = list(events)
    broken = faults.get(FaultKind.CUT, FaultKind.STREAM_ERROR)
    response = web.StreamResponse(headers={"Content-Type": EVENTS})
    await response.prepare(request)
    for part in parts[: len(parts) // 2] if broken else parts:
        await response.write(part)
        if pause:
            await asyncio.sleep(pause)
    if FaultKind.STREAM_ERROR in faults:
        await response.write(BROKEN)
    if FaultKind.CUT in faults:
        _close_connection(request)
    return response, broken is None


async def _send_endlessly(
    request: web.Request, kind: str, trickle: bytes, faults: ActiveFaults
) -> None:
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(request)
    endless = faults.get(FaultKind.ENDLESS)
    while endless is not None:
        await response.write(trickle)
        await asyncio.sleep(endless.seconds)
    await wait_forever()


def _close_connection(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()
