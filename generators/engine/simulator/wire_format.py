"""Replies as bytes: a chat completion, or the events of a stream, in vLLM's form of OpenAI's API."""

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from generators.engine.simulator.chat import Chat
from generators.engine.simulator.faults import FaultKind, Strikes
from generators.engine.simulator.replies import Answer
from generators.engine.simulator.tokenizer import END, END_TEXT, Tokenizer, pieces
from generators.engine.simulator.usage import Account
from schemas.base import JsonObject

STREAM_TOKENS = 8
"""Tokens in an event of a stream."""

NOT_UTF8 = b"\xff\xfe"
"""What stands in the middle of the text under the fault `invalid-utf8`."""

SCATTER = 2_654_435_761
"""Knuth's multiplier: neighbours end far apart."""

DONE = b"data: [DONE]\n\n"
_MARK = "\ue000"


@dataclass(frozen=True)
class Said:
    """An answer as tokens, cut where it had to end."""

    number: int
    """Of the request."""
    answer: Answer
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    finish: str

    def text(self, start: int, stop: int) -> str:
        """Return the text of some of the tokens, without what ends it."""
        ended = stop > start and self.ids[stop - 1] == END
        return "".join(self.pieces[start : stop - ended])


def say(answer: Answer, tokenizer: Tokenizer, *, number: int, most: int | None) -> Said:
    """Return an answer as tokens, at most `most` of them; None: all of it."""
    texts = (*pieces(answer.text), END_TEXT)
    ids = (*tokenizer.ids(answer.text), END)
    finish = "tool_calls" if answer.call else "stop"
    if not answer.whole or (most is not None and len(ids) > most):
        last = len(ids) - 1 if most is None else min(most, len(ids) - 1)
        texts, ids, finish = texts[:last], ids[:last], "length"
    return Said(number, answer, texts, ids, finish)


class Writer:
    """Writes the reply to one chat."""

    def __init__(self, chat: Chat, said: Said, strikes: Strikes, account: Account) -> None:
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
        return self._bytes(body | self._told())

    def events(self) -> Iterator[bytes]:
        """Yield the events of a streamed reply."""
        said = self._said
        first = self._event({"role": "assistant", "content": ""})
        first["prompt_token_ids"] = [*self._prompt.ids] if self._chat.token_ids else None
        yield self._framed(first)
        step = len(said.ids) if said.answer.call and said.finish != "length" else STREAM_TOKENS
        for start in range(0, len(said.ids), step):
            stop = min(start + step, len(said.ids))
            delta = self._content(said.text(start, stop))
            last = stop == len(said.ids)
            yield self._framed(self._event(delta, start=start, stop=stop, last=last))
        if not said.ids:
            yield self._framed(self._event({}, last=True))
        if self._chat.stream_usage and FaultKind.NO_USAGE not in self._strikes:
            yield self._framed(self._envelope("chat.completion.chunk", []) | self._told())
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
            return {"content": self._marked(text)}
        function: JsonObject = {"name": call[0], "arguments": self._marked(call[1])}
        tool: JsonObject = {"id": f"call-{self._said.number}", "type": "function", "index": 0}
        return {"content": None, "tool_calls": [{**tool, "function": function}]}

    def _marked(self, text: str) -> str:
        if FaultKind.INVALID_UTF8 not in self._strikes:
            return text
        half = len(text) // 2
        return text[:half] + _MARK + text[half:]

    def _told(self) -> JsonObject:
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

    def _framed(self, event: JsonObject) -> bytes:
        return b"data: " + self._bytes(event) + b"\n\n"

    def _bytes(self, body: JsonObject) -> bytes:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        return data.replace(_MARK.encode(), NOT_UTF8)
